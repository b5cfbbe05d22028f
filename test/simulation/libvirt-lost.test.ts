import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { virsh } from '../../sim/libvirt/virsh.ts'
import { resourceUid } from '../../src/model/declaration.ts'
import type { Action } from '../../src/model/plan.ts'
import { TWO } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'

async function settled(seed: number): Promise<LibvirtRun> {
  const run = simulateLibvirt(seed, TWO, 'kvm')
  run.deadlineMs = 600_000
  assert.equal(await run.settle(), 'settled')
  return run
}

/** Nothing is written, and the plan refuses with a line that helps. */
async function refused(run: LibvirtRun): Promise<Extract<Action, { do: 'refuse' }>> {
  const writes = run.writes.length
  await run.settle()
  assert.deepEqual(run.writes.slice(writes), [])
  const action = (await run.plan()).entries.find(({ key }) => key === 'Machine/web-1')?.action
  assert.ok(action?.do === 'refuse', JSON.stringify(action))
  return action
}

function on(run: LibvirtRun, line: string, input?: string): void {
  const said = virsh(run.host, line.split(' '), input)
  assert.ok('out' in said, `${line}: ${JSON.stringify(said)}`)
}

const web1 = ({ host }: LibvirtRun) => [...host.domains.values()].find(({ name }) => name === 'web-1')
const VOLUME = (slot: string) => `croft-${resourceUid('default', 'Machine/web-1')}-${slot}.qcow2`

/** A person switches it off first. */
async function off(run: LibvirtRun): Promise<void> {
  const uuid = web1(run)?.uuid ?? ''
  on(run, `destroy ${uuid}`)
}

describe('a domain that is lost while its disks are there', () => {
  test('is not made anew beside them; the command of the line brings it back with them', async () => {
    const run = await settled(1)
    const before = volumes(run.host, 'default').get(VOLUME('virtio1'))
    await off(run)
    on(run, `undefine ${web1(run)?.uuid}`)
    const { guard, allow } = await refused(run)
    assert.equal(guard, 'vanished')
    const [, xml = ''] = /run on kvm: echo '(.*)' \| virsh -c qemu:\/\/\/system define \/dev\/stdin,/.exec(allow) ?? []
    assert.ok(xml !== '', allow)
    on(run, 'define /dev/stdin', xml)
    assert.equal(await run.settle(), 'settled')
    assert.equal(volumes(run.host, 'default').get(VOLUME('virtio1')), before, 'the very same disk')
    assert.deepEqual(
      (await run.plan()).entries.filter(({ action }) => action.do !== 'nothing'),
      [],
    )
    assert.ok(!run.writes.some((line) => line.startsWith('vol-delete') && line.includes(VOLUME('virtio1'))))
  })
})

describe('a disk that is lost while its domain is there', () => {
  for (const [slot, command] of [
    ['virtio1', /to begin without what was on it: (virsh -c qemu:\/\/\/system vol-create-as .*)$/],
    ['virtio0', /to begin without what was on it: (virsh -c qemu:\/\/\/system vol-clone .*)$/],
  ] as const)
    test(`${slot} is not made anew; it comes back by a refresh, or by the command of the line`, async () => {
      const run = await settled(2)
      await off(run)
      const all = volumes(run.host, 'default')
      const lost = all.get(VOLUME(slot))
      assert.ok(lost !== undefined)
      all.delete(VOLUME(slot))
      const { allow } = await refused(run)
      assert.match(allow, /run on the host: virsh -c qemu:\/\/\/system pool-refresh default;/)
      all.set(VOLUME(slot), lost)
      on(run, 'pool-refresh default')
      assert.equal(await run.settle(), 'settled')
      assert.equal(all.get(VOLUME(slot)), lost)
      await off(run)
      all.delete(VOLUME(slot))
      const [, line = ''] = command.exec((await refused(run)).allow) ?? []
      on(run, line.replace('virsh -c qemu:///system ', ''))
      assert.equal(await run.settle(), 'settled')
      asDeclaredAgain(run)
    })
})

function asDeclaredAgain(run: LibvirtRun): void {
  assert.equal(web1(run)?.guest.run.status, 'running')
  assert.equal(volumes(run.host, 'default').get(VOLUME('virtio1'))?.sizeBytes, 5 * 1024 ** 3)
  assert.equal(volumes(run.host, 'default').get(VOLUME('virtio0'))?.sizeBytes, 10 * 1024 ** 3)
}

test('disks under the name of a creation that broke off are not its own: libvirt makes the domain before them', async () => {
  const run = await settled(3)
  await off(run)
  on(run, `undefine ${web1(run)?.uuid}`)
  // The store was lost since, the call that would have defined it again had no answer, and a backup touched the disks.
  const record = run.disk.records.get('Machine/web-1') ?? assert.fail('no record')
  const { seenMs: _, birth: __, externalId = '', ...before } = record
  const attempt = { connection: record.connection, externalId, sinceMs: run.clock.now() }
  run.disk.records.set('Machine/web-1', { ...before, externalId, attempt })
  const all = volumes(run.host, 'default')
  for (const [name, volume] of all)
    if (name.startsWith('croft-')) all.set(name, { ...volume, ctimeSeconds: Math.ceil(run.clock.now() / 1000) + 1 })
  const kept = all.get(VOLUME('virtio1'))
  const { guard, allow } = await refused(run)
  assert.equal(guard, 'vanished')
  assert.equal(all.get(VOLUME('virtio1')), kept)
  const [, xml = ''] = /echo '(.*)' \| virsh -c qemu:\/\/\/system define/.exec(allow) ?? []
  on(run, 'define /dev/stdin', xml)
  assert.equal(await run.settle(), 'settled')
  assert.equal(all.get(VOLUME('virtio1')), kept)
})

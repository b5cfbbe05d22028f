import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { volumes } from '../../sim/libvirt/domains.ts'
import { virsh } from '../../sim/libvirt/virsh.ts'
import type { Action } from '../../src/model/plan.ts'
import { APPROVED, machine, TWO, valid, WEB } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'

const GONE = valid({ 'web.yaml': `${WEB}${APPROVED}` })

async function settled(seed: number, estate = TWO): Promise<LibvirtRun> {
  const run = simulateLibvirt(seed, estate, 'kvm')
  run.deadlineMs = 600_000
  assert.equal(await run.settle(), 'settled')
  return run
}

/** Nothing is written; answers what the plan says of this key. */
async function quietly(run: LibvirtRun, key = 'Machine/web-1'): Promise<Action | undefined> {
  const writes = run.writes.length
  await run.settle()
  assert.deepEqual(run.writes.slice(writes), [])
  return (await run.plan()).entries.find((entry) => entry.key === key)?.action
}

const ours = ({ host }: LibvirtRun) => [...volumes(host, 'default').keys()].filter((name) => name.startsWith('croft-'))

/** What a person types on the host, as the line says it. */
function typed(run: LibvirtRun, allow: string): void {
  const [, line = ''] = /virsh -c qemu:\/\/\/system ((?:pool-start|pool-refresh) [^\s;]+)/.exec(allow) ?? []
  assert.ok(line !== '', allow)
  const said = virsh(run.host, line.split(' '), undefined)
  assert.ok('out' in said, JSON.stringify(said))
}

describe('what virsh could not tell is not gone', () => {
  for (const [verb, text] of [
    ['list', 'internal error: client socket is closed'],
    ['dumpxml', 'Timed out during operation: cannot acquire state change lock'],
    ['pool-list', 'An error occurred, but the cause is unknown'],
    ['pool-dumpxml', 'An error occurred, but the cause is unknown'],
  ] as const)
    test(`${verb} fails: nothing is made, changed or forgotten, and it goes on when it answers`, async () => {
      const run = await settled(1)
      run.host.failing.set(verb, text)
      const action = await quietly(run)
      assert.ok(action?.do === 'wait' && action.reason === 'ConnectionNotSeen', JSON.stringify(action))
      run.estate = GONE
      await quietly(run)
      assert.equal(run.host.domains.size, 2)
      run.host.failing.clear()
      assert.equal(await run.settle(), 'settled')
      assert.deepEqual(ours(run), [])
    })
})

describe('a pool that is not active', () => {
  test('hides no disk: its machine is not as declared, and not made whole either', async () => {
    const run = await settled(2)
    virsh(run.host, ['pool-destroy', 'default'], undefined)
    const action = await quietly(run)
    assert.ok(
      action?.do === 'refuse' && /cannot be looked at: it is not active/.test(action.reason),
      JSON.stringify(action),
    )
    const image = await quietly(run, 'Image/debian@kvm')
    assert.ok(
      image?.do === 'wait' && /virsh -c qemu:\/\/\/system pool-start default;/.test(image.message),
      JSON.stringify(image),
    )
    typed(run, action.allow)
    assert.equal(await quietly(run).then((after) => after?.do), 'nothing')
  })

  test('keeps its machine from going without its disks', async () => {
    const run = await settled(3)
    virsh(run.host, ['pool-destroy', 'default'], undefined)
    run.estate = GONE
    const action = await quietly(run)
    assert.ok(action?.do === 'refuse' && action.guard === 'protection', JSON.stringify(action))
    typed(run, action.allow)
    assert.equal(await run.settle(), 'settled')
    assert.deepEqual([run.host.domains.size, ours(run)], [0, []])
  })

  test('may hold disks that stand on an image or on a disk that leaves: those stay, and their machine is not shut down', async () => {
    const image = WEB.replace('storage: vms}', 'storage: vms, deletionPolicy: Delete}')
    const run = await settled(4, valid({ 'web.yaml': `${image}${machine('web-1', '192.168.122.20')}` }))
    const xml =
      "<pool type='dir'><name>attic</name><uuid>00000000-0000-4000-8000-0000000000aa</uuid><target><path>/srv/attic</path></target></pool>"
    virsh(run.host, ['pool-define', '/dev/stdin'], xml)
    const bare = WEB.slice(0, WEB.indexOf('apiVersion: croft.dev/v1alpha1\nkind: Image'))
    run.estate = valid({ 'web.yaml': `${bare}${APPROVED}` })
    const action = await quietly(run)
    assert.ok(
      action?.do === 'refuse' && /pool attic, which cannot be listed/.test(action.reason),
      JSON.stringify(action),
    )
    virsh(run.host, ['pool-undefine', 'attic'], undefined)
    virsh(run.host, ['pool-define', '/dev/stdin'], xml)
    virsh(run.host, ['pool-start', 'attic', '--build'], undefined)
    run.host.failing.set('vol-list', 'Timed out during operation: cannot acquire state change lock')
    await quietly(run)
    run.host.failing.clear()
    assert.equal(await run.settle(), 'settled')
    assert.deepEqual([...volumes(run.host, 'default').keys()], [])
  })
})

test('a machine with a snapshot is not replaced: libvirt would take its disks and then refuse the rest', async () => {
  const one = machine('web-1', '192.168.122.20')
    .replace(', {size: 5Gi, storage: vms}', '')
    .replace('metadata: {name: web-1}', 'metadata: {name: web-1, annotations: {croft.dev/replace: allowed}}')
  const run = await settled(5, valid({ 'web.yaml': `${WEB}${one}` }))
  const [domain] = run.host.domains.values()
  domain?.snapshots.push('before')
  run.estate = valid({ 'web.yaml': `${WEB}${one.replace('size: 10Gi', 'size: 8Gi')}` })
  const action = await quietly(run)
  assert.ok(action?.do === 'refuse' && action.guard === 'protection', JSON.stringify(action))
  assert.match(action.allow, /virsh -c qemu:\/\/\/system snapshot-delete/)
})

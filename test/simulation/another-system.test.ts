import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LibvirtHost, volumes } from '../../sim/libvirt/domains.ts'
import { machine, TWO, valid, WEB } from './libvirt-machines.ts'
import { type LibvirtRun, simulateLibvirt } from './libvirt-run.ts'

const APPROVED = (what: string) => `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: checked}
spec: {reason: Checked by hand, ${what}, expires: "2099-01-01T00:00:00Z"}
---
`
const WITHOUT = `${WEB}${machine('web-1', '192.168.122.20')}`
/** The second one leaves, and a person has agreed that its data goes. */
const GIVEN_UP = APPROVED('maxDeletes: 10, deletes: [Machine/web-2]')
const LEAVES = valid({ 'web.yaml': `${WITHOUT}${GIVEN_UP}` })
const BOTH = `${WITHOUT}${machine('web-2', '192.168.122.21', '  libvirt: {disks: copy, seed: cdrom, bios: ovmf}\n')}`
const CHANGED = valid({ 'web.yaml': BOTH.replace('cores: 2', 'cores: 3') })
const OTHER: LibvirtHost['identity'] = {
  uuid: 'aaaaaaaa-1111-4222-8333-444444444444',
  machineId: 'f'.repeat(32),
}

async function settled(seed: number): Promise<LibvirtRun> {
  const run = simulateLibvirt(seed, TWO, 'kvm')
  run.deadlineMs = 600_000
  assert.equal(await run.settle(), 'settled')
  return run
}

/** As a host is on which croft never was. */
function emptied({ host }: LibvirtRun): void {
  host.domains.clear()
  const all = volumes(host, 'default')
  for (const name of all.keys()) if (name.startsWith('croft-')) all.delete(name)
}

async function holds(run: LibvirtRun) {
  const { entries } = await run.plan()
  return entries.flatMap(({ action }) => (action.do === 'hold' && action.guard === 'another-system' ? [action] : []))
}

/** Nothing is written, and the plan holds what it would do for this reason. */
async function isHeld(run: LibvirtRun, reason: RegExp): Promise<string> {
  const writes = run.writes.length
  await run.settle()
  assert.deepEqual(run.writes.slice(writes), [])
  const [hold] = await holds(run)
  assert.ok(hold !== undefined)
  assert.match(hold.reason, reason)
  return hold.allow
}

describe('a connection that leads to another system than the one on record', () => {
  test('proves no absence: nothing is made there, until a person says in Git that what was there is gone', async () => {
    const run = await settled(1)
    run.host.identity = OTHER
    emptied(run)
    const allow = await isHeld(run, /leads to another system: .*web-2 and 2 more is on host uuid .*aaaaaaaa-1111/)
    assert.match(allow, /an Approval that lists kvm under absence/)
    run.estate = valid({ 'web.yaml': `${BOTH}${APPROVED('absence: [kvm]')}` })
    await run.settle()
    assert.deepEqual(await holds(run), [])
    assert.equal(run.host.domains.size, 2)
    for (const [key, { system }] of run.disk.records) assert.equal(system?.['machine-id'], OTHER.machineId, key)
  })

  test('permits no destruction, also of what carries our mark, and nothing is forgotten meanwhile', async () => {
    const run = await settled(2)
    const was = run.host.identity
    run.host.identity = OTHER
    run.estate = LEAVES
    await isHeld(run, /leads to another system/)
    assert.equal(run.host.domains.size, 2)
    assert.ok(run.disk.records.has('Machine/web-2'))
    run.host.identity = was
    assert.equal(await run.settle(), 'settled')
    assert.equal(run.host.domains.size, 1)
  })
})

describe('a system that cannot be told', () => {
  test('lets changes through and holds what destroys, and the line says what to do', async () => {
    const run = await settled(3)
    const was = run.host.identity
    run.host.identity = { ...was, machineId: '' }
    run.estate = CHANGED
    assert.equal(await run.settle(), 'settled')
    assert.ok([...run.host.domains.values()].some(({ definition }) => definition.includes('<vcpu>3</vcpu>')))
    run.estate = valid({ 'web.yaml': `${WITHOUT.replace('cores: 2', 'cores: 3')}${GIVEN_UP}` })
    const allow = await isHeld(run, /cannot be told \(.*machine-id/)
    assert.match(allow, /systemd-machine-id-setup/)
    run.host.identity = was
    await run.settle()
    assert.equal(run.host.domains.size, 1)
  })

  test('also where libvirt does not say the UUID: the host is looked at all the same', async () => {
    const run = await settled(6)
    run.host.failing.set('capabilities', 'internal error: cannot read the capabilities')
    run.estate = LEAVES
    await isHeld(run, /cannot be told/)
    run.host.failing.clear()
    await run.settle()
    assert.equal(run.host.domains.size, 1)
  })

  test('a host that was installed again looks alike in a part: nothing is made or destroyed, both are printed', async () => {
    const run = await settled(4)
    run.host.identity = { ...run.host.identity, machineId: OTHER.machineId }
    emptied(run)
    await isHeld(run, /may lead to another system: .*machine-id [0-9a-f]{32}, and this is .*machine-id f{32}/)
  })
})

test('a database from before systems were kept is taken over without a word, and learns its system', async () => {
  const run = await settled(5)
  for (const [key, { system, ...before }] of run.disk.records) {
    assert.ok(system !== undefined || before.type === 'cluster', key)
    run.disk.records.set(key, before)
  }
  const writes = run.writes.length
  assert.equal(await run.settle(), 'settled')
  assert.deepEqual(run.writes.slice(writes), [])
  assert.deepEqual((await run.plan()).notes, [])
  assert.equal(run.disk.records.get('Machine/web-1')?.system?.['machine-id'], run.host.identity.machineId)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory.ts'
import { all, begin, EVERY_ITEM, HOSTS, nothing, type Run, stateOf } from './every-item.ts'
import { committedAfter } from './git-history.ts'
import { hostsEstate } from './hosts-run.ts'
import { points, replay, seeds } from './volume.ts'

const FILE = 'host-memory.test.ts'

async function settle(run: Run, hint = replay(FILE, 1)): Promise<readonly string[]> {
  const from = run.deedsOf('duck').length
  assert.equal(await run.untilSettled(run.start()), 'settled', hint)
  return run.deedsOf('duck').slice(from)
}

test('[F-25] a lost store: hosts are found as they are, and what leaves Git afterwards is taken back all the same', async () => {
  for (const seed of seeds(1, 20)) {
    const hint = replay(FILE, seed)
    const run = begin(seed)
    const before = stateOf(run)
    await settle(run, hint)
    run.disk = createMemoryStore().disk
    assert.deepEqual(await settle(run, hint), [], `nothing is done again; ${hint}`)
    run.disk = createMemoryStore().disk
    const [declared, kept] = [run.estate, stateOf(run)]
    // [D-02] Without a repository that remembers the removal nothing proves that it was declared here.
    run.estate = nothing
    assert.deepEqual(await settle(run, hint), [], `absence is no proof; ${hint}`)
    assert.deepEqual(stateOf(run), kept, hint)
    run.estate = committedAfter(declared, nothing)
    await settle(run, hint)
    assert.deepEqual(stateOf(run), before, `what is marked as ours is taken back; ${hint}`)
    assert.deepEqual(run.box('duck').machine.files.list('/var/lib/croft/items'), [], `and no mark is left; ${hint}`)
  }
})

test('[F-25] a store lost while items are taken back leaves nothing half', async () => {
  const calm = begin(1)
  const before = stateOf(calm)
  await settle(calm)
  calm.estate = nothing
  const whole = calm.start()
  await calm.untilSettled(whole)
  for (const point of points(whole.points(), 6)) {
    const hint = replay(FILE, 1, point)
    const run = begin(1)
    await settle(run, hint)
    run.estate = committedAfter(run.estate, nothing)
    await run.untilSettled(run.start({ crashAt: point }))
    run.disk = createMemoryStore().disk
    await settle(run, hint)
    assert.deepEqual(stateOf(run), before, hint)
  }
})

test('[F-25] with a lost store, items of another estate or of a configuration that is not ours are left alone', async () => {
  const others = {
    estate: hostsEstate([HOSTS.replaceAll('spec:\n', 'spec:\n  estate: other\n'), EVERY_ITEM]),
    configuration: hostsEstate([HOSTS, EVERY_ITEM.replace('name: small', 'name: of-another-repository')]),
  }
  for (const [what, estate] of Object.entries(others)) {
    const run = begin(1)
    run.estate = estate
    await settle(run)
    const before = stateOf(run)
    run.disk = createMemoryStore().disk
    run.estate = nothing
    assert.deepEqual(await settle(run), [], what)
    assert.deepEqual(stateOf(run), before, what)
  }
})

test('items that move to a configuration of another name stay as they are, and are taken back as ever', async () => {
  const run = begin(1)
  const before = stateOf(run)
  await settle(run)
  run.estate = hostsEstate([HOSTS, EVERY_ITEM.replace('name: small', 'name: renamed')])
  const deeds = await settle(run)
  assert.deepEqual(
    deeds.filter((deed) => !/\/var\/lib\/croft|\/etc\/hosts/.test(deed)),
    [],
    'only the marks are written, and the names for hosts, whose block is called as their configuration',
  )
  assert.ok([...run.disk.records.keys()].every((key) => key.startsWith('HostConfig/renamed@')))
  run.estate = hostsEstate([
    HOSTS,
    'apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: renamed}\nspec: {hosts: [duck], directories: [{path: /etc}]}\n',
  ])
  await settle(run)
  const hosts = (state: object) => JSON.stringify(state).replaceAll('renamed', 'small')
  assert.equal(hosts(stateOf(run)), hosts(before))
})

const CHANGED = EVERY_ITEM.replace('line: "A=ours"', 'line: "A=other"')
  .replace('args: [amd_iommu=on, iommu=pt], remove: [quiet]', 'args: [iommu=pt, mitigations=auto]')
  .replace('manager: ifupdown', 'manager: netplan')
  .replace('modules: [rbd]', 'modules: [{name: rbd, options: "single_major=Y"}]')
  .replace('content: "B=ours\\n"', 'content: "B=other\\nC=3\\n"')
  .replace('groups: [video]', 'groups: [video, render]')
  .replace('servers: [192.168.14.1]}\n  nodeExporter', 'servers: [192.168.14.9]}\n  nodeExporter')

test('what is declared otherwise later is still taken back to how it was before the first time', async () => {
  const run = begin(1)
  const before = stateOf(run)
  await settle(run)
  run.estate = hostsEstate([HOSTS, CHANGED])
  await settle(run)
  const text = (path: string) => run.textOf('duck', path)
  assert.match(text('/etc/environment'), /^A=other$/m)
  assert.equal(text('/etc/network/interfaces.d/croft-eth0'), '', 'one interface has one master')
  assert.match(text('/proc/cmdline'), / ro iommu=pt /, 'a word that is declared no more goes')
  assert.match(text('/proc/cmdline'), / quiet\b/, 'and one that was to go is back')
  run.estate = nothing
  await settle(run)
  assert.deepEqual(stateOf(run), before)
})

test('what is put right after somebody changed it is still taken back to how it was before us', async () => {
  const run = begin(1)
  const before = stateOf(run)
  await settle(run)
  run.box('duck').machine.files.write('/etc/issue', 'by hand\n')
  run.box('duck').machine.files.write('/etc/environment', 'PATH=/bin\nA=by hand\n')
  await settle(run)
  run.estate = nothing
  await settle(run)
  assert.deepEqual(stateOf(run), before)
  run.estate = all
  await settle(run)
  run.estate = nothing
  await settle(run)
  assert.deepEqual(stateOf(run), before, 'and a second time')
})

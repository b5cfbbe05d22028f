import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datacentre } from '../../sim/datacentre.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const HOST = 'pumped-piglet'
const MACHINES = 60
/** Three workers for each daemon, each busy for this long with a call, and a storage that makes one disk at a time. */
const TIMING = { callMs: [20, 60], taskStartMs: 100, allocateMs: [100, 300], freeMs: [50, 150] } as const

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 899}, limits: {creations: 32}}
`

/** Everything may go in one revision: this is about the cost of it. */
const approval = `apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all}
spec: {reason: retired, maxDeletes: 100, expires: '2099-01-01T00:00:00Z'}
`

function nameOf(at: number): string {
  return `vm-${String(at).padStart(3, '0')}`
}

function stopped(name: string, memory = 512): string {
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  deletionPolicy: Delete
  forProvider:
    nodeName: ${HOST}
    started: false
    cpu: [{cores: 1}]
    memory: [{dedicated: ${memory}}]
    disk: [{interface: scsi0, datastoreId: local, size: 1}]
    networkDevice: [{bridge: vmbr0}]
`
}

function estateOf(count: number, memory?: number, reached = connection) {
  const machines = Array.from({ length: count }, (_, at) => [`${nameOf(at)}.yaml`, stopped(nameOf(at), memory)])
  return estateFrom({ 'connection.yaml': reached, 'approval.yaml': approval, ...Object.fromEntries(machines) })
}

function ours({ world }: Datacentre) {
  return [...world.guests.values()].filter(({ vmid }) => vmid >= 300 && vmid < 900)
}

/** Calls since the last time, by path. */
function calls(run: Simulation): Readonly<Record<string, number>> {
  const { byPath } = run.datacentre.stats()
  run.datacentre.resetStats()
  return byPath
}

function polls(byPath: Readonly<Record<string, number>>): number {
  return (byPath['GET /cluster/resources'] ?? 0) + (byPath['GET /cluster/tasks'] ?? 0)
}

function total(byPath: Readonly<Record<string, number>>): number {
  return Object.values(byPath).reduce((sum, count) => sum + count, 0)
}

/** How many tasks of a sort ran at once, at the most. */
function watchTasks(run: Simulation, type: string): () => number {
  let most = 0
  const { handle } = run.datacentre
  const watched = run.datacentre as { handle: typeof handle }
  watched.handle = (request) => {
    const running = [...(run.datacentre.world.hosts.get(HOST)?.runningTasks ?? [])]
    most = Math.max(most, running.filter((task) => task.type === type).length)
    return handle(request)
  }
  return () => most
}

test('[T-01] many machines are made side by side, with two calls for each and a few looks for all', async () => {
  const run = simulate({ seed: 1, estate: estateOf(MACHINES), timing: TIMING })
  const most = watchTasks(run, 'qmcreate')
  const begunMs = run.clock.now()
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const tookMs = run.clock.now() - begunMs
  assert.equal(ours(run.datacentre).length, MACHINES)
  const byPath = calls(run)
  assert.equal(byPath['GET /cluster/nextid'], undefined, 'no id is asked for singly')
  assert.equal(byPath['GET /nodes/{node}/tasks/{upid}/status'], undefined, 'no task is polled singly')
  assert.ok(total(byPath) - polls(byPath) <= 2 * MACHINES + 20, JSON.stringify(byPath))
  assert.ok(polls(byPath) <= MACHINES, JSON.stringify(byPath))
  assert.ok(most() >= 6, `only ${most()} at once`)
  // The storage makes them one after another: 0.2 s each. Nothing else should take long.
  assert.ok(tookMs < MACHINES * 200 * 2, `${tookMs} ms`)

  run.estate = estateOf(MACHINES, 1024)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const changing = calls(run)
  assert.ok(total(changing) - polls(changing) <= 3 * MACHINES + 5, JSON.stringify(changing))

  run.estate = estateOf(0)
  const deleting = watchTasks(run, 'qmdestroy')
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(ours(run.datacentre).length, 0)
  const removed = calls(run)
  assert.ok(total(removed) - polls(removed) <= 2 * MACHINES + 5, JSON.stringify(removed))
  // Ended work widens the queue of the host, although it left the declaration: a few looks for all of them.
  assert.ok(polls(removed) <= 0.4 * MACHINES, JSON.stringify(removed))
  assert.ok(deleting() >= 6, `only ${deleting()} at once`)
})

test('[T-01] nothing declared: three creations at once on a host, other changes wider, and at most 350 calls for a hundred machines', async () => {
  const count = 100
  const careful = (memory?: number, of = count) =>
    estateOf(of, memory, connection.replace(', limits: {creations: 32}', ''))
  const run = simulate({ seed: 9, estate: careful(), timing: TIMING })
  const creating = watchTasks(run, 'qmcreate')
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(ours(run.datacentre).length, count)
  assert.equal(creating(), 3)
  const made = calls(run)
  assert.ok(total(made) <= 350, JSON.stringify(made))
  run.estate = careful(1024)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const changed = calls(run)
  assert.ok(total(changed) <= 350, JSON.stringify(changed))
  run.estate = careful(undefined, 0)
  const deleting = watchTasks(run, 'qmdestroy')
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(ours(run.datacentre).length, 0)
  assert.ok(deleting() > 3, `only ${deleting()} removals at once`)
  const removed = calls(run)
  assert.ok(total(removed) <= 350, JSON.stringify(removed))
})

test('[T-01] new machines are read while the next ones begin, not before', async () => {
  // A storage that is faster than the daemon: what the calls take decides.
  const timing = { ...TIMING, callMs: [50, 50], allocateMs: [10, 40] } as const
  const run = simulate({ seed: 6, estate: estateOf(MACHINES), timing })
  let reading = 0
  let together = 0
  const { handle } = run.datacentre
  const watched = run.datacentre as { handle: typeof handle }
  watched.handle = async (request) => {
    const isRead = /\/qemu\/\d+\/(pending|config)$/.test(request.path.split('?')[0] ?? '')
    if (isRead) reading++
    else if (request.method === 'POST' && request.path.endsWith('/qemu') && reading > 0) together++
    try {
      return await handle(request)
    } finally {
      if (isRead) reading--
    }
  }
  const begunMs = run.clock.now()
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const tookMs = run.clock.now() - begunMs
  assert.equal(ours(run.datacentre).length, MACHINES)
  const byPath = calls(run)
  assert.ok(total(byPath) - polls(byPath) <= 2 * MACHINES + 5, JSON.stringify(byPath))
  // Three workers, 50 ms for each call: a second for all creations and a second for all reads. One after another they
  // and what lies between them take 3.5 s.
  assert.ok(tookMs < 2_900, `${tookMs} ms`)
  assert.ok(together > 0, 'no creation was sent while a machine was read')
})

test('[T-01] a storage whose lock cannot be had in time is asked for less at once, and everything is made', async () => {
  const timing = { ...TIMING, allocateMs: [2_500, 3_500] } as const
  const run = simulate({ seed: 2, estate: estateOf(20), timing })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(ours(run.datacentre).length, 20)
  const tasks = run.datacentre.world.hosts.get(HOST)?.tasks.filter(({ type }) => type === 'qmcreate') ?? []
  const failed = tasks.filter(({ exit }) => /got timeout/.test(exit ?? '')).length
  assert.ok(failed <= 5, `${failed} of ${tasks.length} creations waited in vain`)
})

test('[T-01] removals whose disks cannot be had in time become fewer at once, and it is told that a disk is left', async () => {
  const count = 60
  const run = simulate({ seed: 7, estate: estateOf(count), timing: { ...TIMING, freeMs: [2_500, 3_500] } })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const host = run.datacentre.world.hosts.get(HOST)
  const disks = () => [...(host?.volumes.get('local')?.values() ?? [])].filter(({ vmid }) => (vmid ?? 0) >= 300)
  assert.equal(disks().length, count)

  run.estate = estateOf(0)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(ours(run.datacentre).length, 0)
  const left = disks().length
  const told = run.disk.events.filter(({ reason }) => reason === 'RemovedWithWarnings').length
  // Twelve begin together, and each waits for its lock at most twice.
  assert.ok(left > 0 && left <= 9, `${left} disks are left`)
  // One that was removed at the second try is warned of as well.
  assert.ok(told >= left && told <= 12, `${told} warnings`)
})

test('[T-01] copies of a template are made side by side', async () => {
  const golden = `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: golden}
spec:
  forProvider:
    nodeName: ${HOST}
    vmId: 899
    template: true
    disk: [{interface: scsi0, datastoreId: local, size: 1}]
`
  const copies = Array.from({ length: 12 }, (_, at) => [
    `copy-${at}.yaml`,
    `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: copy-${at}}
spec:
  forProvider:
    nodeName: ${HOST}
    started: false
    clone: [{vmId: 899, full: true}]
    cpu: [{cores: 1}]
    memory: [{dedicated: 512}]
    disk: [{interface: scsi0, datastoreId: local, size: 1}]
`,
  ])
  const estate = estateFrom({ 'c.yaml': connection, 'golden.yaml': golden, ...Object.fromEntries(copies) })
  for (const lost of [0, 2]) {
    const run = simulate({ seed: 3, estate, timing: { ...TIMING, cloneBytesPerSecond: 200_000_000 } })
    const most = watchTasks(run, 'qmclone')
    // An answer that is lost must not be taken for one of the others.
    if (lost > 0) run.datacentre.faults.add({ match: '^POST .*/clone', count: lost, kind: 'drop-after' })
    assert.equal(await run.untilSettled(run.start()), 'settled')
    assert.equal(ours(run.datacentre).length, 13)
    assert.equal(run.datacentre.writes.filter(({ path }) => path.endsWith('/clone')).length, 12)
    assert.ok(most() >= (lost > 0 ? 2 : 4), `only ${most()} at once`)
  }
})

test('[T-01] machines that come up are not asked for it in every pass', async () => {
  const count = 20
  const machines = Array.from({ length: count }, (_, at) => [
    `${nameOf(at)}.yaml`,
    stopped(nameOf(at)).replace('started: false', 'started: true\n    agent: [{enabled: true}]'),
  ])
  const estate = estateFrom({ 'c.yaml': connection, ...Object.fromEntries(machines) })
  const run = simulate({ seed: 4, estate, timing: { ...TIMING, bootMs: [30_000, 60_000] } })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const byPath = calls(run)
  const asked = byPath['GET /nodes/{node}/qemu/{vmid}/agent/network-get-interfaces'] ?? 0
  assert.ok(asked <= 20 * count, JSON.stringify(byPath))
  assert.ok(total(byPath) - polls(byPath) - 2 * asked <= 7 * count, JSON.stringify(byPath))
})

test('[T-01] what failed and waits for another try is not asked about in every pass', async () => {
  // The storage has room for a part of them: the others fail, and a person runs it again.
  const count = 240
  const run = simulate({ seed: 5, estate: estateOf(count), timing: { ...TIMING, allocateMs: [20, 40] } })
  await run.untilSettled(run.start({ retryStalled: true }))
  const made = ours(run.datacentre).length
  assert.ok(made > 0 && made < count, `${made} were made`)
  calls(run)
  let passes = 0
  await run.untilSettled(run.start({ retryStalled: true }), { onPass: () => passes++ })
  const byPath = calls(run)
  const left = count - made
  // Once before its turn, once when it begins, and again each minute.
  const asked = (byPath['GET /cluster/nextid'] ?? 0) + (byPath['GET /nodes/{node}/storage/{storage}/content'] ?? 0)
  assert.ok(
    asked <= 6 * left,
    `${asked} questions about ${left} machines in ${passes} passes: ${JSON.stringify(byPath)}`,
  )
})

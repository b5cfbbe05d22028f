import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datacentre } from '../../sim/datacentre.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const MACHINES = 30
const { signal } = new AbortController()

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: 'https://127.0.0.1:8006', token: {env: PROXMOX_TOKEN}, vmids: {from: 300, to: 899}}
`

const machine = (name: string, host: string, more: string) => `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${host}
    onBoot: false
    ${more}
    memory: [{dedicated: 512}]
    disk: [{interface: scsi0, datastoreId: local, size: 1}]
`

function estateOf(more = 'started: false') {
  const hosts = ['pumped-piglet', 'still-fawn']
  const files = Array.from({ length: MACHINES }, (_, at) => [
    `vm-${at}.yaml`,
    machine(`vm-${at}`, hosts[at % 2] ?? '', more),
  ])
  return estateFrom({ 'connection.yaml': connection, ...Object.fromEntries(files) })
}

/** Configurations that were read since the last time. */
function reads(run: Simulation): number {
  const { byPath } = run.datacentre.stats()
  run.datacentre.resetStats()
  return Object.entries(byPath).reduce(
    (sum, [path, count]) => sum + (/^GET .*\/(?:config|pending)$/.test(path) ? count : 0),
    0,
  )
}

function ours({ world }: Datacentre) {
  return [...world.guests.values()].filter(({ vmid }) => vmid >= 300 && vmid < 900)
}

/** Proxmox stores something else than it was told, for these of its guests. */
function storesOtherwise(run: Simulation, which: (vmid: number) => boolean) {
  const { handle } = run.datacentre
  const changed = run.datacentre as { handle: typeof handle }
  changed.handle = (request) => {
    const body = String(request.body ?? '')
    const vmid = Number(/(?:^|&)vmid=(\d+)/.exec(body)?.[1])
    if (request.method !== 'POST' || !request.path.endsWith('/qemu') || !which(vmid)) return handle(request)
    return handle({ ...request, body: body.replace('onboot=0', 'onboot=1') })
  }
}

async function made(run: Simulation) {
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  return process
}

const plan = (run: Simulation) => run.clock.runUntil(run.start().engine.plan(run.estate, signal), { maxMs: 600_000 })
const toDo = ({ entries }: Awaited<ReturnType<typeof plan>>) => entries.filter(({ action }) => action.do !== 'nothing')

test('of machines that are made alike one on each host is read; the next sweep reads the rest', async () => {
  const run = simulate({ seed: 3, estate: estateOf() })
  const process = await made(run)
  assert.equal(ours(run.datacentre).length, MACHINES)
  assert.ok(reads(run) <= 4)
  for (const { status, conditions } of run.disk.records.values()) {
    assert.equal(status, 'Stopped')
    assert.equal(conditions.find(({ type }) => type === 'Ready')?.status, 'True')
  }
  const report = await run.clock.runUntil(process.engine.pass(run.estate, signal, { sweep: 1 }), { maxMs: 600_000 })
  assert.ok(reads(run) >= MACHINES - 2, 'a sweep reads what was only made')
  assert.deepEqual(toDo(report.plan), [])
  assert.deepEqual(toDo(await plan(run)), [], 'a process that knows nothing sees the same')
})

test('where Proxmox stores other words than it was sent, the one that is read tells of all', async () => {
  const run = simulate({ seed: 3, estate: estateOf() })
  storesOtherwise(run, () => true)
  await made(run)
  assert.ok(reads(run) >= MACHINES)
  for (const { config } of ours(run.datacentre)) assert.equal(config.get('onboot') ?? '0', '0')
})

test('what became of one alone is in the next plan', async () => {
  const run = simulate({ seed: 3, estate: estateOf() })
  storesOtherwise(run, (vmid) => vmid === 300 + MACHINES - 1)
  const process = await made(run)
  assert.equal(toDo(await plan(run)).length, 1)
  const report = await run.clock.runUntil(process.engine.pass(run.estate, signal, { sweep: 1 }), { maxMs: 600_000 })
  assert.equal(toDo(report.plan).length, 1, 'and in the next sweep of the process that made it')
})

test('machines that are started are read before that', async () => {
  const run = simulate({ seed: 3, estate: estateOf('started: true') })
  await made(run)
  assert.ok(reads(run) >= MACHINES)
})

test('a machine that somebody starts, or that is declared otherwise meanwhile, is read', async () => {
  const run = simulate({ seed: 3, estate: estateOf() })
  const process = await made(run)
  reads(run)
  const [first] = ours(run.datacentre).slice(-1)
  run.datacentre.patchGuest(first?.vmid ?? 0, { status: 'running' })
  await run.clock.advanceTo(run.clock.now() + 15_000)
  const { plan: seen } = await run.clock.runUntil(process.engine.pass(run.estate, signal), { maxMs: 600_000 })
  assert.equal(toDo(seen).length, 1)
  assert.ok(reads(run) >= 1)
  run.estate = estateOf('started: false\n    protection: true')
  await made(run)
  for (const { config } of ours(run.datacentre)) assert.equal(config.get('protection'), '1')
})

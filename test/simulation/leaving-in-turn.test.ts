import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approvedConnection, machine } from '../../bench/machines.ts'
import { scenarioOf } from '../../bench/scenarios.ts'
import type { Estate } from '../../src/model/estate.ts'
import { estateFrom } from './manifests.ts'
import { type Simulation, simulate } from './run.ts'

const MANY = 40
const SCENARIO = { ...scenarioOf('zfs'), hosts: ['pumped-piglet'] }

function estateOf(count: number, approved: number): Estate {
  const connection = approvedConnection({ endpoint: 'https://127.0.0.1:8006' }, approved)
  const machines = Array.from({ length: count }, (_, at) => [`vm-${at}.yaml`, machine(at, 512, SCENARIO)])
  return estateFrom({ 'connection.yaml': connection, ...Object.fromEntries(machines) })
}

async function withMany(approved: number): Promise<Simulation> {
  const run = simulate({ seed: 1, estate: estateOf(MANY, MANY), timing: SCENARIO.timing })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.estate = estateOf(0, approved)
  return run
}

const ours = (run: Simulation) =>
  [...run.datacentre.world.guests.values()].filter(({ config }) => config.get('name')?.startsWith('bench-'))

const deleted = (run: Simulation) =>
  run.requests.flatMap((line) => /DELETE \S*\/qemu\/(\d+)\?/.exec(line)?.[1] ?? []).sort()

test('[T-01] each machine is read before it is destroyed: one that was protected, or is another’s by now, stays', async () => {
  const run = await withMany(MANY)
  const [first, , guarded, , other] = ours(run).toReversed()
  assert.ok(first !== undefined && guarded !== undefined && other !== undefined)
  guarded.config.set('protection', '1')
  // Its description was given to something that this directory has never had; the survey shows nothing of it.
  other.config.set('description', (other.config.get('description') ?? '').replaceAll('bench-', 'strange-'))
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.deepEqual(new Set(ours(run).map(({ vmid }) => vmid)), new Set([guarded.vmid, other.vmid]))
  assert.equal(deleted(run).length, MANY - 2, 'nobody asked for what stays')
})

test('[T-01] the first are destroyed before the last are read, and a limit counts all of them', async () => {
  const approved = await withMany(MANY)
  const [process, counted] = [approved.start(), approved.datacentre]
  counted.resetStats()
  await approved.passes(process, 1)
  assert.ok(deleted(approved).length > 0)
  const read = Object.entries(counted.stats().byPath).filter(([path]) => /GET .*\/(config|pending)$/.test(path))
  const reads = read.reduce((sum, [, count]) => sum + count, 0)
  assert.ok(reads > 0 && reads < MANY, `${reads} reads`)

  const held = await withMany(MANY - 1)
  const [report] = await held.passes(held.start(), 1)
  assert.deepEqual(deleted(held), [])
  const reasons = new Set(report?.plan.entries.map(({ action }) => (action.do === 'hold' ? action.reason : action.do)))
  assert.deepEqual([...reasons], [`this revision would delete ${MANY} of ${MANY} machines, the limit is 4`])
})

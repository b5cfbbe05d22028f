import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../src/lib/limits.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Plan } from '../../src/model/plan.ts'
import { estateOf, SIX } from './manifests.ts'
import type { Process } from './process.ts'
import { type Simulation, simulate } from './run.ts'

// A pass that sees what the last one saw plans nothing. These tests hold that nobody can tell: it looks as closely, and
// whatever somebody changes, the pass after it does what a process without any memory would do.

const ALL = { sweep: 1_000 }
const signal = new AbortController().signal

interface Settled {
  readonly run: Simulation
  readonly process: Process
  /** Paths of the calls since it was asked last. */
  calls(): readonly string[]
}

async function settled(seed: number): Promise<Settled> {
  const run = simulate({ seed, estate: estateOf(SIX) })
  let calls: string[] = []
  const { handle } = run.datacentre
  const heard = run.datacentre as { handle: typeof handle }
  heard.handle = (request) => {
    calls.push(`${request.method} ${request.path}`)
    return handle(request)
  }
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  await run.passes(process, 4)
  return {
    run,
    process,
    calls() {
      const made = calls
      calls = []
      return made
    },
  }
}

async function pass({ run, process }: Settled, options: { readonly sweep?: number } = {}) {
  await run.clock.advanceTo(run.clock.now() + LIMITS.sweepIntervalMs)
  return run.clock.runUntil(process.engine.pass(run.estate, signal, options), { maxMs: 600_000 })
}

test('a pass that sees what the last one saw plans nothing, makes the same calls, and shows what is measured now', async () => {
  const one = await settled(3)
  const { run, calls } = one
  calls()
  const quiet = await pass(one, ALL)
  const made = calls()
  assert.equal(quiet.unchanged, true)
  // Another object with the same contents: the memory does not hold for it.
  run.estate = { ...run.estate }
  const whole = await pass(one, ALL)
  assert.equal(whole.unchanged, undefined)
  assert.deepEqual([...made].sort(), [...calls()].sort())
  assert.equal(made.filter((path) => /\/(?:config|pending)$/.test(path)).length, SIX.length)
  assert.deepEqual(quiet.plan, whole.plan)
  assert.deepEqual(quiet.records, whole.records)
  assert.ok((quiet.surveys?.[0]?.atMs ?? 0) < (whole.surveys?.[0]?.atMs ?? 0))
  assert.equal((await pass(one)).unchanged, true)
  await run.clock.advanceTo(run.clock.now() + LIMITS.quietMs)
  assert.equal((await pass(one)).unchanged, undefined, 'in the end time alone makes it plan')
})

/** What somebody may do to the datacentre behind croft's back. */
const DEEDS: readonly ((one: Settled, vmid: number) => void)[] = [
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { memory: '3000' }),
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { onboot: '0' }),
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { name: 'by-hand' }),
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { description: 'by hand' }),
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { tags: null }),
  ({ run }, vmid) => run.datacentre.patchGuest(vmid, { lock: 'backup' }),
  ({ run }, vmid) => void run.datacentre.world.guests.delete(vmid),
  ({ run }) => run.datacentre.addGuest(777, 'still-fawn', { name: 'stranger', memory: '512' }),
  ({ run }) => {
    const [key] = [...run.disk.records.keys()]
    if (key !== undefined) run.disk.records.delete(key)
  },
  ({ run }) => {
    run.estate = estateOf(SIX.slice(0, 5))
  },
  () => {},
]

/** What a plan says to do, without what hangs on the moment. */
function deedsOf({ entries }: Plan): readonly unknown[] {
  return entries.map(({ key, action, externalId, host }) => [
    key,
    externalId,
    host,
    action.do,
    'changes' in action ? action.changes : undefined,
    'reason' in action ? action.reason : undefined,
  ])
}

test('[F-12] whatever somebody changes, the next pass plans what a process without memory plans', async () => {
  let changed = 0
  for (const [index, deed] of DEEDS.entries()) {
    const one = await settled(index + 20)
    const { run } = one
    const random = seededRandom(index)
    assert.equal((await pass(one, ALL)).unchanged, true, `${index} was not quiet before`)
    const vmids = [...run.disk.records.values()].flatMap(({ type, externalId }) =>
      type === 'vm' ? [Number(externalId)] : [],
    )
    deed(one, vmids[Math.floor(random.next() * vmids.length)] ?? 0)
    const stranger = run.start()
    const control = await run.clock.runUntil(stranger.engine.plan(run.estate, signal), { maxMs: 600_000 })
    const report = await run.clock.runUntil(one.process.engine.pass(run.estate, signal, ALL), { maxMs: 600_000 })
    assert.deepEqual(deedsOf(report.plan), deedsOf(control), `deed ${index}`)
    if (report.unchanged !== true) changed++
  }
  assert.equal(changed, DEEDS.length - 1, 'every deed but none at all was noticed')
})

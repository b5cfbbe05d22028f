import assert from 'node:assert/strict'
import { LIMITS } from '../../src/lib/limits.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import type { Plan } from '../../src/model/plan.ts'
import { estateOf, SIX } from './manifests.ts'
import type { Process, Sabotage } from './process.ts'
import { type Simulation, simulate } from './run.ts'

/** Everything is read again: a change of configuration shows in no survey. */
export const ALL = { sweep: 1_000 }
const signal = new AbortController().signal

/** An estate at rest, and the process that keeps it. */
export interface Settled {
  readonly run: Simulation
  readonly process: Process
  /** Paths of the calls since it was asked last. */
  calls(): readonly string[]
}

export async function settled(
  seed: number,
  sabotage: Sabotage = {},
  estate: Estate = estateOf(SIX),
  passes = 4,
): Promise<Settled> {
  const run = simulate({ seed, estate, sabotage })
  let calls: string[] = []
  const { handle } = run.datacentre
  const heard = run.datacentre as { handle: typeof handle }
  heard.handle = (request) => {
    calls.push(`${request.method} ${request.path}`)
    return handle(request)
  }
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  await run.passes(process, passes)
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

export async function pass({ run, process }: Settled, options: { readonly sweep?: number } = {}) {
  await run.clock.advanceTo(run.clock.now() + LIMITS.sweepIntervalMs)
  return run.clock.runUntil(process.engine.pass(run.estate, signal, options), { maxMs: 600_000 })
}

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

/** A change without croft, which no call of croft reports. */
export interface Deed {
  readonly name: string
  readonly done: (one: Settled, vmid: number) => void | Promise<void>
}

/** Proves that a process with memory acts as one without: the next pass sees what the deed changes. */
export async function noticed({ name, done }: Deed, seed: number, sabotage: Sabotage = {}): Promise<void> {
  const one = await settled(seed, sabotage)
  const { run } = one
  assert.equal((await pass(one, ALL)).unchanged, true, `${name}: it was not quiet before`)
  const vmids = [...run.disk.records.values()].flatMap(({ type, externalId }) =>
    type === 'vm' ? [Number(externalId)] : [],
  )
  await done(one, vmids[Math.floor(seededRandom(seed).next() * vmids.length)] ?? 0)
  const stranger = run.start()
  const control = await run.clock.runUntil(stranger.engine.plan(run.estate, signal), { maxMs: 600_000 })
  const report = await run.clock.runUntil(one.process.engine.pass(run.estate, signal, ALL), { maxMs: 600_000 })
  assert.deepEqual(deedsOf(report.plan), deedsOf(control), name)
  assert.equal(report.unchanged, undefined, `${name} was not noticed`)
}

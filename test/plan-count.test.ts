import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Estate } from '../src/model/estate.ts'
import { callCounts } from './call-counts.ts'
import { formed, HASTE } from './simulation/cluster-lab.ts'
import { clusterEstate, clusterManifest } from './simulation/cluster-run.ts'
import { estateOf, SIX } from './simulation/manifests.ts'
import { type Simulation, simulate } from './simulation/run.ts'

const PLAN = 'src/plan/plan.ts planWhole'
const REMOVALS = 'src/plan/things/removals.ts removals'
const DECIDE = 'src/plan/things/decide.ts decide'

/** As `croft apply` does it: a plan, then passes until nothing is left to do. */
async function apply(run: Simulation, estate: Estate) {
  run.estate = estate
  const { engine } = run.start({ retryStalled: true })
  const { signal } = new AbortController()
  return callCounts(async () => {
    const plan = await run.clock.runUntil(engine.plan(estate, signal))
    const settled = await run.clock.runUntil(engine.settle(estate, { signal, deadlineMs: 3_600_000, shown: plan }), {
      maxMs: 7_200_000,
    })
    return { plan, settled }
  }, [PLAN, REMOVALS, DECIDE])
}

test('an apply that changes one field computes the plan twice: once for what it shows and does, once for what came of it', async () => {
  const off = SIX.map((one) => ({ ...one, started: false }))
  const run = simulate({ seed: 1, estate: estateOf(off) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const [first, ...others] = off
  assert.ok(first !== undefined)
  const { result, counts } = await apply(run, estateOf([{ ...first, memory: 4096 }, ...others]))
  assert.equal(result.plan.entries.filter(({ action }) => action.do === 'update').length, 1)
  assert.equal(result.settled.outcome, 'settled')
  assert.equal(result.settled.effects, 1)
  assert.deepEqual(
    { passes: result.settled.passes, plans: counts[PLAN], removals: counts[REMOVALS] },
    { passes: 2, plans: 2, removals: 6 },
  )
  // Whole plans would decide for every entry in every one of the four rounds of looking, in both looks.
  assert.ok((counts[DECIDE] ?? 0) < 5 * result.plan.entries.length, `decided ${counts[DECIDE]} times`)
})

test('while an agent joins, each look computes the plan once, and what leaves twice for each connection', async () => {
  const run = await formed(1, '')
  const estate = clusterEstate(clusterManifest({ spec: HASTE, agents: ['a1'] }))
  const { result, counts } = await apply(run, estate)
  const { passes, outcome } = result.settled
  assert.equal(outcome, 'settled')
  assert.equal(counts[PLAN], passes)
  assert.ok((counts[REMOVALS] ?? 0) <= 6 * passes, `${counts[REMOVALS]} in ${passes} passes`)
})

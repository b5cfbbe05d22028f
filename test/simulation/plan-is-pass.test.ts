import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Plan } from '../../src/model/plan.ts'
import { callLine } from '../../src/model/shown-step.ts'
import { estateOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'
import { points, replay } from './volume.ts'

const FILE = 'plan-is-pass.test.ts'
const never = new AbortController().signal

/** What a plan would do, call by call. */
function deeds({ entries }: Plan): readonly string[] {
  return entries.map(({ key, action }) => {
    const calls = 'steps' in action ? action.steps.map((step) => `${step.verb} ${callLine(step)}`) : []
    return [key, action.do, 'reason' in action ? action.reason : '', ...calls].join(' | ')
  })
}

test('what a plan shows after a crash at any point is what the next pass does', async () => {
  const estate = estateOf(SIX)
  const calm = simulate({ seed: 1, estate })
  const whole = calm.start()
  assert.equal(await calm.untilSettled(whole), 'settled', replay(FILE, 1))
  let begun = 0
  for (const point of points(whole.points(), 30)) {
    const hint = replay(FILE, 1, point)
    // The same seed and the same crash leave two worlds that are alike to the millisecond.
    const [one, other] = [simulate({ seed: 1, estate }), simulate({ seed: 1, estate })]
    for (const run of [one, other]) assert.equal(await run.untilSettled(run.start({ crashAt: point })), 'killed', hint)
    const plan = await one.clock.runUntil(one.start({ retryStalled: true }).engine.plan(estate, never))
    const report = await other.clock.runUntil(other.start({ retryStalled: true }).engine.pass(estate, never))
    assert.deepEqual(deeds(plan), deeds(report.plan), hint)
    begun += report.effects
  }
  assert.ok(begun > 10, 'passes that do nothing would prove nothing')
})

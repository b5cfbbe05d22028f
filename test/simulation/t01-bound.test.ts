import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lowerBoundMs } from '../../bench/bound.ts'
import { SCENARIOS, scenarioOf } from '../../bench/scenarios.ts'
import { scheduled } from '../../bench/schedule.ts'

test('the bound is the storage that is busiest, or the three workers if they are busy for longer', () => {
  const timing = { callMs: [30, 80] } as const
  const cases: readonly (readonly [number, Readonly<Record<string, number>>, number])[] = [
    [0, {}, 0],
    [300, {}, 5_500],
    [300, { 'pve1/local': 5_000 }, 5_500],
    [300, { 'pve1/local': 9_000, 'pve2/local': 8_000 }, 9_000],
  ]
  for (const [calls, storageBusyMs, expected] of cases)
    assert.equal(lowerBoundMs({ calls, storageBusyMs }, timing), expected)
})

/**
 * How far above the bound 100 machines may take: before the first disk there is a survey, after the last one a look.
 * Each machine is read before it is destroyed, the first ones before anything else is done; and the first disk goes 0.4 s
 * after the first call for it. Files are made faster than looks come round, so that the looks count.
 */
const ABOVE: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  zfs: { create: 1.1, 'memory of all': 1.1, destroy: 1.3 },
  directory: { create: 1.6, 'memory of all': 1.1, destroy: 1.25 },
  'three hosts': { create: 1.2, 'memory of all': 1.1, destroy: 1.25 },
}

for (const name of Object.keys(SCENARIOS))
  test(`[T-01] 100 machines (${name}) are made, changed and destroyed about as fast as the daemon allows`, async () => {
    for (const { name: step, tookMs, boundMs } of await scheduled(100, scenarioOf(name), 1)) {
      const most = ABOVE[name]?.[step]
      assert.ok(most !== undefined, `no limit for ${step}`)
      assert.ok(tookMs <= most * boundMs, `${step}: ${tookMs} ms, bound ${Math.round(boundMs)} ms`)
    }
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PowerRequests } from '../../model/power.ts'
import { emptyPowerMemory, unexpired } from './memory.ts'

const HOUR = 3_600_000
const START = 1_760_000_000_000

for (const [name, jump] of [
  ['an hour forward', HOUR],
  ['ten years forward', 10 * 365 * 24 * HOUR],
  ['an hour back', -HOUR],
] as const) {
  test(`[F-22] a wall clock that is set ${name} ends no order and no hold early, and lets none last longer`, () => {
    const memory = emptyPowerMemory()
    let [wall, steady] = [START, 0]
    const clock = { now: () => wall, monotonicMs: () => steady }
    const untilMs = START + 2 * HOUR
    const requests: PowerRequests = {
      wanted: { state: 'off', by: 'ana', why: '', atMs: START, untilMs },
      holds: [{ by: 'ana', why: '', sinceMs: START, untilMs }],
    }
    const left = () => {
      const { wanted, holds } = unexpired('p', requests, memory, clock)
      return [wanted?.state, holds.length]
    }
    assert.deepEqual(left(), ['off', 1])
    wall += jump
    steady += 1_000
    assert.deepEqual(left(), ['off', 1])
    steady = 2 * HOUR - 1
    assert.deepEqual(left(), ['off', 1])
    steady = 2 * HOUR
    assert.deepEqual(left(), [undefined, 0])
  })
}

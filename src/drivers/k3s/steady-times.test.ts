import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KnownTimes, steadyTime } from './steady-times.ts'

const START = 1_760_000_000_000
const [MINUTE, HOUR] = [60_000, 3_600_000]

/** A controller after this time, with this error of its wall clock. */
function at(ranMs: number, offMs = 0) {
  return { now: () => START + ranMs + offMs, monotonicMs: () => 5_000 + ranMs, sleep: async () => {} }
}

function ageOf(known: KnownTimes, atMs: number, ranMs: number, offMs = 0): number {
  const clock = at(ranMs, offMs)
  return clock.now() - steadyTime(known, 'a1 ready', atMs, clock)
}

test('a right clock changes nothing: times are as they were written', () => {
  const known: KnownTimes = new Map()
  assert.equal(steadyTime(known, 'a1 ready', START - HOUR, at(0)), START - HOUR)
  assert.equal(steadyTime(known, 'a1 ready', START - HOUR, at(MINUTE)), START - HOUR)
  assert.equal(steadyTime(known, 'a1 ready', START + 70_000, at(2 * MINUTE)), START + 70_000)
})

for (const off of [HOUR, -HOUR, 87_600 * HOUR])
  test(`[F-22] a wall clock that is set by ${off / HOUR} h makes nothing older or younger`, () => {
    const known: KnownTimes = new Map()
    assert.equal(ageOf(known, START - MINUTE, 0), MINUTE)
    assert.equal(ageOf(known, START - MINUTE, 2 * MINUTE, off), 3 * MINUTE)
    // An event during a wrong clock, with a node's right time, is at most as old as the previous observation.
    const age = ageOf(known, START + 3 * MINUTE, 4 * MINUTE, off)
    assert.ok(age >= 0 && age <= 2 * MINUTE, String(age))
    assert.equal(ageOf(known, START + 3 * MINUTE, 24 * MINUTE, off), age + 20 * MINUTE)
  })

test('[F-22] a wall clock that is slow by half does not slow the count', () => {
  const known: KnownTimes = new Map()
  assert.equal(ageOf(known, START, 0), 0)
  assert.equal(ageOf(known, START, 20 * MINUTE, -10 * MINUTE), 20 * MINUTE)
})

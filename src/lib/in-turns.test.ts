import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Clock } from './clock.ts'
import { atOnce, eachInSteps, inTurns, turnsOf } from './in-turns.ts'
import { LIMITS } from './limits.ts'

/** A computer on which each step takes a quarter of a turn, with a record of other work. */
function slowComputer() {
  let nowMs = 0
  const turns: number[] = []
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async () => void turns.push(nowMs),
  }
  return { clock, turns, step: () => (nowMs += LIMITS.turnMs / 4) }
}

test('[S-41] long work lets others have a turn as soon as it has gone on for a moment', async () => {
  const { clock, turns, step } = slowComputer()
  const made = await inTurns(
    eachInSteps([...Array(40).keys()], (one) => {
      step()
      return one * 2
    }),
    clock,
  )
  assert.deepEqual(made.slice(0, 3), [0, 2, 4])
  assert.equal(turns.length, 10, 'after every fourth step')
  assert.deepEqual(atOnce(eachInSteps([1, 2], String)), ['1', '2'])
})

test('[S-41] parts that are short by themselves are not one long turn together', async () => {
  const { clock, turns, step } = slowComputer()
  const work = turnsOf(clock)
  for (let part = 0; part < 12; part++) {
    step()
    await work.pause()
    await work.perform(eachInSteps([1], step))
  }
  assert.equal(turns.length, 6)
})

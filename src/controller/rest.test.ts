import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restAfter, sweepReads } from './rest.ts'

const calm = { settled: true, events: [], lookAgainMs: 10_000 }
const few = { own: 5, all: 5 }
const many = { own: 100, all: 3_400 }

const RESTS = [
  ['few machines are looked at every ten seconds', calm, few, 0, 10_000],
  ['many machines are looked at every minute', calm, many, 0, 60_000],
  ['what is under way is looked at when its pass says', { ...calm, settled: false, lookAgainMs: 500 }, many, 1, 500],
  ['so is an operation of a cluster', { ...calm, operated: true, lookAgainMs: 900 }, many, 1, 900],
  ['a pass that had something to say is followed by another soon', { ...calm, events: ['Ready'] }, many, 0, 10_000],
  ['estates of one process look apart', calm, many, 0.5, 52_500],
  ['a rest is a whole number of milliseconds', calm, few, 0.123, 9_693],
  ['also after their first pass', { ...calm, events: ['Ready'] }, many, 0.5, 8_750],
] as const

for (const [what, made, load, phase, ms] of RESTS)
  test(what, () => {
    assert.equal(restAfter(made, load, phase), ms)
  })

test('a process makes as many close looks in an hour with many machines as with few', () => {
  const anHour = (load: { own: number; all: number }) => (3_600_000 / restAfter(calm, load)) * sweepReads(load)
  assert.equal(anHour(few), 3_600)
  assert.equal(anHour({ own: 3_400, all: 3_400 }), 3_600)
})

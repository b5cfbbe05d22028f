import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextWord, scheduledState } from './schedule.ts'

const NIGHTS = { timeZone: 'Europe/Berlin', off: ['30 23 * * *'], on: ['0 7 * * 1-5', '0 9 * * 0,6'], except: [] }
const at = (text: string) => Date.parse(text)

const TABLE: readonly [string, string, 'on' | 'off'][] = [
  ['a Monday noon', '2026-11-16T12:00:00+01:00', 'on'],
  ['just before it speaks', '2026-11-16T23:29:59+01:00', 'on'],
  ['the very moment', '2026-11-16T23:30:00+01:00', 'off'],
  ['after midnight', '2026-11-17T03:00:00+01:00', 'off'],
  ['Saturday at eight', '2026-11-21T08:00:00+01:00', 'off'],
  ['Saturday at nine', '2026-11-21T09:00:00+01:00', 'on'],
  ['the night of the change to winter', '2026-10-25T06:59:00+01:00', 'off'],
  ['the morning after it', '2026-10-26T07:00:00+01:00', 'on'],
  ['the morning after the change to summer', '2026-03-30T07:00:00+02:00', 'on'],
  ['that morning, an hour before', '2026-03-30T06:59:00+02:00', 'off'],
]

for (const [name, time, state] of TABLE) {
  test(`the schedule says ${state}: ${name}`, () => assert.equal(scheduledState(NIGHTS, at(time))?.state, state))
}

test('a line in the hour that a change of clocks leaves out or doubles speaks once', () => {
  const early = { timeZone: 'Europe/Berlin', off: ['30 2 * * *'], on: ['0 12 * * *'], except: [] }
  assert.equal(scheduledState(early, at('2026-03-29T04:00:00+02:00'))?.state, 'off')
  assert.equal(scheduledState(early, at('2026-10-25T04:00:00+01:00'))?.state, 'off')
  assert.equal(scheduledState(early, at('2026-10-25T13:00:00+01:00'))?.state, 'on')
})

test('on the days of an exception it is not switched off', () => {
  const quiet = { ...NIGHTS, except: ['2026-12-24'] }
  assert.equal(scheduledState(quiet, at('2026-12-25T00:30:00+01:00'))?.state, 'on')
  assert.equal(scheduledState(NIGHTS, at('2026-12-25T00:30:00+01:00'))?.state, 'off')
})

test('what it says next is told', () => {
  const next = nextWord(NIGHTS, at('2026-11-16T12:00:00+01:00'))
  assert.deepEqual(next, { state: 'off', atMs: at('2026-11-16T23:30:00+01:00') })
})

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

/** Zone, switch-off line, time, and its last firing: in a doubled or skipped hour it fires once. */
const CHANGES: readonly [string, string, string, string, string | undefined][] = [
  ['in autumn, before', 'Europe/Berlin', '30 2 * * *', '2026-10-25T02:29:00+02:00', undefined],
  ['in autumn, the first time', 'Europe/Berlin', '30 2 * * *', '2026-10-25T02:30:00+02:00', '2026-10-25T02:30+02:00'],
  ['in autumn, the second time', 'Europe/Berlin', '30 2 * * *', '2026-10-25T02:30:00+01:00', '2026-10-25T02:30+02:00'],
  ['in autumn, hours later', 'Europe/Berlin', '30 2 * * *', '2026-10-25T09:00:00+01:00', '2026-10-25T02:30+02:00'],
  ['in spring, before the hour is left out', 'Europe/Berlin', '30 2 * * *', '2026-03-29T01:59:59+01:00', undefined],
  ['in spring, right after it', 'Europe/Berlin', '30 2 * * *', '2026-03-29T03:00:00+02:00', '2026-03-29T03:00+02:00'],
  ['in spring, at half past', 'Europe/Berlin', '30 2 * * *', '2026-03-29T03:30:00+02:00', '2026-03-29T03:00+02:00'],
  ['south of the equator', 'Australia/Sydney', '30 2 * * *', '2026-04-05T02:30:00+10:00', '2026-04-05T02:30+11:00'],
  ['by half an hour', 'Australia/Lord_Howe', '45 1 * * *', '2026-04-05T01:45:00+10:30', '2026-04-05T01:45+11:00'],
  ['where nobody changes clocks', 'UTC', '30 2 * * *', '2026-10-25T02:30:00Z', '2026-10-25T02:30Z'],
]

for (const [name, timeZone, line, time, since] of CHANGES) {
  test(`the change of clocks ${name} (${timeZone})`, () => {
    const said = scheduledState({ timeZone, off: [line], on: ['0 12 * * *'], except: [] }, at(time))
    assert.equal(said?.state, since === undefined ? 'on' : 'off')
    if (since !== undefined) assert.equal(said?.sinceMs, at(since))
  })
}

test('what falls on one moment, because the hour between is left out, leaves it on', () => {
  const short = { timeZone: 'Europe/Berlin', off: ['15 2 * * *'], on: ['45 2 * * *'], except: [] }
  assert.equal(scheduledState(short, at('2026-03-29T03:10:00+02:00'))?.state, 'on')
})

test('[F-22] a clock that is set ten years forward, or back, is answered at once, with what holds then', () => {
  assert.equal(scheduledState(NIGHTS, at('2036-11-18T03:00:00+01:00'))?.state, 'off')
  assert.equal(scheduledState(NIGHTS, at('2016-11-18T12:00:00+01:00'))?.state, 'on')
})

test('on the days of an exception it is not switched off', () => {
  const quiet = { ...NIGHTS, except: ['2026-12-24'] }
  assert.equal(scheduledState(quiet, at('2026-12-25T00:30:00+01:00'))?.state, 'on')
  assert.equal(scheduledState(NIGHTS, at('2026-12-25T00:30:00+01:00'))?.state, 'off')
})

test('an exception is a local day, and the next word leaves it out', () => {
  const quiet = { ...NIGHTS, except: ['2026-11-16', '2026-11-17'] }
  const next = nextWord(quiet, at('2026-11-16T12:00:00+01:00'))
  assert.deepEqual(next, { state: 'on', atMs: at('2026-11-17T07:00:00+01:00') })
  const after = nextWord(quiet, at('2026-11-17T12:00:00+01:00'))
  assert.deepEqual(after, { state: 'on', atMs: at('2026-11-18T07:00:00+01:00') })
  // Half past eleven in Berlin is the day before in New York: the schedule's own zone decides the date.
  const far = { ...quiet, timeZone: 'America/New_York', except: ['2026-11-16'] }
  assert.equal(scheduledState(far, at('2026-11-17T00:00:00-05:00'))?.state, 'on')
})

test('what it says next is told', () => {
  const next = nextWord(NIGHTS, at('2026-11-16T12:00:00+01:00'))
  assert.deepEqual(next, { state: 'off', atMs: at('2026-11-16T23:30:00+01:00') })
})

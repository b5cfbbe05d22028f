import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MaintenanceWindow } from '../../model/cluster.ts'
import { nextOpening, windowOpen } from './windows.ts'

const SATURDAY = 6
const night: MaintenanceWindow = { days: [SATURDAY], fromMinute: 22 * 60, toMinute: 4 * 60, timeZone: 'Europe/Berlin' }

// 2026-11-14 is a Saturday, when Berlin is one hour ahead of UTC.
const table: readonly (readonly [at: string, open: boolean, why: string])[] = [
  ['2026-11-14T21:59:59+01:00', false, 'a second before it opens'],
  ['2026-11-14T22:00:00+01:00', true, 'it opens'],
  ['2026-11-14T23:59:59+01:00', true, 'before midnight'],
  ['2026-11-15T00:00:00+01:00', true, 'midnight: Sunday by the calendar, the night of Saturday'],
  ['2026-11-15T03:59:59+01:00', true, 'its last second'],
  ['2026-11-15T04:00:00+01:00', false, 'it is over'],
  ['2026-11-14T00:00:00+01:00', false, 'the night of Friday, though Saturday by the calendar'],
  ['2026-11-14T03:00:00+01:00', false, 'the same'],
  ['2026-11-15T22:30:00+01:00', false, 'Sunday evening'],
]

test('a window over midnight belongs to the day on which it opens', () => {
  for (const [at, open, why] of table) assert.equal(windowOpen([night], Date.parse(at)), open, `${at}: ${why}`)
})

test('a window from the last day of the week goes on into the first', () => {
  const sunday = { ...night, days: [0] }
  assert.equal(windowOpen([sunday], Date.parse('2026-11-15T23:00:00+01:00')), true)
  assert.equal(windowOpen([sunday], Date.parse('2026-11-16T03:00:00+01:00')), true, 'Monday')
  assert.equal(windowOpen([sunday], Date.parse('2026-11-15T03:00:00+01:00')), false, 'the night of Saturday')
})

test('a window that ends at midnight, and one of a whole day', () => {
  const evening = { ...night, fromMinute: 22 * 60, toMinute: 0 }
  assert.equal(windowOpen([evening], Date.parse('2026-11-14T23:59:00+01:00')), true)
  assert.equal(windowOpen([evening], Date.parse('2026-11-15T00:00:00+01:00')), false)
  const day = { ...night, fromMinute: 0, toMinute: 0 }
  assert.equal(windowOpen([day], Date.parse('2026-11-14T00:00:00+01:00')), true)
  assert.equal(windowOpen([day], Date.parse('2026-11-14T23:59:00+01:00')), true)
  assert.equal(windowOpen([day], Date.parse('2026-11-15T00:00:00+01:00')), false)
})

test('the next opening is found across midnight, and never before now', () => {
  const now = Date.parse('2026-11-14T20:02:30+01:00')
  const opens = nextOpening([night], now)
  assert.ok(opens !== undefined && opens - Date.parse('2026-11-14T22:00:00+01:00') < 5 * 60_000)
  assert.ok(windowOpen([night], opens))
  const inside = Date.parse('2026-11-15T01:00:30+01:00')
  assert.equal(nextOpening([night], inside), inside)
})

test('a weekly window in the hour that is left out in spring opens a week later', () => {
  const early = { days: [0], fromMinute: 2 * 60, toMinute: 3 * 60, timeZone: 'Europe/Berlin' }
  const opens = nextOpening([early], Date.parse('2027-03-22T12:00:00+01:00'))
  assert.equal(new Date(opens ?? 0).toISOString(), '2027-04-04T00:00:00.000Z')
})

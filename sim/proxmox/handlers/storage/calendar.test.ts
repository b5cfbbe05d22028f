import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextRun } from './calendar.ts'

/** Sunday, 15 November 2026, 02:09:20. */
const NOW = Date.UTC(2026, 10, 15, 2, 9, 20)

const CASES: readonly (readonly [event: string, next: string])[] = [
  ['daily', '2026-11-16T00:00:00Z'],
  ['hourly', '2026-11-15T03:00:00Z'],
  ['*/30', '2026-11-15T02:30:00Z'],
  ['mon..fri 02:30', '2026-11-16T02:30:00Z'],
  ['sat 03:00', '2026-11-21T03:00:00Z'],
  ['sun 02:09', '2026-11-22T02:09:00Z'],
  ['fri..mon 04:00', '2026-11-15T04:00:00Z'],
  ['2:0/15', '2026-11-15T02:15:00Z'],
  ['*-*-01 00:00', '2026-12-01T00:00:00Z'],
  ['2027-02-03 4:5:6', '2027-02-03T04:05:06Z'],
  ['quarterly', '2027-01-01T00:00:00Z'],
]

for (const [event, next] of CASES) {
  test(`"${event}" is due at ${next}`, () => {
    assert.equal(nextRun(event, NOW), Date.parse(next) / 1000)
  })
}

test('what lies in the past is never due', () => {
  assert.equal(nextRun('2020-01-01 00:00', NOW), undefined)
})

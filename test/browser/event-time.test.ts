import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventTime } from '../../web/format.ts'

const at = (year: number, month: number, ...rest: readonly number[]) => {
  const [day = 1, hour = 0, minute = 0, second = 0] = rest
  return new Date(year, month - 1, day, hour, minute, second).getTime()
}
const NOW = at(2026, 11, 16, 0, 10)

const ROWS: readonly (readonly [string, number, string])[] = [
  ['today', at(2026, 11, 16, 0, 5, 9), '00:05:09'],
  ['minutes ago, on another day', at(2026, 11, 15, 23, 50), '15 Nov 23:50'],
  ['a month ago, on the same day of it', at(2026, 10, 16, 0, 5), '16 Oct 00:05'],
  ['in another year', at(2025, 11, 16, 0, 5), '16 Nov 2025'],
]

for (const [when, atMs, text] of ROWS)
  test(`an event of ${when} says which day it was`, () => assert.equal(eventTime(atMs, NOW), text))

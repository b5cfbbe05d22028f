import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastRunMs, mayBeOldMs, nextRunMs } from './schedule.ts'

const at = (text: string) => Date.parse(`2026-03-${text}Z`)

test('a schedule says when it comes next, when it last came, and how far apart', () => {
  assert.equal(nextRunMs('0 3 * * *', at('10T03:00:00')), at('11T03:00:00'))
  assert.equal(lastRunMs('0 3 * * *', at('10T03:00:00')), at('10T03:00:00'))
  assert.equal(lastRunMs('0 3 * * *', at('10T02:59:59')), at('09T03:00:00'))
  assert.equal(lastRunMs('30 4 1 * *', at('28T00:00:00')), at('01T04:30:00'))
  assert.equal(lastRunMs('* * * * *', at('10T00:00:30')), at('10T00:00:00'))
})

test('a result may be as old as the run before last, also over a weekend and after the last run of a day', () => {
  const isMissed = (schedule: string, newest: string, now: string) =>
    at(now) - at(newest) > mayBeOldMs(schedule, at(now))
  // The 8th of March 2026 is a Sunday.
  assert.equal(isMissed('0 2 * * 1-5', '06T02:00:05', '08T12:00:00'), false)
  assert.equal(isMissed('0 2 * * 1-5', '05T01:59:50', '08T12:00:00'), false, 'one was missed')
  assert.equal(isMissed('0 2 * * 1-5', '04T02:00:05', '08T12:00:00'), true)
  assert.equal(isMissed('0 8,9 * * *', '10T09:00:05', '10T12:00:00'), false)
  assert.equal(isMissed('0 */6 * * *', '10T00:00:05', '10T11:00:00'), false)
  assert.equal(isMissed('0 */6 * * *', '09T18:00:05', '10T11:00:00'), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gapMs, lastRunMs, nextRunMs } from './schedule.ts'

const at = (text: string) => Date.parse(`2026-03-${text}Z`)

test('a schedule says when it comes next, when it last came, and how far apart', () => {
  assert.equal(nextRunMs('0 3 * * *', at('10T03:00:00')), at('11T03:00:00'))
  assert.equal(lastRunMs('0 3 * * *', at('10T03:00:00')), at('10T03:00:00'))
  assert.equal(lastRunMs('0 3 * * *', at('10T02:59:59')), at('09T03:00:00'))
  assert.equal(lastRunMs('30 4 1 * *', at('28T00:00:00')), at('01T04:30:00'))
  assert.equal(gapMs('0 */6 * * *', at('10T01:00:00')), 6 * 3_600_000)
  assert.equal(lastRunMs('* * * * *', at('10T00:00:30')), at('10T00:00:00'))
})

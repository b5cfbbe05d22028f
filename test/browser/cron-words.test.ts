import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cronWords } from '../../web/cron-words.ts'

const ROWS: readonly (readonly [string, string])[] = [
  ['30 23 * * *', '23:30 every day'],
  ['0 7 * * 1-5', '07:00 Mon to Fri'],
  ['0 9 * * 0,6', '09:00 Sun, Sat'],
  ['5 9 * * 7', '09:05 Sun'],
  ['0 22 * * fri', '22:00 Fri'],
  ['0 7 * * 1-3,5', '07:00 Mon to Wed, Fri'],
  ['*/5 * * * *', '*/5 * * * *'],
  ['0 7 1 * *', '0 7 1 * *'],
  ['0 7 * * 1-', '0 7 * * 1-'],
  ['0 7 * * 1#2', '0 7 * * 1#2'],
  ['0 0 7 * * 1', '0 0 7 * * 1'],
]

test('a line of a schedule is said in words, or left as it is', () => {
  for (const [line, words] of ROWS) assert.equal(cronWords(line), words)
})

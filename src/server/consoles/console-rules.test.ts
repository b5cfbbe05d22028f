import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import { judgeOpening, judgeStaying, lastingWords } from './console-rules.ts'

const SINCE = Date.UTC(2026, 0, 2, 10, 4)
const held = (key: string, person: string) => ({ key, person, sinceMs: SINCE })
const many = (count: number, person?: string) =>
  Array.from({ length: count }, (_, index) => held(`Machine/m-${index}`, person ?? `page:p-${index}`))

for (const [what, open, takeOver, expected] of [
  ['nobody has one', [], false, 'may'],
  ['others have others', many(3), false, 'may'],
  ['somebody has this one', [held('Machine/web', 'page:otto')], false, /^otto has .* open since 10:04 UTC/],
  ['the same person has this one', [held('Machine/web', 'page:anna')], false, /^You have .* open since/],
  ['it is taken from somebody', [held('Machine/web', 'page:otto')], true, 'takes'],
  ['a take-over of what nobody has', [], true, 'may'],
  ['one less than a person may', many(LIMITS.consolesPerPerson - 1, 'page:anna'), false, 'may'],
  ['as many as a person may', many(LIMITS.consolesPerPerson, 'page:anna'), false, /Close one first/],
  ['as many as another person may', many(LIMITS.consolesPerPerson, 'page:otto'), false, 'may'],
  ['one less than all', many(LIMITS.consoles - 1), false, 'may'],
  ['as many as there may be', many(LIMITS.consoles), false, /all that croft allows/],
  [
    'the last place, taken from another',
    [...many(LIMITS.consoles - 1), held('Machine/web', 'page:otto')],
    true,
    'takes',
  ],
  [
    'too many even without the one that is taken',
    [...many(LIMITS.consolesPerPerson, 'page:anna'), held('Machine/web', 'page:otto')],
    true,
    /Close one first/,
  ],
] as const)
  test(`may somebody open a console: ${what}`, () => {
    const verdict = judgeOpening(open, { key: 'Machine/web', person: 'page:anna', takeOver })
    if (expected === 'may') assert.deepEqual(verdict, { may: true })
    else if (expected === 'takes') assert.deepEqual(verdict, { may: true, ends: open.at(-1) })
    else assert.match(verdict.may ? 'it may' : verdict.message, expected)
  })

for (const [what, times, mayStill, expected] of [
  ['just opened', { nowMs: 1000, openedMs: 0, typedMs: 0 }, true, undefined],
  [
    'somebody types',
    { nowMs: LIMITS.consoleIdleMs * 2, openedMs: 0, typedMs: LIMITS.consoleIdleMs * 2 - 1 },
    true,
    undefined,
  ],
  ['almost idle', { nowMs: LIMITS.consoleIdleMs - 1, openedMs: 0, typedMs: 0 }, true, undefined],
  ['idle', { nowMs: LIMITS.consoleIdleMs, openedMs: 0, typedMs: 0 }, true, /Nobody typed for 15 minutes/],
  ['too long', { nowMs: LIMITS.consoleTotalMs, openedMs: 0, typedMs: LIMITS.consoleTotalMs }, true, /at most 4 hours/],
  ['the right is gone', { nowMs: 1000, openedMs: 0, typedMs: 1000 }, false, /session or the right/],
] as const)
  test(`may a console stay: ${what}`, () => {
    const why = judgeStaying(times, mayStill)
    if (expected === undefined) assert.equal(why, undefined)
    else assert.match(why ?? '', expected)
  })

test('how long it lasted, in words', () => {
  assert.deepEqual([0, 89_000, 240_000, 3 * 3_600_000].map(lastingWords), ['0 s', '89 s', '4 min', '3 h'])
})

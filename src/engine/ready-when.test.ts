import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExpressionAnswer, Expressions } from '../model/expressions.ts'
import { notYet, type ReadyQuestion } from './ready-when.ts'

const question = (...readyWhen: string[]): ReadyQuestion => ({
  readyWhen,
  self: {},
  origin: { file: 'a/web.yaml', line: 7, column: 3 },
})
const answering = (answers: readonly ExpressionAnswer[]): Expressions => ({ answers: async () => answers })

for (const [what, asked, answers, told] of [
  ['every expression holds', [question('a', 'b')], [true, true], [undefined]],
  ['the second does not hold', [question('a', 'b')], [true, false], ['not yet: b']],
  [
    'one was ended',
    [question('a'), question('b'), question('c')],
    [true, 'it takes longer than 5 s', false],
    [undefined, 'readyWhen at a/web.yaml:7:3: b: it takes longer than 5 s', 'not yet: c'],
  ],
  ['an answer is missing', [question('a', 'b')], [true], ['readyWhen at a/web.yaml:7:3: b: it was not evaluated']],
] as const satisfies readonly [string, ReadyQuestion[], ExpressionAnswer[], (string | undefined)[]][])
  test(`readyWhen: ${what}`, async () => {
    assert.deepEqual(await notYet(asked, answering(answers)), told)
  })

test('readyWhen holds for nothing where nobody evaluates it', async () => {
  const [why] = await notYet([question('true')], undefined)
  assert.match(why ?? '', /it was not evaluated/)
})

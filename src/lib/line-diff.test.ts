import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from './limits.ts'
import { lineDiff } from './line-diff.ts'
import { integerBetween, seededRandom } from './random.ts'

const shown = (before: string, after: string) =>
  lineDiff([...before], [...after])
    .map(({ sign, text }) => `${sign}${text}`)
    .join('')

test('what stays, goes and comes is told line by line', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['', '', ''],
    ['abc', 'abc', ' a b c'],
    ['', 'ab', '+a+b'],
    ['ab', '', '-a-b'],
    ['abc', 'axc', ' a-b+x c'],
    ['abcabba', 'cbabac', '-a-b c+b a b-b a+c'],
  ]
  for (const [before, after, wanted] of cases) assert.equal(shown(before, after), wanted, `${before} → ${after}`)
})

test('whatever two texts are: taking the edits apart gives both, with their line numbers', () => {
  const random = seededRandom(7)
  for (let round = 0; round < 300; round++) {
    const some = () =>
      Array.from({ length: integerBetween(random, 0, 12) }, () => 'abc'[integerBetween(random, 0, 2)] ?? 'a')
    const [before, after] = [some(), some()]
    const edits = lineDiff(before, after)
    assert.deepEqual(
      edits.filter(({ sign }) => sign !== '+').map(({ text }) => text),
      before,
    )
    const now = edits.filter(({ sign }) => sign !== '-')
    assert.deepEqual(
      now.map(({ text }) => text),
      after,
    )
    assert.deepEqual(
      now.map(({ line }) => line),
      after.map((_, index) => index + 1),
    )
    const gone = edits.filter(({ sign }) => sign === '-')
    for (const { line, text } of gone) assert.equal(before[line - 1], text)
  }
})

test('texts with nothing in common go and come whole', () => {
  const many = (word: string) => Array.from({ length: LIMITS.diff.edits }, (_, index) => `${word}${index}`)
  const edits = lineDiff(['same', ...many('a'), 'end'], ['same', ...many('b'), 'end'])
  assert.equal(edits.map(({ sign }) => sign).join(''), ` ${'-'.repeat(1000)}${'+'.repeat(1000)} `)
})

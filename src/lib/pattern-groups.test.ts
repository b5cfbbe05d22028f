import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignPattern } from './foreign-pattern.ts'
import { seededRandom } from './random.ts'

const CASES: readonly (readonly [pattern: string, text: string])[] = [
  ['a', 'bab'],
  ['^a', 'ba'],
  ['(\\d+)-(\\d+)', 'x 12-345 y'],
  ['a*', 'baaa'],
  ['a*?b', 'aaab'],
  ['(a|ab)(c|bcd)(d*)', 'abcd'],
  ['(a)?(b)', 'b'],
  ['(?i)HELLO', 'say hello'],
  ['\\bfoo\\b', 'a foo b'],
  ['\\Bo', 'foo'],
  ['(?m)^b$', 'a\nb\nc'],
  ['(?s)a.b', 'a\nb'],
  ['a.b', 'a\nb'],
  ['([a-z]+)$', 'node-agent'],
  ['(\\w+)-(?:[0-9]+)', 'web-12'],
  ['(x*)(x*)', 'xxx'],
  ['(a+)(a+)', 'aaaa'],
  ['(a{2,3})(a*)', 'aaaaa'],
  ['', 'abc'],
  ['ü(.)', 'grüße'],
  ['(.)$', 'a😀'],
  ['z|(a)(b)?', 'ac'],
  ['((a)|b)+', 'ab'],
]

/** Matches with JavaScript's engine, for harmless patterns. */
function plainly(pattern: string, text: string): readonly (string | undefined)[] | undefined {
  const [, flags = '', source = ''] = /^(?:\(\?([a-z]+)\))?(.*)$/s.exec(pattern) ?? []
  const found = new RegExp(source, `u${flags}`).exec(text)
  return found === null ? undefined : [...found]
}

test('groups are those that every engine of this kind finds', () => {
  for (const [pattern, text] of CASES) {
    // JavaScript forgets a group's match of an earlier round here; RE2, as Go uses it, does not.
    const want = pattern === '((a)|b)+' ? ['ab', 'b', 'a'] : plainly(pattern, text)
    assert.deepEqual(foreignPattern(pattern).groups(text), want, `${pattern} in ${JSON.stringify(text)}`)
  }
})

test('patterns that are made by chance find the same as in JavaScript', () => {
  const random = seededRandom(5)
  const one = (from: readonly string[]) => from[Math.floor(random.next() * from.length)] ?? ''
  const atoms = ['a', 'b', '.', '[ab]', '(a)', '(b|ab)', '(?:a|b)', '^', '$', '\\b']
  for (let round = 0; round < 400; round++) {
    let pattern = ''
    for (let part = 0; part < 4; part++) {
      const atom = one(atoms)
      pattern +=
        atom + (/^(?:[ab.]|\[ab\]|\(a\)|\(\?:a\|b\))$/.test(atom) ? one(['', '', '*', '+', '?', '*?', '+?']) : '')
    }
    let text = ''
    for (let letter = 0; letter < 8; letter++) text += one(['a', 'b', 'c'])
    assert.deepEqual(foreignPattern(pattern).groups(text), plainly(pattern, text), `${pattern} in ${text}`)
  }
})

test('a pattern that stops other engines for hours is answered', () => {
  assert.equal(foreignPattern('(a+)+b').groups('a'.repeat(5_000)), undefined)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actorOf, lookOf, shownName } from './provider-name.ts'

const ALIKE: readonly (readonly [what: string, name: string])[] = [
  ['a space after it', 'anna '],
  ['a space within', 'an na'],
  ['case', 'Anna'],
  ['a zero-width space', 'an\u200bna'],
  ['a word joiner', 'anna\u2060'],
  ['a soft hyphen', 'an\u00adna'],
  ['a mark that joins graphemes', 'an\u034fna'],
  ['a Hangul filler', 'anna\u3164'],
  ['a variation selector', 'anna\ufe0f'],
  ['a direction', '\u202eanna'],
  ['a line end', 'anna\n'],
  ['full width', 'ａｎｎａ'],
  ['mathematical letters', '𝐚𝐧𝐧𝐚'],
  ['Cyrillic letters', 'аnnа'],
  ['Greek letters', 'αnnα'],
]
for (const [what, name] of ALIKE)
  test(`[S-35] a name with ${what} looks like the plain one`, () => assert.equal(lookOf(name), lookOf('anna')))

test('[S-35] other names look otherwise', () => {
  const names = ['anna', 'anne', 'ánna', 'anna-2', 'Анна', 'ann', '安娜']
  assert.equal(new Set(names.map((name) => lookOf(name))).size, names.length)
})

test('[S-35] a name is shown as one line without invisible characters', () => {
  assert.equal(shownName(' Anna\u200b \n\u202eMüller\u3164 '), 'Anna Müller')
  assert.equal(shownName('\u200b\u2060'), '')
})

test('[S-35] two people of one name are two actors, and no name passes for a subject', () => {
  const who = (subject: string, name = 'bob') => actorOf(name, { issuer: 'https://id.example', subject })
  assert.equal(who('1'), 'oidc:bob (1 of https://id.example)')
  assert.notEqual(who('1'), who('2'))
  assert.notEqual(actorOf('bob', { issuer: 'https://other.example', subject: '1' }), who('1'))
  assert.equal(who('2', 'bob (1 of https://id.example)'), 'oidc:bob 1 of https://id.example (2 of https://id.example)')
  const long = 'x'.repeat(200)
  assert.notEqual(who(`${long}a`).slice(0, 200), who(`${long}b`).slice(0, 200), 'what is cut off decides nothing')
  assert.ok(!who('1\n2 of https://id.example)').includes('\n'))
})

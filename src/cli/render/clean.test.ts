import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clean, cleanLines, cleanValue } from './text.ts'

const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

test('[S-16] a name with escape sequences reads as its letters and moves no cursor', () => {
  assert.equal(clean('\x1b[31mred\x1b[0m'), 'red')
  assert.equal(clean('a\x1b]0;owned\x07b'), 'ab')
  assert.equal(clean('a\x1b]8;;http://x\x1b\\link'), 'alink')
  assert.equal(clean('up\x1b[2Aover\rwritten'), 'upover\\rwritten')
  assert.equal(clean('two\nlines'), 'two\\nlines')
  assert.equal(clean('c1\u009b31m'), 'c1\\x9b31m')
  assert.equal(clean('evil\u202etxt.exe'), 'evil\\u202etxt.exe')
  assert.equal(clean('<script>alert(1)</script>'), '<script>alert(1)</script>')
})

test('[S-16] no control character survives, whatever stands around it', () => {
  for (let code = 0; code < 0x2100; code++) {
    const character = String.fromCharCode(code)
    for (const text of [character, `a${character}b`, `\x1b${character}`, `\x1b[${character}`, `\x1b]${character}`]) {
      assert.doesNotMatch(clean(text), CONTROL, `code ${code.toString(16)} in ${JSON.stringify(text)}`)
      assert.doesNotMatch(clean(text), /\n/)
    }
  }
})

test('[S-16] ten megabytes are cut to the bound and say how much is missing', () => {
  const shown = clean('x'.repeat(10_000_000))
  assert.ok(shown.length < 2100)
  assert.match(shown, /… \(9998000 more characters\)$/)
  assert.ok(clean('\x1b]'.repeat(5_000_000)).length < 5000)
})

test('[S-16] half a surrogate pair does not reach the terminal', () => {
  assert.equal(clean('a\ud800b'), 'a\ufffdb')
})

test('excerpts keep their lines and nothing else', () => {
  assert.equal(cleanLines('a\r\nb\x1b[1mc\td'), 'a\nbc d')
})

test('values of any type become one line', () => {
  assert.equal(cleanValue(undefined), '(none)')
  assert.equal(cleanValue(''), '""')
  assert.equal(cleanValue(2048), '2048')
  assert.equal(cleanValue(['a', 'b\n']), '["a","b\\n"]')
})

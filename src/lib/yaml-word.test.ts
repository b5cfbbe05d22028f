import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { yamlWord } from './yaml-word.ts'

test('a word is read back as the text that it was', () => {
  for (const version of ['1.1', '1.2'] as const)
    for (const text of [
      'web-1',
      '000',
      '2024',
      '1e3',
      '0x10',
      'true',
      'No',
      'y',
      '~',
      '',
      'a: b',
      '#a',
      '~/.ssh/key',
      '12:30',
    ])
      assert.equal(parse(yamlWord(text), { version }), text)
  assert.equal(yamlWord('web-1'), 'web-1')
})

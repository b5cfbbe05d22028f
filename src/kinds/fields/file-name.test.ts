import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endingHint, wrongEnding } from './file-name.ts'

test('a wrong ending says which are right, and what to change', () => {
  assert.equal(
    wrongEnding('noble.img', 'import'),
    'a file of content import must end in .qcow2, .raw, .vmdk or .ova, and noble.img does not',
  )
  assert.equal(wrongEnding('noble.img', 'iso'), undefined)
  assert.equal(endingHint(undefined), 'set fileName')
  assert.equal(endingHint('noble.img'), 'change the ending of fileName; the url may end otherwise')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidYes } from './said-yes.ts'

test('a question that ends with [y/N] takes the letter and the word', () => {
  for (const answer of ['y', 'Y', 'yes', 'Yes', 'yes\r']) assert.equal(saidYes(answer), true, answer)
  for (const answer of [undefined, '', 'n', 'no', 'yesterday', 'ye']) assert.equal(saidYes(answer), false, answer)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWorthCollecting } from './give-memory-back.ts'

test('memory is given back when a tenth was added since the last time, and after the first work in any case', () => {
  for (const [bytes, kept, worth] of [
    [1, 0, true],
    [100, 100, false],
    [110, 100, false],
    [111, 100, true],
    [90, 100, false],
  ] as const)
    assert.equal(isWorthCollecting(bytes, kept), worth, `${bytes} after ${kept}`)
})

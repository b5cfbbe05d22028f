import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COLOURED, PLAIN, styleFor } from './text.ts'

test('colour follows FORCE_COLOR, then NO_COLOR, then the terminal', () => {
  const cases: readonly [Record<string, string>, boolean, boolean][] = [
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
    [{ TERM: 'dumb' }, true, false],
  ]
  for (const [env, isTty, expected] of cases) {
    assert.equal(styleFor(env, isTty).colour, expected, JSON.stringify([env, isTty]))
  }
})

test('plain style adds nothing, coloured style adds and takes away again', () => {
  assert.equal(PLAIN.paint('red', 'x'), 'x')
  assert.equal(COLOURED.paint('red', 'x'), '\x1b[31mx\x1b[39m')
})

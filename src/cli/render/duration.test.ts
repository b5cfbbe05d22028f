import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration, showAge, showElapsed } from './duration.ts'

const S = 1000
const M = 60 * S
const H = 60 * M
const D = 24 * H

test('ages read as kubectl writes them', () => {
  const cases: readonly [number, string][] = [
    [0, '0s'],
    [-5 * S, '0s'],
    [119 * S, '119s'],
    [5 * M + 30 * S, '5m30s'],
    [5 * M, '5m'],
    [45 * M, '45m'],
    [3 * H + 12 * M, '3h12m'],
    [38 * H, '38h'],
    [5 * D + 18 * H, '5d18h'],
    [400 * D, '400d'],
    [Number.NaN, '<unknown>'],
  ]
  for (const [ms, text] of cases) assert.equal(showAge(ms), text)
})

test('elapsed time keeps tenths while they matter', () => {
  assert.equal(showElapsed(440), '0.4s')
  assert.equal(showElapsed(12_900), '12s')
  assert.equal(showElapsed(125_000), '2m05s')
})

test('durations are read, and what is none is refused', () => {
  assert.equal(parseDuration('90s'), 90 * S)
  assert.equal(parseDuration('1h30m'), 90 * M)
  assert.equal(parseDuration('500ms'), 500)
  assert.equal(parseDuration('45'), 45 * S)
  for (const text of ['', 'm', '1d', '-5s', '5s5m', '1e3s', 'Infinity'])
    assert.equal(parseDuration(text), undefined, text)
})

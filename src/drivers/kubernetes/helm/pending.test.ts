import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLeftPending } from './pending.ts'

const MINUTE = 60_000

test('a pending record is left over when this computer has seen it unchanged for 45 minutes', () => {
  const clock = { atMs: 0, monotonicMs: () => clock.atMs }
  const rows: readonly (readonly [minutes: number, version: string, left: boolean])[] = [
    [0, 'a/1', false],
    [31, 'a/1', false],
    [44, 'b/1', false],
    [46, 'a/1', true],
    [46, 'a/2', false],
    [80, 'b/1', false],
    [90, 'b/1', true],
    [90, 'a/2', false],
    [92, 'a/2', true],
  ]
  for (const [minutes, version, left] of rows) {
    clock.atMs = minutes * MINUTE
    assert.equal(isLeftPending(version, clock), left, `${version} after ${minutes} minutes`)
  }
})

test('another process, which has another clock, begins to count anew', () => {
  const first = { monotonicMs: () => 0 }
  const second = { monotonicMs: () => 3_600_000 }
  assert.equal(isLeftPending('a/1', first), false)
  assert.equal(isLeftPending('a/1', second), false)
})

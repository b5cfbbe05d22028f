import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withKnownToken } from './backups.ts'

test('the token of a snapshot stays known when a restored K3s lists it without', () => {
  const taken = { name: 'a', atMs: 1_000, tokenKept: 'yes', tokenHash: 'ffff' } as const
  const listed = { name: 'a', atMs: 1_000, tokenKept: 'unknown' } as const
  assert.deepEqual(withKnownToken(listed, [taken]), taken)
  assert.deepEqual(withKnownToken({ ...listed, atMs: 2_000 }, [taken]).tokenKept, 'unknown', 'another of that name')
  assert.deepEqual(withKnownToken(taken, []), taken)
})

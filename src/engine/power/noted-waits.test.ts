import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PowerWait } from '../../model/observed-power.ts'
import { noteWaits, readWaits } from './noted-waits.ts'

const NOW = 1_760_000_000_000
const drain: PowerWait = { tier: 'workers', what: 'a1', awaits: 'its pods to be gone', waitedMs: 0 }

test('since when something is awaited is noted once, and anew when the count begins anew', () => {
  const first = noteWaits([drain], undefined, NOW)
  assert.equal(first, 'workers a1 its pods to be gone since 2025-10-09T08:53:20.000Z')
  assert.equal(noteWaits([{ ...drain, waitedMs: 61_003 }], first, NOW + 61_000), first)
  const restarted = noteWaits([drain], first, NOW + 90_000)
  assert.deepEqual([...readWaits(restarted)], [['workers a1 its pods to be gone', NOW + 90_000]])
})

test('what stands there by mistake is no time', () => {
  assert.deepEqual([...readWaits('workers a1 since yesterday\nhello\n')], [])
  assert.equal(readWaits(undefined).size, 0)
})

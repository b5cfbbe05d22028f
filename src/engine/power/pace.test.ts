import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PowerPlan } from '../../model/observed-power.ts'
import { nextPowerLookMs } from './keep.ts'
import { emptyPowerMemory } from './memory.ts'

/** A Power on its way with one wait. */
function waiting(waitedMs: number): number {
  const memory = emptyPowerMemory()
  memory.waits.set('Power/p hosts cow the host to be off', 0)
  const wait = { tier: 'hosts', what: 'cow', awaits: 'the host to be off', waitedMs }
  const look = {
    declaration: { key: 'Power/p', spec: {} },
    decision: { phase: 'PoweringOff', steps: [{ verb: 'stop-host', host: 'cow' }], waits: [wait] },
  } as unknown as PowerPlan
  return nextPowerLookMs([{ look, attempts: [] }], memory, waitedMs)
}

for (const [waitedMs, expected] of [
  [0, 50],
  [8_000, 200],
  [40_000, 400],
  [150_000, 1_000],
  [300_000, 2_000],
  [86_400_000, 10_000],
] as const) {
  test(`what has been awaited for ${waitedMs} ms is looked at again after ${expected} ms`, () => {
    assert.equal(waiting(waitedMs), expected)
  })
}

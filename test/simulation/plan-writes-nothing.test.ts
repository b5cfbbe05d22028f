import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryStore } from '../../src/store/memory.ts'
import { estateOf, SIX } from './manifests.ts'
import { simulate } from './run.ts'
import { replay } from './volume.ts'

const never = new AbortController().signal

test('[D-12] a plan writes nothing, neither outside nor to the store: before, during and after, and with a lost store', async () => {
  const hint = replay('plan-writes-nothing.test.ts', 1)
  const run = simulate({ seed: 1, estate: estateOf(SIX) })
  const plan = async () => {
    const before = [run.requests.length, JSON.stringify(createMemoryStore(run.disk).snapshot())]
    await run.clock.runUntil(run.start().engine.plan(run.estate, never))
    const after = [run.requests.length, JSON.stringify(createMemoryStore(run.disk).snapshot())]
    assert.deepEqual(after, before, hint)
  }
  await plan()
  const process = run.start()
  for (let round = 0; round < 6; round++) {
    await run.passes(process, 1)
    await plan()
  }
  await run.untilSettled(run.start())
  await plan()
  run.disk = createMemoryStore().disk
  await plan()
  run.estate = estateOf(SIX.slice(1))
  await plan()
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import type { PowerPlan, UpsReading } from '../../model/observed-power.ts'
import { host, specWith, UPS } from '../../plan/power/testing/fixture.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { emptyPowerMemory } from './memory.ts'
import { noteUps, readAllUps } from './ups.ts'

const SPEC = specWith({
  hosts: [host('one'), host('far', { fedBy: 'other@nut' })],
  ups: { name: UPS, levels: [{ below: 40, level: 1 }], wakeAbove: 30 },
})
const signal = new AbortController().signal

/** A process that watches the UPSs; `said` holds their answers. */
function watcher(disk: ReturnType<typeof createMemoryStore>['disk']) {
  const memory = emptyPowerMemory()
  const store = createMemoryStore(disk)
  let steady = 0
  const clock = { now: () => 1_000 + steady, monotonicMs: () => steady, sleep: async () => {} }
  return async (said: Readonly<Record<string, UpsReading>>) => {
    steady += LIMITS.upsLookMs
    const driver = { readUps: async (name: string) => said[name] }
    const look = () => readAllUps(SPEC, 'p', driver, { clock, powerMemory: memory, store }, signal)
    // The cached value is returned at once, and a new read starts.
    await look()
    await new Promise((resolve) => setImmediate(resolve))
    const ups = await look()
    const plan = { declaration: { name: 'p' }, observed: { ups } } as unknown as PowerPlan
    await noteUps(plan, { store, epoch: await store.beginEpoch() })
    return ups
  }
}

test('a UPS that was on battery is not forgotten with the process, and one that never answered is unknown', async () => {
  const { disk } = createMemoryStore()
  const first = watcher(disk)
  assert.deepEqual(await first({}), { [UPS]: 'unknown', 'other@nut': 'unknown' })
  const battery = { onBattery: true, charge: 80, low: false }
  await first({ [UPS]: { onBattery: false, charge: 100, low: false } })
  await first({ [UPS]: battery })
  const again = watcher(disk)
  const { [UPS]: silent, 'other@nut': other } = await again({})
  assert.ok(silent !== undefined && silent !== 'unknown')
  assert.deepEqual([silent.onBattery, silent.charge, silent.silentSinceMs === undefined], [true, 80, false])
  assert.equal(other, 'unknown')
})

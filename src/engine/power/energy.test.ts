import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedPower, PowerPlan } from '../../model/observed-power.ts'
import type { PowerEnergy } from '../../model/power.ts'
import { EMPTY, host, observedWith, specWith } from '../../plan/power/testing/fixture.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { counted, noteEnergy, wattsOf } from './energy.ts'
import { emptyPowerMemory } from './memory.ts'

const HOUR = 3_600_000
const START = 1_760_000_000_000

function lookWith(observed: Partial<ObservedPower>): PowerPlan {
  const spec = specWith({
    hosts: [host('cow', { watts: { on: 60, off: 2 } }), host('duck', { watts: { on: 40, off: 1 } }), host('hen')],
  })
  return { declaration: { key: 'Power/p', name: 'p', spec }, observed: observedWith(observed) } as unknown as PowerPlan
}

const HOSTS = [
  { name: 'cow', power: 'on', guests: EMPTY, watts: 55 },
  { name: 'duck', power: 'off', guests: EMPTY },
  { name: 'hen', power: 'on', guests: EMPTY, watts: 20 },
] as const
const UPS = { onBattery: false, low: false, charge: 100, watts: 90 }

const WATTS: readonly [string, Partial<ObservedPower>, ReturnType<typeof wattsOf>][] = [
  [
    'as declared, by what is on and what is off',
    { hosts: HOSTS.map(({ name, power }) => ({ name, power, guests: EMPTY })) },
    { estimated: 61 },
  ],
  ['by their management controllers', { hosts: HOSTS }, { estimated: 61, measured: 75 }],
  [
    'by the UPS, which feeds more than they know of',
    { hosts: HOSTS, ups: { rack: UPS } },
    { estimated: 61, measured: 90 },
  ],
  [
    'by their management controllers, when one of two UPSs measures nothing',
    { hosts: HOSTS, ups: { rack: UPS, cellar: { onBattery: false, low: false, charge: 100 } } },
    { estimated: 61, measured: 75 },
  ],
  ['by nobody, when the UPS does not answer', { hosts: [], ups: { rack: 'unknown' } }, { estimated: 100 }],
]

for (const [name, observed, expected] of WATTS) {
  test(`what hosts take is known ${name}`, () => assert.deepEqual(wattsOf(lookWith(observed)), expected))
}

test('energy of the day outlives croft, and what passed while it was down is not guessed', async () => {
  let [wall, steady] = [START, 0]
  const clock = { now: () => wall, monotonicMs: () => steady, sleep: async () => {} }
  const { disk } = createMemoryStore()
  const note = async (memory: ReturnType<typeof emptyPowerMemory>): Promise<PowerEnergy> => {
    const store = createMemoryStore(disk)
    return noteEnergy(lookWith({ hosts: HOSTS }), memory, { clock, store, epoch: await store.beginEpoch() })
  }
  const first = emptyPowerMemory()
  await note(first)
  ;[wall, steady] = [START + HOUR, HOUR]
  assert.deepEqual(await note(first), {
    dayMs: Math.floor(START / 86_400_000) * 86_400_000,
    estimatedWh: 61,
    measuredWh: 75,
  })
  ;[wall, steady] = [START + 2 * HOUR, 0]
  const again = await note(emptyPowerMemory())
  assert.deepEqual([again.estimatedWh, again.measuredWh], [61, 75])
})

test('energy is counted by the day, by what was used and not by what the wall clock says', () => {
  const first = counted(undefined, { estimated: 100 }, 0, START)
  const hour = counted(first, { estimated: 100, measured: 80 }, HOUR, START + 1)
  assert.deepEqual([hour.estimatedWh, hour.measuredWh], [100, 80])
  const jumped = counted(hour, { estimated: 100, measured: 80 }, 0, START + 24 * HOUR)
  assert.deepEqual([jumped.estimatedWh, jumped.measuredWh], [0, 0])
  assert.deepEqual(jumped.yesterday, { dayMs: hour.dayMs, estimatedWh: 100, measuredWh: 80 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../lib/limits.ts'
import type { EstateView } from '../model/estate-view.ts'
import { createHealthStrips } from './health-strips.ts'
import { withResource } from './testing/fake-controller.ts'
import { conditions, machine, smallEstate } from './testing/fake-estate.ts'
import { NOW } from './testing/fake-moment.ts'
import { fakePower } from './testing/fake-power.ts'

const KEY = 'Machine/k3s-vm-still-fawn'
const SLOT = LIMITS.healthSlotMs

/** Returns the last slots of one strip after these looks, one slot each. */
function told(what: string, subject: string, looks: readonly EstateView[]) {
  const strips = createHealthStrips()
  for (const [index, view] of looks.entries()) strips.note(view, NOW + index * SLOT)
  const found = strips
    .strips(NOW + (looks.length - 1) * SLOT)
    .find((one) => one.what === what && one.subject === subject)
  return found === undefined ? undefined : { slots: found.slots.slice(-looks.length), share: found.share }
}

test('a slot is as its worst moment was, and a share is of what was looked at', () => {
  const well = smallEstate()
  const down = { ...well, ...withResource(well, KEY, (one) => ({ ...one, conditions: conditions(true, false) })) }
  assert.deepEqual(told('resource', KEY, [well, down]), { slots: 'ox', share: 0.5 })
  const strips = createHealthStrips()
  for (const view of [well, down, well]) strips.note(view, NOW)
  assert.equal(
    strips
      .strips(NOW)
      .find(({ subject }) => subject === KEY)
      ?.slots.at(-1),
    'x',
  )
})

test('a share is of the time: a bad minute in an hour is a minute, and not its half hour', () => {
  const well = smallEstate()
  const down = { ...well, ...withResource(well, KEY, (one) => ({ ...one, conditions: conditions(true, false) })) }
  const strips = createHealthStrips()
  for (let minute = 0; minute < 60; minute++) strips.note(minute === 1 ? down : well, NOW + minute * 60_000)
  const [strip] = strips.strips(NOW + 59 * 60_000).filter(({ subject }) => subject === KEY)
  assert.equal(strip?.slots.slice(-2), 'xo')
  assert.ok(Math.abs((strip?.share ?? 0) - 58 / 59) < 1e-4, String(strip?.share))
})

test('what is being made is neither well nor unwell', () => {
  const well = smallEstate()
  const made = machine('k3s-vm-still-fawn', 'still-fawn', 109, {
    conditions: conditions(false, false),
    action: { do: 'create', externalId: '109', host: 'still-fawn', steps: [], reason: 'not there' },
  })
  const making = { ...well, ...withResource(well, KEY, () => made) }
  assert.equal(told('resource', KEY, [making]), undefined)
  assert.deepEqual(told('resource', KEY, [making, well]), { slots: '.o', share: 1 })
})

test('[A45] what is off on request is not unwell, and does not count', () => {
  const on = smallEstate()
  const hosts = on.hosts.map((host) => ({ ...host, online: false }))
  const asleep = fakePower({
    phase: 'Off',
    wanted: { state: 'off', sinceMs: NOW, why: 'over night' },
    hosts: fakePower().hosts.map((host) => ({ ...host, power: host.own ? 'on' : 'off' })),
  })
  const clusters = on.clusters.map((one) => ({ ...one, decision: { ...one.decision, phase: 'Blocked' as const } }))
  const off = { ...on, hosts, clusters, power: [asleep] }
  assert.deepEqual(told('cluster', 'homelab', [on, off]), { slots: 'o-', share: 1 })
  assert.deepEqual(told('host', 'still-fawn', [off]), { slots: '-', share: undefined })
  assert.deepEqual(told('host', 'fun-bedbug', [off]), { slots: 'x', share: 0 }, 'that one fell over')
})

test('a strip that nobody has seen for a day is gone', () => {
  const strips = createHealthStrips()
  strips.note(smallEstate(), NOW)
  assert.ok(strips.strips(NOW).length > 0)
  assert.equal(strips.strips(NOW + LIMITS.healthSlots * SLOT).length, 0)
})

test('what nobody knows is neither well nor unwell', () => {
  const known = smallEstate()
  const checks = (passed: 'yes' | 'unknown') => [{ name: 'web', passed, output: '', atMs: NOW }]
  const looks = (['yes', 'unknown', 'unknown'] as const).map((passed) => ({ ...known, checks: checks(passed) }))
  assert.deepEqual(told('check', 'web', looks), { slots: 'o??', share: 1 })
})

test('a strip goes on where it was before a restart', () => {
  const strips = createHealthStrips()
  const well = { up: 3600, down: 0, unknown: 0 }
  const spans = [...Array.from({ length: 21 }, () => undefined), { ...well, down: 60 }, well, well]
  strips.recall([{ what: 'check', subject: 'web', spans }], NOW)
  const [strip] = strips.strips(NOW)
  // NOW is half past: the present hour has two slots so far.
  assert.equal(strip?.slots.slice(-6), 'xxoooo')
  // A minute of three hours, and not one slot of six: what is counted is time.
  assert.equal(strip?.share, 10_800 / 10_860)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ObservedPower, PowerPlan } from '../../model/observed-power.ts'
import { NO_POWER_REQUESTS, type PowerRequests, type PowerSpec } from '../../model/power.ts'
import { coordinatePower } from '../../plan/power/coordinate.ts'
import {
  clusterWith,
  EMPTY,
  host,
  NOW,
  node,
  observedWith,
  specWith,
  workload,
} from '../../plan/power/testing/fixture.ts'
import { powerPreviewOf, powerViewOf } from './power-view.ts'

const NODES = [node('s1', { host: 'pve1' }), node('a1', { host: 'pve1', onDemand: true, power: 'off', kube: 'absent' })]

function lookWith(
  spec: Partial<PowerSpec>,
  observed: Partial<ObservedPower> = {},
  requests: PowerRequests = NO_POWER_REQUESTS,
): PowerPlan {
  const whole = specWith({ hosts: [host('pve1', { watts: { on: 65, off: 2 } })], ...spec })
  const seen = observedWith({
    cluster: clusterWith(NODES, [workload('gitops', 'argo'), workload('apps', 'web')], {
      wanting: { a1: ['ml/train'] },
    }),
    hosts: [{ name: 'pve1', power: 'on', guests: { ...EMPTY, undeclared: ['old\u001b[31m-vm'] } }],
    ...observed,
  })
  return {
    declaration: {
      key: 'Power/site',
      name: 'site',
      spec: whole,
      policy: DEFAULT_POLICY,
      origin: { file: 'power.yaml', line: 1, column: 1 },
      generation: '1',
    },
    observed: seen,
    requests,
    atMs: NOW,
    decision: coordinatePower(whole, seen, requests, undefined, NOW),
  }
}

test('shows hosts with what wakes them, nodes on demand with who waits for them, and the UPS', () => {
  const ups = { name: 'rack@127.0.0.1', levels: [{ below: 40, level: 1 }], wakeAbove: 30 }
  const view = powerViewOf(
    lookWith({ ups }, { ups: { 'rack@nut': { onBattery: true, charge: 71, low: false, watts: 210 } } }),
    NOW,
  )
  assert.deepEqual(view.hosts, [
    { name: 'pve1', level: 1, own: false, power: 'on', strangers: ['old-vm'], wokenBy: 'Wake-on-LAN' },
  ])
  assert.deepEqual(view.onDemand, [{ node: 'a1', power: 'off', wanting: ['ml/train'] }])
  assert.deepEqual(view.ups, {
    name: 'rack@nut',
    levels: ups.levels,
    state: 'battery',
    charge: 71,
    low: false,
    watts: 210,
  })
  assert.deepEqual(view.watts, { estimated: 65, measured: 210 })
  assert.equal(powerViewOf(lookWith({ ups }, { ups: { 'rack@nut': 'unknown' } }), NOW).ups?.state, 'unknown')
})

test('shows a hold that a person set while it counts, also when nothing is to go off', () => {
  const hold = { by: 'page:anna', why: 'demo', sinceMs: NOW - 1, untilMs: NOW + 1 }
  const look = lookWith({}, {}, { holds: [hold] })
  assert.deepEqual(powerViewOf(look, NOW).held, [{ ...hold, by: 'anna' }])
  assert.deepEqual(powerViewOf(look, NOW + 1).held, [])
})

test('says what the schedule will say next, from now on', () => {
  const schedule = { timeZone: 'UTC', off: ['30 23 * * *'], on: ['0 7 * * *'], except: [] }
  const { next } = powerViewOf(lookWith({ schedule }), Date.UTC(2026, 10, 14, 18))
  assert.deepEqual(next, { state: 'off', atMs: Date.UTC(2026, 10, 14, 23, 30) })
})

test('[A41] a preview is what the planner would do, with what stands in the way, and requests nothing', () => {
  const look = lookWith({}, { holds: [{ kind: 'person', who: 'anna', where: 's1' }] })
  const off = powerPreviewOf(look, 'off', NOW)
  assert.deepEqual(
    off.tiers.map(({ tier }) => tier),
    ['gitops', 'apps', 'volumes', 'workers', 'servers', 'hosts'],
  )
  assert.ok(off.tiers.every(({ awaits }) => awaits !== ''))
  assert.match(off.holds[0]?.reason ?? '', /anna is logged in on s1/)
  const free = powerPreviewOf(lookWith({}), 'off', NOW)
  assert.equal(free.holds.length, 0)
  assert.ok(free.first.length > 0)
  assert.deepEqual(look.requests, NO_POWER_REQUESTS)
})

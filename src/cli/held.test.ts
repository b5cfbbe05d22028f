import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Settlement } from '../engine/engine.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { Plan } from '../model/plan.ts'
import { coordinate } from '../plan/clusters/coordinate.ts'
import { clusterSpec, NOW, observedCluster } from '../plan/clusters/testing/fixture.ts'
import { applyExit, heldIn, renderHeld } from './verbs/apply.ts'

type Hold = NonNullable<ClusterPlan['observed']['requests']['hold']>

function planOf(hold?: Hold, notes: Plan['notes'] = []): Plan {
  const spec = clusterSpec('s1 s2 s3')
  const seen = observedCluster('s1 s2 s3')
  const observed = hold === undefined ? seen : { ...seen, requests: { ...seen.requests, hold } }
  const declaration = { spec, key: 'Cluster/homelab', name: 'homelab' } as ClusterPlan['declaration']
  const clusters = [{ declaration, observed, decision: coordinate(spec, observed, NOW) }]
  return { entries: [], notes, problems: [], clusters }
}

const settled = (plan: Plan): Settlement => ({
  outcome: 'settled',
  last: { plan, records: [], events: [], effects: 0, settled: true, lookAgainMs: 0 },
  passes: 1,
  effects: 0,
})

test('an apply that leaves a cluster held does not end with 0, and says what, why and what would allow it', () => {
  const held = planOf({ reason: 'its record cannot be opened', allow: 'bring the key' })
  assert.equal(applyExit(settled(held), []), 3)
  assert.equal(
    renderHeld(heldIn(held)),
    '  held: Cluster/homelab: its record cannot be opened\n      to allow: bring the key\n',
  )
})

test('the silent API of a cluster that is held is no other failure; any other silence is', () => {
  const hold = { reason: 'etcd has lost its majority', allow: 'restore it' }
  const silent = (connection: string, code: 'unreachable' | 'refused' = 'unreachable') => [
    { connection, code, message: 'nobody answers', allow: 'look' },
  ]
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/homelab'))), []), 3)
  assert.equal(applyExit(settled(planOf(undefined, silent('cluster/homelab'))), []), 1)
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/other'))), []), 1)
  assert.equal(applyExit(settled(planOf(hold, silent('cluster/homelab', 'refused'))), []), 4)
})

test('a cluster that is as declared, or off because somebody ordered it, is not held', () => {
  assert.equal(applyExit(settled(planOf()), []), 0)
  assert.equal(applyExit(settled(planOf({ reason: 'off', allow: 'croft power on', power: 'off' })), []), 0)
})

test('a long list of what is held is cut, and says so', () => {
  const many = Array.from({ length: 7 }, (_, at) => ({ what: `Machine/${at}`, reason: 'r', allow: 'a' }))
  assert.match(renderHeld(many), /Machine\/4: r\n {6}to allow: a\n {2}and 2 more: croft plan shows them\n$/)
})

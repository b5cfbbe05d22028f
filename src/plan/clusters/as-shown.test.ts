import assert from 'node:assert/strict'
import { test } from 'node:test'
import { snapshotName } from '../../k3s/snapshot-name.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { KubeNode } from '../../model/observed-cluster.ts'
import { asShown } from './as-shown.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, MINUTE, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { plannedGuards, plannedSteps } from './testing/planned.ts'

const NEXT = 'v1.34.4+k3s1'
const spec = clusterSpec('s1 s2 s3', { version: NEXT })
const declaration = { key: 'Cluster/homelab', name: 'homelab', spec } as ClusterDeclaration
const ready = {
  snapshots: [{ name: snapshotName(NOW - MINUTE), node: 's1', atMs: NOW - MINUTE, tokenKept: 'yes' }],
} as const
const work = { purpose: 'upgrade', target: NEXT, sinceMs: NOW - MINUTE, cordoned: true } as const
const marked: Partial<KubeNode> = { unschedulable: true, work }

/** Returns what a run does whose plan could not see these nodes. */
function done(turns: Readonly<Record<string, NodeTurn>>, unknown: readonly string[]) {
  const observed = observedCluster('s1 s2 s3', turns, ready)
  const look = { declaration, observed, decision: coordinate(spec, observed, NOW) }
  const { decision } = asShown(look, { cluster: 'homelab', unrecorded: false, nodes: new Set(unknown) })
  return { steps: plannedSteps(decision), guards: plannedGuards(decision), holds: decision.holds }
}

test('[D-03] no work begins on a node of which the plan could say nothing, and the hold names what it is', () => {
  const { steps, guards, holds } = done({}, ['s1', 's2', 's3'])
  assert.deepEqual([steps, guards], [[], ['not-planned']])
  assert.match(holds[0]?.reason ?? '', /s1: .*v1\.34\.4\+k3s1/)
  assert.deepEqual(done({}, []).steps, ['cordon s1'], 'what the plan showed is done')
  assert.deepEqual(done({}, ['s3']).steps, ['cordon s1'], 'it knew this one')
})

test('[D-03] what an earlier run began on such a node goes on', () => {
  const pods = { s1: { kube: { ...marked, podsToMove: 3 } } }
  assert.deepEqual(done(pods, ['s1']).steps, ['drain s1'])
  const back = {
    s1: { kube: { ...marked, version: NEXT, work: { ...work, changedMs: NOW - MINUTE } }, k3s: { version: NEXT } },
  }
  assert.deepEqual(done(back, ['s1', 's2', 's3']).steps, ['uncordon s1'])
})

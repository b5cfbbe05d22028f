import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ClusterPlan, ObservedCluster } from '../../model/observed-cluster.ts'
import type { Action, Doing, PlanEntry } from '../../model/plan.ts'
import { coordinate } from '../clusters/coordinate.ts'
import { memberships } from '../clusters/membership.ts'
import { clusterSpec, FRESH, NOW, type NodeTurn, observedCluster } from '../clusters/testing/fixture.ts'
import { estateOf, ORIGIN, step } from '../testing/fixture.ts'
import { clusterMember } from './cluster-member.ts'

const THREE = clusterSpec('s1 s2 s3')
/** Boxes that croft did not create, named like the nodes. */
const spec = { ...THREE, servers: THREE.servers.map((node) => ({ ...node, machine: { host: node.name } })) }

function judged(observed: ObservedCluster, disruption: 'none' | 'restart', host = 's1'): Action {
  const look: ClusterPlan = {
    declaration: {
      key: 'Cluster/homelab',
      name: 'homelab',
      estate: 'default',
      spec,
      artifacts: [{ release: true }],
      hosts: new Map(),
      policy: DEFAULT_POLICY,
      origin: ORIGIN,
      generation: 'g1',
    },
    observed,
    decision: coordinate(spec, observed, NOW),
  }
  const action: Action & Doing = {
    do: 'update',
    externalId: 'kernel-args:cmdline',
    changes: [],
    steps: [step('reboot', 'reboot', { disruption })],
    reason: 'running differ',
  }
  const entry: PlanEntry = {
    key: `HostConfig/x@${host}/kernel-args:cmdline`,
    uid: 'u',
    connection: `host/${host}`,
    type: 'item',
    host,
    action,
  }
  const guarded = { entry, policy: DEFAULT_POLICY }
  const context = {
    estate: estateOf([]),
    members: memberships([look], []),
    suspicions: new Map(),
    deleting: [],
    machines: new Map(),
    sourceOf: () => '',
    nowMs: NOW,
  }
  return clusterMember.judge(action, guarded, context)
}

const NAMES = 's1 s2 s3'
const healthy = observedCluster(NAMES)

test('the restart of a host that is a node is held until the coordinator has drained it', () => {
  const held = judged(healthy, 'restart')
  assert.ok(held.do === 'hold' && held.guard === 'cluster-member')
  assert.match(held.reason, /s1 is a node of homelab: it is cordoned and drained/)
})

test('what restarts nothing, and the restart of a host that is no node, pass', () => {
  assert.equal(judged(healthy, 'none').do, 'update')
  assert.equal(judged(healthy, 'restart', 'elsewhere').do, 'update')
})

test('a host that is not in the cluster yet may be restarted', () => {
  assert.equal(judged(observedCluster(NAMES, { s1: FRESH }), 'restart').do, 'update')
})

test('before there is a cluster every host that is clean gets ready for it; one that nobody has looked into does not', () => {
  const before = (k3s: NonNullable<NodeTurn['k3s']>) => {
    const turn = { kube: 'unknown', k3s } as const
    const { identity: _, ...rest } = observedCluster(
      NAMES,
      { s1: turn, s2: turn, s3: turn },
      { api: 'unknown', members: 'unknown' },
    )
    return judged(rest, 'restart')
  }
  assert.equal(before({ service: 'absent', data: 'none' }).do, 'update')
  const held = before('unknown')
  assert.ok(held.do === 'hold' && held.guard === 'cluster-member')
  assert.match(held.reason, /may be a node of a running cluster/)
})

test('a clean host of a cluster whose API is silent gets ready to come back; one with data or at work does not', () => {
  const silent = (k3s: NonNullable<NodeTurn['k3s']>) =>
    observedCluster(NAMES, { s1: { kube: 'unknown', k3s } }, { api: 'no' })
  assert.equal(judged(silent({ service: 'absent', data: 'none' }), 'restart').do, 'update')
  assert.equal(judged(silent({ service: 'starting', data: 'none' }), 'restart').do, 'hold')
  assert.equal(judged(silent({ service: 'stopped' }), 'restart').do, 'hold')
})

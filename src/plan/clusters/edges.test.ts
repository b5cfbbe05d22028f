import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { snapshotName } from '../../k3s/snapshot-name.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { plannedGuards, plannedSteps } from './testing/planned.ts'

// Each row is at the limit of a comparison, where a bug of one character changes the result.
const NEXT = 'v1.34.4+k3s1'
const OTHER = 'v1.34.5+k3s1'
const names = 's1 s2 s3 a1'
const ready: Partial<ObservedCluster> = {
  snapshots: [{ name: snapshotName(NOW - MINUTE), node: 's1', atMs: NOW - MINUTE, tokenKept: 'yes' }],
}

describe('a health check before a rollout goes on', () => {
  const plain = clusterSpec(names, { version: NEXT })
  const spec = { ...plain, upgrade: { ...plain.upgrade, healthChecks: ['ceph'], soakMs: 0 } }
  const changedMs = NOW - LIMITS.healthCheckFreshMs - MINUTE
  const { healthCheckAgainMs: again, healthCheckFreshMs: fresh } = LIMITS
  const cases: readonly (readonly [
    what: string,
    passed: 'yes' | 'no',
    ageMs: number,
    does: readonly string[],
    held: boolean,
  ])[] = [
    ['failed a moment ago', 'no', again - 1, [], true],
    ['failed long enough ago to ask again', 'no', again, ['run-health-checks'], true],
    ['failed before that', 'no', again + 1, ['run-health-checks'], true],
    ['failed so long ago that nobody knows', 'no', fresh + 1, ['run-health-checks'], true],
    ['passed just within its time', 'yes', fresh, ['cordon s2'], false],
    ['passed too long ago', 'yes', fresh + 1, ['run-health-checks'], false],
    ['passed at the moment of the change', 'yes', NOW - changedMs, ['run-health-checks'], false],
  ]
  for (const [what, passed, ageMs, does, held] of cases)
    test(what, () => {
      const checks = [{ name: 'ceph', passed, output: 'HEALTH_ERR', atMs: NOW - ageMs }]
      const done: NodeTurn = { kube: { version: NEXT, changedMs, readySinceMs: changedMs }, k3s: { version: NEXT } }
      const decision = coordinate(spec, observedCluster(names, { s1: done }, { ...ready, checks }), NOW)
      assert.deepEqual(plannedSteps(decision), does)
      assert.deepEqual(plannedGuards(decision), held ? ['health-check'] : [])
    })
})

describe('a node under work whose declaration has changed meanwhile', () => {
  const work = { purpose: 'upgrade', target: NEXT, sinceMs: NOW - MINUTE, cordoned: true } as const
  const cases: readonly (readonly [what: string, version: string, changed: boolean, does: readonly string[]])[] = [
    ['not touched yet, and the old release is wanted again', 'v1.34.3+k3s1', false, ['uncordon s1']],
    ['not touched yet, and another release is wanted', OTHER, false, ['uncordon s1']],
    ['changed, and another release is wanted: it goes on with that', OTHER, true, ['cordon s1']],
  ]
  for (const [what, version, changed, does] of cases)
    test(what, () => {
      const marks = changed ? { work: { ...work, changedMs: NOW - MINUTE }, changedMs: NOW - MINUTE } : { work }
      const s1: NodeTurn = { kube: { unschedulable: true, ...marks } }
      const decision = coordinate(clusterSpec(names, { version }), observedCluster(names, { s1 }, ready), NOW)
      assert.deepEqual(plannedSteps(decision), does)
    })
})

describe('a node that only waits for its network counts as back, where the network comes as an add-on', () => {
  const work = {
    purpose: 'upgrade',
    target: NEXT,
    sinceMs: NOW - MINUTE,
    cordoned: true,
    changedMs: NOW - MINUTE,
  } as const
  const plain = clusterSpec(names, { version: NEXT })
  const spec = { ...plain, network: { ...plain.network, flannelBackend: 'none' as const } }
  const waiting = {
    ready: 'no',
    readyMessage: 'cni plugin not initialized',
    version: NEXT,
    unschedulable: true,
  } as const
  const turn: NodeTurn = { kube: { ...waiting, work, changedMs: NOW - MINUTE }, k3s: { version: NEXT } }
  const next = (name: string, one: ClusterSpec, members?: ObservedCluster['members']) => {
    const more = members === undefined ? ready : { ...ready, members }
    return plannedSteps(coordinate(one, observedCluster(names, { [name]: turn }, more), NOW))
  }
  test('an agent', () => assert.deepEqual(next('a1', spec), ['uncordon a1']))
  test('a server whose member is up', () => assert.deepEqual(next('s1', spec), ['uncordon s1']))
  test('not a server whose member is not', () => {
    const members = [member('s1', { up: 'unknown' }), member('s2'), member('s3')]
    assert.deepEqual(next('s1', spec, members), [])
  })
  test('not where K3s brings the network itself', () => assert.deepEqual(next('a1', plain), []))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'
import { nextSteps } from './testing/planned.ts'

const SPEC = clusterSpec('s1 s2 s3')
const under = (purpose: 'upgrade' | 'configure' | 'restart') =>
  ({
    unschedulable: true,
    work: { purpose, target: 'v1.35.0+k3s1', sinceMs: NOW - MINUTE, cordoned: true },
  }) as unknown as NonNullable<NodeTurn['kube']>
// Cordoning writes the mark with the purpose of the work.
const next = (turn: NodeTurn, more: Partial<ObservedCluster> = {}, spec = SPEC) =>
  nextSteps(spec, observedCluster('s1 s2 s3', { s3: turn }, more))

for (const purpose of ['upgrade', 'configure', 'restart'] as const) {
  const kube = { ...(under(purpose) as object), ready: 'no' } as unknown as NonNullable<NodeTurn['kube']>
  const away = { members: [member('s1'), member('s2'), member('s3', { up: 'no' })] }

  test(`a node under a rollout (${purpose}) whose machine is gone is replaced: nobody waits for it`, () => {
    const gone: NodeTurn = { kube, k3s: 'unknown', machine: { exists: 'no', power: 'off' } }
    assert.deepEqual(next(gone, away), ['cordon s3'])
  })

  test(`a node under a rollout (${purpose}) that a person wants replaced is replaced`, () => {
    const requests = { ...NO_REQUESTS, replace: [{ node: 's3', atMs: NOW - MINUTE / 2, goes: 'unseen' as const }] }
    const stopped: NodeTurn = { kube, k3s: { service: 'stopped' } }
    assert.deepEqual(next(stopped, { ...away, requests }), ['cordon s3'])
  })

  test(`a node under a rollout (${purpose}) that Git names no more is given back first`, () => {
    const two = clusterSpec('s1 s2', { allow: { degraded: true } as never })
    assert.deepEqual(next({ kube: under(purpose) }, {}, two), ['uncordon s3'])
  })
}

const BARE: NodeTurn = { kube: 'absent', k3s: 'unknown', machine: { exists: 'no', power: 'off' } }
const LEFT: readonly [string, NodeTurn, readonly string[]][] = [
  ['only a Node', { k3s: 'unknown', passwordSecret: 'no', machine: { exists: 'no', power: 'off' } }, ['cordon a1']],
  ['only the Secret of its password', { ...BARE, passwordSecret: 'yes' }, ['delete-node-password a1']],
  ['only a machine of ours', { ...BARE, machine: { exists: 'yes', power: 'off', ours: true } }, ['destroy-machine a1']],
  ['nothing', BARE, []],
]
for (const [name, turn, steps] of LEFT)
  test(`of a node that Git names no more ${name} is left`, () => {
    assert.deepEqual(nextSteps(clusterSpec('s1'), observedCluster('s1 a1', { a1: turn })), steps)
  })

test('of a server that Git names no more only its etcd member is left: that goes as well', () => {
  const decision = coordinate(SPEC, observedCluster('s1 s2 s3 s4', { s4: BARE }), NOW)
  assert.deepEqual(
    decision.steps.map(({ summary }) => summary),
    ['remove the etcd member s4-4a13e2cb'],
  )
})

test('a server of which nothing is left keeps no other from leaving, whatever was said of its machine', () => {
  const five = { s4: BARE, s5: {} }
  const members = [member('s1'), member('s2'), member('s3'), member('s5')]
  const observed = observedCluster('s1 s2 s3 s4 s5', five, { members })
  const spec = clusterSpec('s1 s2 s3', { allow: { degraded: true, interruption: false } })
  assert.deepEqual(nextSteps(spec, observed), ['cordon s5'])
})

for (const [role, name] of [
  ['a server', 's4'],
  ['an agent', 'a1'],
] as const)
  test(`[D-02] ${role} of the cluster that this directory never declared stays, and a person is told how to go on`, () => {
    const observed = observedCluster(`s1 s2 s3 ${name}`)
    const decided = (isUnclaimed: boolean) => {
      const nodes = observed.nodes.map((node) =>
        isUnclaimed && node.name === name ? { ...node, unclaimed: true as const } : node,
      )
      return coordinate(SPEC, { ...observed, nodes }, NOW)
    }
    const { steps, holds } = decided(true)
    assert.deepEqual(steps, [])
    assert.deepEqual(
      holds.map(({ guard }) => guard),
      ['not-of-this-directory'],
    )
    assert.match(holds[0]?.allow ?? '', new RegExp(`list Cluster/homelab@${name} under deletes of an Approval`))
    assert.notDeepEqual(decided(false).steps, [], 'one that it did declare leaves')
  })

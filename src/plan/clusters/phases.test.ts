import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_REQUESTS, type ObservedCluster } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import {
  clusterSpec,
  HOUR,
  type kubeNode,
  MINUTE,
  member,
  NOW,
  type NodeTurn,
  observedCluster,
} from './testing/fixture.ts'

const SETTLED = { readySinceMs: NOW - 2 * HOUR, createdMs: NOW - 48 * HOUR }
const work = (purpose: 'upgrade' | 'configure' | 'restart' | 'replace' | 'remove' | 'remediate') =>
  ({ purpose, target: 'v2', sinceMs: NOW }) as unknown as NonNullable<(typeof kubeNode)['work']>

const NODES: readonly [string, NodeTurn, string][] = [
  ['as it should be', { kube: { ...SETTLED } }, 'Ready'],
  ['nobody knows whether it is Ready', { kube: { ...SETTLED, ready: 'unknown' } }, 'Unknown'],
  ['not Ready for long', { kube: { ...SETTLED, ready: 'no' } }, 'NotReady'],
  ['its machine is gone', { machine: { exists: 'no', power: 'off' } }, 'NoMachine'],
  ['it was changed a moment ago', { kube: { ...SETTLED, changedMs: NOW - MINUTE } }, 'Soaking'],
  ['under an upgrade', { kube: { ...SETTLED, work: work('upgrade') } }, 'Working'],
  ['under a restart', { kube: { ...SETTLED, work: work('restart') } }, 'Working'],
  ['on its way out', { kube: { ...SETTLED, work: work('replace') } }, 'Leaving'],
]

for (const [name, turn, phase] of NODES)
  test(`the phase of a node: ${name}`, () => {
    const observed = observedCluster('s1 s2 s3', { s2: turn })
    const { nodes } = coordinate(clusterSpec('s1 s2 s3'), observed, NOW)
    assert.equal(nodes.find((node) => node.name === 's2')?.phase, phase)
  })

test('a node without a machine is said in words', () => {
  const observed = observedCluster('s1 s2 s3', { s2: { machine: { exists: 'no', power: 'off' } } })
  const { nodes } = coordinate(clusterSpec('s1 s2 s3'), observed, NOW)
  assert.equal(nodes.find((node) => node.name === 's2')?.message, 'its machine does not exist')
})

test('a server whose K3s dies at each start says of what, also while the API does not answer', () => {
  const k3s = {
    service: 'starting',
    failure: 'bootstrap data already found and encrypted with different token',
  } as const
  const said = (turn: NodeTurn, more: Partial<ObservedCluster> = {}) => {
    const { nodes } = coordinate(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', { s2: turn }, more), NOW)
    const row = nodes.find(({ name }) => name === 's2')
    return [row?.phase, row?.message]
  }
  const words = `K3s does not start: ${k3s.failure}`
  const silent = {
    ...SETTLED,
    ready: 'no',
    readyReason: 'NodeStatusUnknown',
    readyMessage: 'Kubelet stopped.',
  } as const
  assert.deepEqual(said({ kube: silent, k3s }), ['NotReady', words])
  assert.deepEqual(said({ kube: 'unknown', k3s }, { api: 'no', members: 'unknown' }), ['Unknown', words])
})

test('only a node that gets another release makes its cluster Upgrading, and each work has its words', () => {
  const under = (purpose: Parameters<typeof work>[0]) => {
    const observed = observedCluster('s1 s2 s3', { s2: { kube: { ...SETTLED, work: work(purpose) } } })
    const { phase, nodes } = coordinate(clusterSpec('s1 s2 s3'), observed, NOW)
    return `${phase}: ${nodes[1]?.message}`
  }
  assert.equal(under('upgrade'), 'Upgrading: upgrade to v2')
  assert.equal(under('restart'), 'Changing: its machine is restarted for v2')
  assert.equal(under('configure'), 'Changing: restarted with changed settings')
})

test('a cluster that stands still says whether a person ordered it or nobody can look at it', () => {
  const held = (hold: NonNullable<typeof NO_REQUESTS.hold>) => {
    const requests = { ...NO_REQUESTS, hold }
    const { phase, holds, steps } = coordinate(clusterSpec('s1'), observedCluster('s1', {}, { requests }), NOW)
    return [phase, ...holds.map(({ guard }) => guard), ...steps]
  }
  assert.deepEqual(held({ reason: 'r', allow: 'a' }), ['Blocked', 'request'])
  assert.deepEqual(held({ guard: 'not-seen', reason: 'r', allow: 'a' }), ['Blocked', 'not-seen'])
  assert.deepEqual(held({ reason: 'r', allow: 'a', power: 'off' }), ['Off'])
  assert.deepEqual(held({ reason: 'r', allow: 'a', power: 'changing' }), ['Changing', 'request'])
  const operation = { name: 'restore', verb: 'stop-k3s', summary: 's', sinceMs: NOW - MINUTE } as const
  assert.deepEqual(held({ reason: 'r', allow: 'a', operation }), ['Changing', 'request'])
  const stuck = { ...operation, sinceMs: NOW - HOUR }
  assert.deepEqual(held({ reason: 'r', allow: 'a', operation: stuck }), ['Blocked', 'request'])
})

test('under a restore a node is what the restore does to it', () => {
  const operation = {
    name: 'restore of c',
    verb: 'stop-k3s',
    node: 's1',
    summary: 'stop K3s on s1',
    sinceMs: NOW,
  } as const
  const requests = { ...NO_REQUESTS, hold: { reason: 'r', allow: 'a', operation } }
  const stopped = { k3s: { service: 'stopped' }, kube: 'unknown' } as const
  const observed = observedCluster(
    's1 s2 s3',
    { s1: stopped, s2: stopped, s3: { kube: 'unknown' } },
    { api: 'no', members: 'unknown', requests },
  )
  assert.deepEqual(
    coordinate(clusterSpec('s1 s2 s3'), observed, NOW).nodes.map(({ phase, message }) => `${phase}: ${message}`),
    ['Working: stop K3s on s1', 'Waiting: K3s is stopped until its turn comes', 'Waiting: restore of c'],
  )
})

test('the phase of a server whose etcd member is not as it should be', () => {
  const phaseWith = (more: Parameters<typeof member>[1]) => {
    const members = [member('s1'), member('s2', more), member('s3')]
    const { nodes } = coordinate(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', {}, { members }), NOW)
    return nodes.find((node) => node.name === 's2')?.phase
  }
  assert.equal(phaseWith({}), 'Ready')
  assert.equal(phaseWith({ learner: true }), 'Learner')
  assert.equal(phaseWith({ up: 'no' }), 'NotReady')
  assert.equal(phaseWith({ up: 'unknown' }), 'Unknown')
})

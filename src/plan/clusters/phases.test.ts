import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_REQUESTS } from '../../model/observed-cluster.ts'
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

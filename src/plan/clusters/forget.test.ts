import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EtcdMember, ObservedCluster, ObservedNode } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { standingForgets } from './forget.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, type NodeTurn, observedCluster } from './testing/fixture.ts'

/** s4 left Git, was cordoned for it, and has not been Ready for two days. Croft does not reach it in this look. */
function decided(readyReason: string, unheardMs?: number) {
  const work = { purpose: 'remove', target: 'remove', sinceMs: NOW - HOUR, cordoned: true } as const
  const kube = { ready: 'no', readyReason, readySinceMs: NOW - 48 * HOUR, unschedulable: true, work } as const
  const machine = { ours: false, power: 'unknown' } as const
  const members = [...['s1', 's2', 's3'].map((name) => member(name)), member('s4', { up: 'unknown' })]
  const observed = observedCluster('s1 s2 s3 s4', { s4: { kube, machine, k3s: 'unknown' } }, { members })
  const heard = (node: ObservedNode) => (node.name === 's4' && unheardMs !== undefined ? { ...node, unheardMs } : node)
  const { steps, holds } = coordinate(clusterSpec('s1 s2 s3'), { ...observed, nodes: observed.nodes.map(heard) }, NOW)
  return [
    ...steps.map(({ verb, reason }) => `${verb}: ${reason}`),
    ...holds.map(({ guard, allow }) => `${guard}: ${allow}`),
  ]
}

test('a server out of Git is dead after a day of silence, not after a day of being unwell', () => {
  assert.deepEqual(decided('NodeStatusUnknown'), [
    'remove-member: s4 is no longer declared; it has been silent for 48 h',
  ])
  const [held, ...more] = decided('KubeletNotReady')
  assert.match(held ?? '', /^unreachable: .*croft cluster forget homelab s4$/)
  assert.deepEqual(more, [])
})

test('a server whose machine answered croft a minute ago is not silent for as long as its kubelet is', () => {
  assert.match(decided('NodeStatusUnknown', MINUTE)[0] ?? '', /^unreachable: .*takes it for dead at/)
  assert.match(decided('NodeStatusUnknown', 25 * HOUR)[0] ?? '', /silent for 25 h/)
})

test("a person's word that a server is dead holds for the member and the Node that were shown, until it is back", () => {
  const order = { node: 's3', atMs: NOW, member: 'm-s3', createdMs: NOW - 30 * 24 * HOUR }
  const stands = (
    up: EtcdMember['up'] | 'gone',
    kube: NonNullable<NodeTurn['kube']>,
    more: Partial<ObservedCluster> = {},
  ) => {
    const members = [member('s1'), member('s2'), ...(up === 'gone' ? [] : [member('s3', { up })])]
    return standingForgets([order], observedCluster('s1 s2 s3', { s3: { kube } }, { members, ...more })).length === 1
  }
  const notReady = { ready: 'no' } as const
  assert.equal(stands('unknown', notReady), true)
  assert.equal(stands('no', 'absent'), true, 'its member is left')
  assert.equal(stands('gone', notReady), true, 'its Node is left')
  assert.equal(stands('gone', 'absent'), false, 'it is gone')
  assert.equal(stands('gone', { ...notReady, createdMs: NOW }), false, 'another Node')
  assert.equal(stands('yes', notReady), false, 'its etcd is back')
  assert.equal(stands('unknown', {}), false, 'its Node is Ready')
  assert.equal(stands('yes', {}, { api: 'no' }), true, 'nobody can say')
  assert.equal(stands('yes', {}, { members: 'unknown' }), true, 'nobody can say')
})

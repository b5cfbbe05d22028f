import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedNode } from '../../model/observed-cluster.ts'
import { coordinate } from './coordinate.ts'
import { clusterSpec, HOUR, MINUTE, member, NOW, observedCluster } from './testing/fixture.ts'

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

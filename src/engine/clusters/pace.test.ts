import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterWait } from '../../model/cluster-decision.ts'
import type { ClusterLook } from '../../model/cluster-look.ts'
import { type KnownWaits, nextClusterLookMs } from './pace.ts'

function waiting(...waits: readonly ClusterWait[]): ClusterLook {
  return { declaration: { key: 'Cluster/a' }, decision: { steps: [], waits } } as unknown as ClusterLook
}

const forBoot: ClusterWait = { node: 's1', awaits: 's1 to boot', sinceMs: 0 }

test('a wait is looked at in steps of a fortieth of its age, never faster or slower than the limits', () => {
  const known: KnownWaits = new Map()
  const { shortestMs, longestMs } = LIMITS.clusterLook
  const paces = [0, 20_000, 40_000, 10_000_000].map((nowMs) => nextClusterLookMs([waiting(forBoot)], known, nowMs))
  assert.deepEqual(paces, [shortestMs, 500, 1000, longestMs])
})

test('another wait begins its own time, and one that is over is forgotten', () => {
  const known: KnownWaits = new Map()
  nextClusterLookMs([waiting(forBoot)], known, 0)
  const join: ClusterWait = { node: 's1', awaits: 's1 to join', sinceMs: 0 }
  assert.equal(nextClusterLookMs([waiting(join)], known, 60_000), LIMITS.clusterLook.shortestMs)
  assert.deepEqual([...known.keys()], ['Cluster/a s1 s1 to join'])
})

test('a settled cluster is looked at with the sweep', () => {
  assert.equal(nextClusterLookMs([waiting()], new Map(), 0), LIMITS.sweepIntervalMs)
})

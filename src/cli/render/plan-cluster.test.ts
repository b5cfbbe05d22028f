import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterLook } from '../../model/cluster-look.ts'
import { coordinate } from '../../plan/cluster/coordinate.ts'
import { clusterSpec, NOW, observedCluster } from '../../plan/cluster/testing/fixture.ts'
import { clusterCounts } from './plan-cluster.ts'

function look(version: string): ClusterLook {
  const spec = { ...clusterSpec('s1 s2 s3'), version }
  const observed = observedCluster('s1 s2 s3')
  return { declaration: { spec } as ClusterLook['declaration'], observed, decision: coordinate(spec, observed, NOW) }
}

test('what becomes of nodes is counted before it is done and after, and not where nothing is to be done', () => {
  const { version } = clusterSpec('s1')
  assert.equal(clusterCounts([look(version)]), '')
  const newer = look('v1.34.4+k3s1')
  assert.equal(clusterCounts([newer]), 'Nodes: 3 to change.')
  assert.equal(clusterCounts([newer], true), 'Nodes: 3 changed.')
})

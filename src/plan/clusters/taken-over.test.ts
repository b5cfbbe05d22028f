import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterPlan, ObservedCluster } from '../../model/observed-cluster.ts'
import { disruptionOf } from '../disruption.ts'
import { coordinate } from './coordinate.ts'
import { forecast } from './forecast.ts'
import { clusterSpec, NOW, observedCluster } from './testing/fixture.ts'

/** Nodes that another tool set up: no configuration hash of croft, their own config, traefik disabled. */
function foreign(names: string): ObservedCluster {
  const seen = observedCluster(names)
  const nodes = seen.nodes.map((node) => {
    if (typeof node.kube !== 'object' || typeof node.k3s !== 'object') return node
    const { configHash: _, ...kube } = node.kube
    const args = { ...kube.args, disable: ['traefik'] }
    return { ...node, kube: { ...kube, args }, k3s: { ...node.k3s, configured: false } }
  })
  return { ...seen, nodes }
}

function look(names: string, more: Partial<ClusterSpec>, observed = foreign(names)): ClusterPlan {
  const spec = { ...clusterSpec(names), ...more }
  const declaration = { spec, key: 'Cluster/home' } as ClusterPlan['declaration']
  return { declaration, observed, decision: coordinate(spec, observed, NOW) }
}

const NEWER = 'v1.34.4+k3s1'
const disruption = (cluster: ClusterPlan) => disruptionOf({ entries: [], notes: [], problems: [], clusters: [cluster] })

describe('[D-04] [D-06] nodes that stay as they were found', () => {
  test('what they have in common is said once, and not again as a warning', () => {
    const { decision } = look('s1 s2 s3', {})
    assert.equal(decision.holds.length, 1)
    const reason = decision.holds[0]?.reason ?? ''
    assert.match(reason, /s1, s2, s3 run with disable traefik, declared is nothing/)
    assert.equal(reason.split('disable traefik').length, 2, reason)
    assert.deepEqual(decision.warnings, [])
  })

  test('another release in Git changes none of them, disrupts nothing, and the cluster is not called Upgrading', () => {
    const cluster = look('s1 s2 s3 a1', { version: NEWER })
    assert.deepEqual(new Set(forecast(cluster).map(({ becomes }) => becomes)), new Set(['nothing']))
    assert.match(forecast(cluster)[0]?.text ?? '', /^stays on v1\.34\.3\+k3s1: croft did not set it up$/)
    assert.deepEqual([disruption(cluster).worst, disruption(cluster).items], ['none', []])
    assert.equal(cluster.decision.phase, 'Ready')
    assert.deepEqual(cluster.decision.steps, [])
  })

  test("by a person's word they change, and then the plan says how it disrupts", () => {
    const { allow } = clusterSpec('s1 s2 s3')
    const cluster = look('s1 s2 s3', { version: NEWER, allow: { ...allow, takeOver: true } })
    assert.deepEqual(new Set(forecast(cluster).map(({ becomes }) => becomes)), new Set(['changes']))
    assert.equal(disruption(cluster).worst, 'restart')
  })
})

test('[D-06] a restart of the only server of a cluster with SQLite stops its API, and takes no vote', () => {
  const observed = { ...observedCluster('s1 a1'), members: [] }
  const [item] = disruption(look('s1 a1', { version: NEWER }, observed)).items
  assert.equal(item?.worst, 'outage')
  assert.match(item?.text ?? '', /its API stops meanwhile/)
  assert.doesNotMatch(item?.text ?? '', /vote/)
})

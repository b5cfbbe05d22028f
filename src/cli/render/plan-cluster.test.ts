import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import { coordinate } from '../../plan/clusters/coordinate.ts'
import { clusterSpec, member, NOW, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { closingLine } from './plan.ts'
import { clusterCounts, renderClusterPlan } from './plan-cluster.ts'
import { PLAIN } from './text.ts'

function look(version: string): ClusterPlan {
  const spec = { ...clusterSpec('s1 s2 s3'), version }
  const observed = observedCluster('s1 s2 s3')
  return { declaration: { spec } as ClusterPlan['declaration'], observed, decision: coordinate(spec, observed, NOW) }
}

test('what becomes of nodes is counted before it is done and after, and not where nothing is to be done', () => {
  const { version } = clusterSpec('s1')
  assert.equal(clusterCounts([look(version)]), '')
  const newer = look('v1.34.4+k3s1')
  assert.equal(clusterCounts([newer]), 'Nodes: 3 to change.')
  assert.equal(clusterCounts([newer], true), 'Nodes: 3 changed.')
})

test('[R20-9] where a Cluster is all that is declared, a plan without changes says how it stands', () => {
  const spec = clusterSpec('s1 s2 s3')
  const declaration = {
    spec,
    key: 'Cluster/homelab',
    origin: { file: 'c.yaml', line: 1 },
  } as ClusterPlan['declaration']
  const plan = (observed: ClusterPlan['observed']) => ({
    entries: [],
    notes: [],
    problems: [],
    clusters: [{ declaration, observed, decision: coordinate(spec, observed, NOW) }],
  })
  assert.equal(closingLine(plan(observedCluster('s1 s2 s3')), PLAIN), 'No changes. Cluster/homelab is as declared.\n')
  const members = [member('s1'), member('s2'), member('s3', { up: 'unknown' })]
  assert.equal(
    closingLine(plan(observedCluster('s1 s2 s3', { s3: { k3s: 'unknown' } }, { members })), PLAIN),
    'No changes. Cluster/homelab is Degraded: s3 is Unknown (its etcd member has not been seen to be up).\n',
  )
  assert.equal(
    closingLine({ entries: [], notes: [], problems: [] }, PLAIN),
    'No changes. Nothing is declared and nothing is left over.\n',
  )
})

test('what is held or refused of a cluster is counted in the last line of a plan', () => {
  const spec = clusterSpec('s1 s2 s3')
  const declaration = {
    spec,
    key: 'Cluster/homelab',
    origin: { file: 'c.yaml', line: 1 },
  } as ClusterPlan['declaration']
  const observed = observedCluster('s1 s2 s3')
  const objection = { guard: 'taken-over', reason: 'it runs otherwise', allow: 'write it into Git' }
  const line = (more: Partial<ClusterPlan['decision']>) => {
    const decision = { ...coordinate(spec, observed, NOW), ...more }
    return closingLine({ entries: [], notes: [], problems: [], clusters: [{ declaration, observed, decision }] }, PLAIN)
  }
  assert.match(line({ holds: [objection] }), /^Plan: 0 to add, 0 to change, 0 to destroy, 1 held\./)
  assert.match(line({ refusals: [objection] }), /^Plan: 0 to add, 0 to change, 0 to destroy, 1 refused\./)
})

test('a plan says what the declared servers survive, and not while their majority is lost', () => {
  const spec = clusterSpec('s1 s2 s3')
  const declaration = {
    spec,
    key: 'Cluster/homelab',
    origin: { file: 'c.yaml', line: 1 },
  } as ClusterPlan['declaration']
  const shown = (observed: ClusterPlan['observed'], more: Partial<ClusterPlan['decision']> = {}) => {
    const decision = { ...coordinate(spec, observed, NOW), warnings: ['a warning'], ...more }
    return renderClusterPlan({ declaration, observed, decision }, PLAIN)
  }
  const whole = observedCluster('s1 s2 s3')
  const objection = { guard: 'taken-over', reason: 'it runs otherwise', allow: 'write it into Git' }
  assert.match(shown(whole, { holds: [objection] }), /fault tolerance 1: the API survives the loss of one/)
  const up = (name: string, is: 'yes' | 'no') => member(name, { up: is })
  const short = observedCluster('s1 s2 s3', {}, { members: [up('s1', 'yes'), up('s2', 'no'), up('s3', 'no')] })
  assert.doesNotMatch(shown(short, { holds: [objection], phase: 'QuorumLost' }), /fault tolerance/)
  const off = { machine: { exists: 'yes', power: 'off' } } as const
  const unseen = observedCluster('s1 s2 s3', { s2: off, s3: off }, { members: 'unknown', api: 'no' })
  const text = shown(unseen)
  assert.match(text, /held \[quorum-lost\]: 2 of 3 servers are off \(s2, s3\) and etcd needs 2 that run/)
  assert.doesNotMatch(text, /fault tolerance/)
})

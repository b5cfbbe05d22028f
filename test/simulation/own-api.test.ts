import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { find } from '../../sim/kubernetes/store.ts'
import { etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'own-api.test.ts'
const PAGE = readFileSync(new URL('../../docs/own-api.md', import.meta.url), 'utf8')
const BLOCKS = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => `---\n${text}`)
const [GRAPH = '', NODE = ''] = BLOCKS

const cluster = (agents: string) => clusterManifest({ servers: ['s1'], spec: `  allow: {degraded: true}\n${agents}` })
const APPROVAL = `---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: node}
spec: {reason: the node goes, deletes: [Machine/agent-1], expires: "2030-01-01T00:00:00Z"}
`

test('the K3sNode of the page: made, joined, deployed, and taken away in reverse', async () => {
  const hint = replay(FILE, 1)
  const joined = cluster('  agents: [{machine: Machine/agent-1}]\n')
  const run = simulateCluster({ seed: 1, estate: clusterEstate(joined + GRAPH + NODE) })
  const story: string[] = []
  const look = () => {
    const etcd = etcdOf(run, hint)
    const machine = [...run.datacentre.world.guests.values()].some(({ config }) => config.get('name') === 'agent-1')
    const map = etcd === undefined ? undefined : find(etcd.store, '/configmaps', 'default', 'facts-agent-1')
    const node = etcd !== undefined && nodesOf(etcd).some(({ metadata }) => metadata.name === 'agent-1')
    const now = [machine ? 'machine' : '', map === undefined ? '' : 'facts', node ? 'node' : '']
      .filter(Boolean)
      .join(' ')
    if (story.at(-1) !== now) story.push(now)
  }
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000, onPass: look }), 'settled', hint)
  assert.equal(story.at(-1), 'machine facts node', story.join(', '))
  assert.ok(!story.includes('facts'), story.join(', '))
  const etcd = etcdOf(run, hint)
  assert.ok(etcd)
  assert.deepEqual(find(etcd.store, '/configmaps', 'default', 'facts-agent-1')?.data, { zone: 'attic' })
  story.length = 0
  run.estate = clusterEstate(cluster('') + GRAPH + APPROVAL)
  assert.equal(await run.untilSettled(run.start(), { mostMs: 3_600_000, onPass: look }), 'settled', hint)
  assert.equal(story.at(-1), '', story.join(', '))
  const gone = (what: string) => story.findIndex((line) => !line.includes(what))
  assert.ok(gone('facts') < gone('machine'), story.join(', '))
})

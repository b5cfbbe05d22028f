import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { Plan, PlanEntry } from '../../model/plan.ts'
import { clusterSpec, observedCluster } from '../../plan/clusters/testing/fixture.ts'
import { planMarkdown } from './plan-markdown.ts'

const entry = (key: string, action: PlanEntry['action']): PlanEntry => ({
  key,
  uid: key,
  connection: 'c',
  type: 'vm',
  action,
})
const update = (to: number): PlanEntry['action'] => ({
  do: 'update',
  externalId: '1',
  reason: 'memory differ',
  steps: [],
  changes: [
    { path: 'memory', from: 1024, to, effect: 'restart' },
    { path: 'password', from: 'canary', to: 'canary2', effect: 'live', secret: true },
  ],
})
const plan = (...entries: readonly PlanEntry[]): Plan => ({ entries, notes: [], problems: [] })

test('a pull request is told what it changes, not what waits anyway, without secrets and without markup of others', () => {
  const base = plan(
    entry('Machine/a', { do: 'nothing' }),
    entry('Machine/b', update(2048)),
    entry('Machine/c', update(2048)),
  )
  const evil: PlanEntry['action'] = {
    do: 'hold',
    guard: 'g',
    reason: 'a|b <script> @anna `x`',
    allow: '',
    held: { do: 'delete', externalId: '9', host: 'h', steps: [] },
  }
  const head = plan(entry('Machine/a', update(4096)), entry('Machine/b', update(2048)), entry('Machine/d', evil))
  const text = planMarkdown(base, head, { base: 'main', head: 'pr' })
  assert.match(text, /^<!-- croft-plan -->\n### croft plan: main → pr\n/)
  assert.match(
    text,
    /\| ✏️ \| `Machine\/a` \| `memory` 1024 → 4096 \(restart\)<br>`password` \(sensitive value\) \(live\) \| memory differ \|/,
  )
  assert.match(text, /✋ held \| `Machine\/d` \| delete 9 \|/)
  assert.ok(!text.includes('canary') && !text.includes('<script') && !text.includes('@anna'), text)
  assert.ok(text.includes('a\\|b'))
  assert.match(text, /1 action waits whether or not this is merged/)
  assert.match(text, /No longer done after merging: `Machine\/c`/)
  assert.match(planMarkdown(base, base, { base: 'a', head: 'b' }), /Merging this changes nothing/)
})

test('what the outside system would refuse is told before it is merged', () => {
  const refused = { ...entry('Addon/a@ConfigMap/n/m', update(1)), preview: { changes: [], refused: 'others keep <x>' } }
  const text = planMarkdown(plan(), plan(refused), { base: 'main', head: 'topic' })
  assert.match(text, /would be refused: others keep &lt;x/)
})

test('what would come of a chart is told by its objects, or why it was not rendered', () => {
  const chart = (more: object) => ({
    ...entry('Addon/a@HelmChart.helm.cattle.io/kube-system/a', update(1)),
    preview: { changes: [], chart: { objects: [], total: 3, relabelled: 0, unsteady: [], ...more } },
  })
  const told = (more: object) => planMarkdown(plan(), plan(chart(more)), { base: 'main', head: 'topic' })
  const objects = [
    { id: 'Deployment.apps/a', becomes: 'changed', changes: [] },
    { id: 'Service/`|x`', becomes: 'removed', changes: [] },
  ]
  assert.match(
    told({ objects }),
    /the chart changes 1, removes 1 of 3 objects: ✏️`Deployment\.apps\/a`, 🗑️`Service\/'\\\|x'`/,
  )
  assert.match(
    told({ notRendered: { why: 'new-place', message: 'not rendered: <there>' } }),
    /<br>not rendered: &lt;there/,
  )
  assert.doesNotMatch(told({ notRendered: { why: 'no-helm', message: 'install it' } }), /install it/)
})

test('a cluster that a pull request upgrades is told node by node, and what would refuse it', () => {
  const ready = observedCluster('s1 s2 s3', {}, {})
  const look = (version: string, refused = '') => {
    const spec = clusterSpec('s1 s2 s3', { version })
    const refusals = refused === '' ? [] : [{ guard: 'upgrade', reason: refused, allow: 'one minor at a time' }]
    return {
      declaration: { key: 'Cluster/edge', name: 'edge', spec },
      observed: ready,
      decision: { steps: [], holds: [], waits: [], hops: [], refusals },
    } as unknown as ClusterPlan
  }
  const now = clusterSpec('s1 s2 s3').version
  const [, minor = '', rest = ''] = /^v1\.(\d+)\.(.*)$/.exec(now) ?? []
  const next = `v1.${Number(minor) + 1}.${rest}`
  const with_ = (one: ClusterPlan): Plan => ({ ...plan(), clusters: [one] })
  const text = planMarkdown(with_(look(now)), with_(look(next, 'too far')), { base: 'main', head: 'pr' })
  assert.match(text, /\| ✏️ \| `Cluster\/edge` \| server `s1` \| v1\S+ → v1\S+/)
  assert.match(text, /\*\*Disruption: restart\*\*\n\n- `Cluster\/edge` 3 nodes drained and restarted/)
  assert.match(text, /⛔ refused \| `Cluster\/edge` \| too far \| one minor at a time \|/)
  assert.match(
    planMarkdown(with_(look(next)), with_(look(next)), { base: 'a', head: 'b' }),
    /Merging this changes nothing/,
  )
})

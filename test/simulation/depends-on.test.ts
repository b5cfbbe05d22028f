import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'depends-on.test.ts'

function machine(name: string, more = ''): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec: {host: pumped-piglet, class: node, networks: [{network: lan}], ${more}}
`
}

const DB = machine('db', 'readyWhen: ["self.status.power == \\"running\\" && size(self.status.addresses) > 0"]')
const APP = machine('app', 'dependsOn: [Machine/db]')
const EDGE = machine('edge', 'dependsOn: [Machine/app, Machine/db]')

const APPROVAL = `---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all}
spec: {reason: the site closes, deletes: [Machine/db, Machine/app, Machine/edge], expires: "2030-01-01T00:00:00Z"}
`

type Run = ReturnType<typeof simulateCluster>

/** Names of machines in the order in which they came, or went. */
async function story(run: Run, hint: string, watched: readonly string[]) {
  const came: string[] = []
  const went: string[] = []
  let there = new Set<string>()
  const waits = new Set<string>()
  const end = await run.untilSettled(run.start(), {
    mostMs: 1_200_000,
    onPass: ({ plan }) => {
      const now = new Set([...run.datacentre.world.guests.values()].map(({ config }) => config.get('name') ?? ''))
      for (const name of watched) {
        if (now.has(name) && !there.has(name)) came.push(name)
        if (!now.has(name) && there.has(name)) went.push(name)
      }
      there = now
      for (const { key, action } of plan.entries) if (action.do === 'wait') waits.add(`${key}: ${action.message}`)
    },
  })
  assert.equal(end, 'settled', `${[...waits].join('\n')} ${hint}`)
  return { came, went, waits: [...waits] }
}

test('machines come in the order of dependsOn and go in reverse', async () => {
  const hint = replay(FILE, 1)
  const run = simulateCluster({ seed: 1, estate: clusterEstate(DB + APP + EDGE) })
  const names = ['app', 'db', 'edge']
  const { came, waits } = await story(run, hint, names)
  assert.deepEqual(came, ['db', 'app', 'edge'], hint)
  assert.ok(waits.includes('Machine/app: waits for Machine/db'), waits.join('\n'))
  assert.ok(waits.includes('Machine/edge: waits for Machine/app'), waits.join('\n'))
  run.estate = clusterEstate(APPROVAL)
  const { went, waits: later } = await story(run, hint, names)
  assert.deepEqual(went, ['edge', 'app', 'db'], hint)
  assert.ok(later.includes('Machine/db: waits until Machine/app, Machine/edge are gone'), later.join('\n'))
  assert.ok(later.includes('Machine/app: waits until Machine/edge is gone'), later.join('\n'))
})

test('what readyWhen does not allow is not Ready, says why, and holds up what depends on it', async () => {
  const hint = replay(FILE, 2)
  const never = machine('db', 'readyWhen: ["self.status.facts.imported == \\"yes\\""]')
  const run = simulateCluster({ seed: 2, estate: clusterEstate(never + APP) })
  await run.passes(run.start(), 40)
  const ready = run.disk.records.get('Machine/db')?.conditions.find(({ type }) => type === 'Ready')
  assert.equal(ready?.status, 'False', hint)
  assert.equal(ready?.reason, 'ReadyWhen', hint)
  assert.match(ready?.message ?? '', /self\.status\.facts\.imported/, hint)
  assert.ok(![...run.datacentre.world.guests.values()].some(({ config }) => config.get('name') === 'app'), hint)
  run.estate = clusterEstate(DB + APP)
  assert.deepEqual((await story(run, hint, ['app'])).came, ['app'], hint)
})

test('a cluster is formed after what it depends on, and a machine after the cluster is Ready', async () => {
  const hint = replay(FILE, 3)
  const cluster = clusterManifest({
    servers: ['s1'],
    spec: `  allow: {degraded: true}\n  dependsOn: [Machine/db]\n  readyWhen: ['self.status.state == "Ready"']\n`,
  })
  const run = simulateCluster({
    seed: 3,
    estate: clusterEstate(DB + cluster + machine('app', 'dependsOn: [Cluster/homelab]')),
  })
  const { came } = await story(run, hint, ['app', 'db', 's1'])
  assert.deepEqual(came, ['db', 's1', 'app'], hint)
  const ready = run.disk.records.get('Cluster/homelab')?.conditions.find(({ type }) => type === 'Ready')
  assert.equal(ready?.status, 'True', hint)
})

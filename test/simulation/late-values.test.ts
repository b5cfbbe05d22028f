import assert from 'node:assert/strict'
import { test } from 'node:test'
import { showWaiting } from '../../src/model/waiting.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'late-values.test.ts'

function graph(description: string): string {
  return `---
apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: pair}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Pair
    spec: {host: string}
  resources:
    - id: app
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.metadata.name}-app"}
        spec:
          host: \${schema.spec.host}
          class: node
          networks: [{network: lan}]
          description: "${description}"
    - id: db
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: "\${schema.metadata.name}-db"}
        spec: {host: "\${schema.spec.host}", class: node, networks: [{network: lan}]}
`
}

const INSTANCE = `---
apiVersion: kro.run/v1alpha1
kind: Pair
metadata: {name: shop}
spec: {host: pumped-piglet}
`
const BY_ADDRESS = graph(`database at \${db.status.addresses[0]}`)

const APPROVAL = `---
apiVersion: croft.dev/v1alpha1
kind: Approval
metadata: {name: all}
spec: {reason: the shop closes, deletes: [Machine/shop-db, Machine/shop-app], expires: "2030-01-01T00:00:00Z"}
`

type Run = ReturnType<typeof simulateCluster>

async function settle(run: Run, hint: string, process = run.start()) {
  const came: string[] = []
  const waits = new Set<string>()
  const end = await run.untilSettled(process, {
    mostMs: 1_200_000,
    onPass: ({ plan }) => {
      for (const { config } of run.datacentre.world.guests.values()) {
        const name = config.get('name')
        if (name !== undefined && !came.includes(name)) came.push(name)
      }
      for (const one of plan.waiting ?? []) waits.add(`${one.key}: ${showWaiting(one)}`)
    },
  })
  assert.equal(end, 'settled', hint)
  return { came, waits: [...waits] }
}

function notesOf(run: Run, name: string): string {
  const guest = [...run.datacentre.world.guests.values()].find(({ config }) => config.get('name') === name)
  return guest?.config.get('description') ?? ''
}

test('a machine with the address of another waits for it, says so, and is made when the address is known', async () => {
  const hint = replay(FILE, 1)
  const run = simulateCluster({ seed: 1, estate: clusterEstate(BY_ADDRESS + INSTANCE) })
  const { came, waits } = await settle(run, hint)
  assert.deepEqual(came, ['shop-db', 'shop-app'], hint)
  const said = `Machine/shop-app: spec.description = \${db.status.addresses[0]} is known after Machine/shop-db is ready`
  assert.deepEqual(waits, [said, `${said} (field not found: addresses)`], hint)
  const address = run.disk.records.get('Machine/shop-db')?.details?.addresses?.split(',')[0] ?? 'none'
  assert.ok(notesOf(run, 'shop-app').includes(`database at ${address}`), notesOf(run, 'shop-app'))
})

test('another process finds the values again and changes nothing', async () => {
  const hint = replay(FILE, 2)
  const run = simulateCluster({ seed: 2, estate: clusterEstate(BY_ADDRESS + INSTANCE) })
  await settle(run, hint)
  const before = [...run.datacentre.world.guests.keys()]
  const effects: number[] = []
  await run.untilSettled(run.start(), { mostMs: 600_000, onPass: (report) => void effects.push(report.effects) })
  assert.deepEqual([...run.datacentre.world.guests.keys()], before, hint)
  assert.equal(
    effects.reduce((sum, one) => sum + one, 0),
    0,
    hint,
  )
})

test('a value that nobody will ever know leaves the rest settled and keeps what was made before', async () => {
  const hint = replay(FILE, 3)
  const run = simulateCluster({ seed: 3, estate: clusterEstate(BY_ADDRESS + INSTANCE) })
  await settle(run, hint)
  run.estate = clusterEstate(graph(`\${db.status.facts.nothing}`) + INSTANCE)
  const { came, waits } = await settle(run, hint)
  assert.deepEqual([...came].sort(), ['shop-app', 'shop-db'], hint)
  assert.equal(waits.length, 1, hint)
  assert.match(waits[0] ?? '', /^Machine\/shop-app: .*db\.status\.facts\.nothing/, hint)
  assert.ok(notesOf(run, 'shop-app').includes('database at'), hint)
})

test('what waited goes with its instance, in reverse', async () => {
  const hint = replay(FILE, 4)
  const run = simulateCluster({ seed: 4, estate: clusterEstate(BY_ADDRESS + INSTANCE) })
  await settle(run, hint)
  run.estate = clusterEstate(BY_ADDRESS + APPROVAL)
  await settle(run, hint)
  assert.deepEqual(
    [...run.datacentre.world.guests.values()].map(({ config }) => config.get('name')),
    [],
    hint,
  )
})

test('a value of an object of the cluster that croft runs is read there, and the controller goes on', async () => {
  const hint = replay(FILE, 5)
  const reading = graph(`space \${space.metadata.name}`)
    .replace('metadata: {name: pair}', 'metadata: {name: pair, annotations: {croft.dev/cluster: homelab}}')
    .replace(
      '  resources:\n',
      '  resources:\n    - id: space\n      externalRef: {apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}\n',
    )
  const run = simulateCluster({
    seed: 5,
    estate: clusterEstate(
      `${clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' })}${reading}${INSTANCE}`,
    ),
  })
  await settle(run, hint)
  assert.ok(notesOf(run, 'shop-app').includes('space kube-system'), hint)
})

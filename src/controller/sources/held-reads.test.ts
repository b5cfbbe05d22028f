import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { createVirtualClock } from '../../../sim/virtual-clock.ts'
import type { Driver, Session } from '../../drivers/port.ts'
import { createEngine } from '../../engine/create.ts'
import { boxCluster } from '../../kinds/cluster/testing/box-cluster.ts'
import type { KubernetesClient } from '../../kubernetes/client.ts'
import { EVERYWHERE } from '../../lib/egress.ts'
import { seededRandom } from '../../lib/random.ts'
import { type Connection, changedEstate, type Estate } from '../../model/estate.ts'
import { type Grant, NOTHING_GRANTED } from '../../model/grant.ts'
import { Secret } from '../../model/secret.ts'
import { showWaiting } from '../../model/waiting.ts'
import { withFetched } from '../../source/files/fetched.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { linkRevision } from './link-revision.ts'
import { mergeRevisions } from './merge.ts'

/* The objects of clusters that a source reads are limited by its grant, under the names as filled in. */

const SRC = path.join(import.meta.dirname, '../..')

const OTHERS = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: prod}
spec: {type: existing, inCluster: true}
`
const grant: Grant = {
  ...NOTHING_GRANTED,
  source: 'lab',
  kinds: ['Machine', 'Addon', 'Cluster'],
  names: ['lab-*'],
  connections: ['cluster/prod'],
}

const at = (expression: string) => `"\${${expression}}"`

interface Reference {
  readonly apiVersion?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
}

/** A graph that writes a value of an object of `cluster` into a machine. */
function reader(cluster: string, reference: Reference, more = ''): string {
  const { apiVersion = 'v1', kind = 'ConfigMap', name = 'platform', namespace = 'system' } = reference
  return `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: peek, annotations: {croft.dev/cluster: ${cluster}}}
spec:
  schema:
    apiVersion: v1alpha1
    kind: Peek
    spec: {apiVersion: string | default="v1", kind: string | default="ConfigMap", name: string | default="platform", namespace: string | default="system"}
  resources:
    - id: it
      externalRef: {apiVersion: ${apiVersion}, kind: ${kind}, metadata: {name: ${name}, namespace: ${namespace}}}
    - id: vm
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: lab-vm}
        spec: {host: h1, class: small, networks: [{network: lan}], description: ${at('it.data.region')}}
${more}---
apiVersion: kro.run/v1alpha1
kind: Peek
metadata: {name: toys}
spec: SPEC
`
}

const instance = (text: string, spec = '{}') => text.replace('SPEC', spec)

function estateOf(text: string, held: Grant | null = grant, admin = OTHERS): Estate {
  const lab = {
    source: 'lab',
    revision: readTexts({ 'lab.yaml': text }),
    ...(held === null ? {} : { grant: held }),
  }
  return linkRevision(mergeRevisions([lab, { source: 'admin', revision: readTexts({ 'admin.yaml': admin }) }]))
}

const errorsOf = ({ problems }: Estate) =>
  problems.filter(({ severity }) => severity === 'error').map(({ origin, message }) => `${origin.file}: ${message}`)

const notGranted = (estate: Estate) => errorsOf(estate).filter((one) => one.includes('is not granted'))

/** Returns the paths that an engine reads from each cluster to plan this estate. */
async function asked(estate: Estate, object: object = { data: { region: 'attic' } }, fail = () => {}) {
  const clock = createVirtualClock(1_000_000)
  const paths: string[] = []
  const get = async (path: string) => {
    const kinds = [
      { kind: 'ConfigMap', name: 'configmaps', namespaced: true },
      { kind: 'Secret', name: 'secrets', namespaced: true },
    ]
    if (/^\/apis?\/[^/]+(?:\/v1)?$/.test(path)) return { is: 'answer', value: { resources: kinds } }
    paths.push(path)
    fail()
    return { is: 'answer', value: object }
  }
  const session = { survey: async () => surveyOf(), close: async () => {} } as unknown as Session
  const driver = (name: string): Driver =>
    ({ name, rules: { keeps: () => true }, connect: () => session }) as unknown as Driver
  const engine = createEngine({
    clock,
    random: seededRandom(1),
    store: createMemoryStore(),
    drivers: ['kubernetes', 'ssh', 'proxmox'].map(driver),
    driverDeps: {
      clock,
      random: seededRandom(1),
      openWire: () => assert.fail(),
      resolveSecret: async () => new Secret('x'),
      kubernetes: (_connection: Connection) => ({
        find: async () => ({ is: 'open' as const, client: { get } as unknown as KubernetesClient }),
        lost: () => {},
        close: async () => {},
      }),
    },
  })
  const bare = changedEstate(estate, (one) => ({ ...one, resources: [], clusters: [] }))
  const plan = await clock.runUntil(engine.plan(bare, new AbortController().signal))
  return {
    paths: [...new Set(paths)],
    waiting: (plan.waiting ?? []).map(showWaiting),
    notes: plan.notes.map(({ message }) => message),
  }
}

function surveyOf() {
  return { connection: 'cluster/prod', atMs: 0, hosts: [], storages: [], resources: [], tasks: [] }
}

const PATH = '/api/v1/namespaces/system/configmaps/platform'

test('the administrator reads an object of an existing cluster', async () => {
  const text = instance(reader('prod', {}))
  assert.deepEqual((await asked(estateOf(text, null))).paths, [PATH])
})

test('a source reads objects of its own cluster, and no other source does', () => {
  const [own = '', host = ''] = boxCluster('lab-c').split('---\n')
  const held = { ...grant, hosts: ['cow'], hostAccess: true, connections: [] }
  const text = (cluster: string) => `${instance(reader(cluster, {}))}---\n${own}`
  assert.deepEqual(notGranted(estateOf(text('lab-c'), held, `${OTHERS}---\n${host}`)), [])
  assert.equal(notGranted(estateOf(text('home'), held, `${OTHERS}---\n${boxCluster('home')}`)).length, 1)
})

test('a source reads objects of a cluster for which it may declare add-ons', async () => {
  assert.deepEqual(notGranted(estateOf(instance(reader('prod', {})))), [])
  assert.deepEqual((await asked(estateOf(instance(reader('prod', {}))))).paths, [PATH])
})

const REFUSED: readonly (readonly [what: string, text: string, held: Grant, message: RegExp])[] = [
  [
    'of a cluster that is not granted to it',
    instance(reader('prod', {})),
    { ...grant, connections: ['cluster/other'] },
    /^lab:lab\.yaml: Peek\/toys: ConfigMap system\/platform of cluster prod is not granted to the source lab$/,
  ],
  [
    'where every connection is granted, and add-ons are not',
    instance(reader('prod', {})),
    { ...grant, kinds: ['Machine'], connections: ['*'] },
    /is not granted to the source lab/,
  ],
  [
    'of a cluster that the instance names',
    instance(reader('other', {})).replace('name: toys', 'name: toys, annotations: {croft.dev/cluster: prod}'),
    { ...grant, connections: ['cluster/other'] },
    /of cluster prod is not granted to the source lab/,
  ],
]

for (const [what, text, held, message] of REFUSED)
  test(`a source reads nothing ${what}, and is told so at its line`, async () => {
    const estate = estateOf(text, held)
    assert.match(errorsOf(estate).join('\n'), message)
    assert.deepEqual((await asked(estate)).paths, [])
  })

const SECRETS: readonly (readonly [what: string, reference: Reference, spec: string])[] = [
  ['a kind that is filled in', { kind: at('schema.spec.kind') }, '{kind: Secret}'],
  [
    'a version that is filled in',
    { apiVersion: at('schema.spec.apiVersion'), kind: at('schema.spec.kind') },
    '{kind: Secret}',
  ],
  ['a kind that is put together', { kind: at("'Sec' + 'ret'") }, '{}'],
  ['a version that leads elsewhere', { apiVersion: '"../api/v1"', kind: 'Secret' }, '{}'],
  ['a name that leads elsewhere', { name: at('schema.spec.name') }, '{name: "../../secrets/x"}'],
  ['a name of two dots', { name: '".."' }, '{}'],
  ['a namespace that leads elsewhere', { namespace: at('schema.spec.namespace') }, '{namespace: "a/secrets"}'],
]

for (const [what, reference, spec] of SECRETS)
  for (const held of [null, grant])
    test(`the values of a Secret are not read through ${what} (${held === null ? 'no grant' : 'a grant'})`, async () => {
      const estate = estateOf(instance(reader('prod', reference), spec), held)
      assert.equal(errorsOf(estate).length, 1, errorsOf(estate).join('\n'))
      assert.match(errorsOf(estate).join('\n'), /values of a Secret are not read|is no (?:name|version|namespace)/)
      assert.deepEqual((await asked(estate)).paths, [])
    })

const FOREIGN = `---
apiVersion: v1
kind: ConfigMap
metadata: {name: platform, namespace: system}
data: {region: attic}
`

test('what was seen of the things of another source is no value for this one', () => {
  const graph = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata: {name: peek, annotations: {croft.dev/cluster: prod}}
spec:
  schema: {apiVersion: v1alpha1, kind: Peek, spec: {}}
  resources:
    - id: vm
      template:
        apiVersion: croft.dev/v1alpha1
        kind: Machine
        metadata: {name: NAME}
        spec: {host: h1, class: small, networks: [{network: lan}]}
    - id: facts
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: facts, namespace: default}
        data: {host: ${at('vm.status.host')}}
---
apiVersion: kro.run/v1alpha1
kind: Peek
metadata: {name: lab-toys}
spec: {}
`
  const seen = (name: string, source?: string, admin = OTHERS) =>
    estateOf(graph.replace('NAME', name), grant, admin).later?.settle(
      new Map([[`Machine/${name}`, { status: { host: 'h7' }, ...(source === undefined ? {} : { source }) }]]),
    )
  const same = `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: lab-vm}
spec: {host: h1, class: small, networks: [{network: lan}]}
`
  const waits = (estate: Estate | undefined) => (estate?.later?.waiting ?? []).map(({ field }) => field)
  assert.deepEqual(waits(seen('lab-vm', 'lab')), [])
  assert.deepEqual(waits(seen('lab-vm', undefined, OTHERS + same)), ['data.host'])
  assert.deepEqual(waits(seen('db')), ['data.host'])
})

test('an object among the files of the source itself is read from there, and no cluster is asked', async () => {
  const estate = estateOf(instance(reader('prod', {})) + FOREIGN, { ...grant, connections: [] })
  assert.deepEqual(notGranted(estate), [])
  assert.deepEqual((await asked(estate)).paths, [])
})

test('a cluster that croft runs is read like any other', async () => {
  const estate = estateOf(instance(reader('home', {})), null, boxCluster('home'))
  assert.deepEqual(notGranted(estate), [])
  assert.deepEqual((await asked(estate)).paths, [PATH])
})

test('an object that croft fails on costs its own values, and the plan says why', async () => {
  const { notes } = await asked(estateOf(instance(reader('prod', {})), null), undefined, () => {
    throw new TypeError('planted')
  })
  assert.match(notes.join(), /croft failed while it read ConfigMap platform: TypeError: planted/)
})

test('a command fetches nothing for a source with a grant when it puts the sources of a configuration together', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const addon = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: ${name}}
spec: {cluster: prod, url: {url: "https://127.0.0.1:${port}/${name}.yaml", sha256: ${'a'.repeat(64)}}}
`
  const texts = (name: string) => readTexts({ 'a.yaml': addon(name) })
  const merged = (held: Grant | null) =>
    mergeRevisions([
      { source: 'lab', revision: texts('lab-web'), ...(held === null ? {} : { grant: held }) },
      { source: 'admin', revision: readTexts({ 'admin.yaml': OTHERS }) },
    ])
  await withFetched(merged(grant), { fetched: new Map(), egress: EVERYWHERE })
  assert.equal(connections, 0)
  await withFetched(merged(null), { fetched: new Map(), egress: EVERYWHERE })
  assert.ok(connections > 0)
  await new Promise((done) => server.close(done))
})

test('nothing but the gate makes a reference that may be read', () => {
  const made = globSync('**/*.ts', { cwd: SRC }).filter(
    (file) =>
      !file.endsWith('.test.ts') &&
      /\bas (?:unknown as )?PermittedRead\b/.test(readFileSync(path.join(SRC, file), 'utf8')),
  )
  assert.deepEqual(made, [path.join('model', 'foreign-object.ts')])
})

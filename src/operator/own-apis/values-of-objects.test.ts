import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Foreign, recordsOf } from '../../kubernetes/objects.ts'
import { type NamespaceGrants, readGrants } from '../grants.ts'
import { conditionOf, createGround, type Ground, VMS } from '../testing/harness.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const GRAPHS = '/apis/kro.run/v1alpha1/resourcegraphdefinitions'
const nodesIn = (namespace: string) => `/apis/kro.run/v1alpha1/namespaces/${namespace}/taggednodes`
const NAMESPACED = 'virtualenvironmentvm.proxmoxbpg.m.crossplane.io'
const vmsIn = (namespace: string) => `/apis/${NAMESPACED}/v1alpha1/namespaces/${namespace}/environmentvms`

/** An expression of a template. */
const cel = (expression: string) => `\${${expression}}`

async function define(ground: Ground, group: string, plural: string, kind: string, scope: string) {
  await ground.call('POST', DEFINITIONS, {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
    },
  })
  await ground.pass(2_000)
}

const vmTemplate = (group: string, description: string) => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'EnvironmentVM',
  metadata: { name: cel('schema.metadata.name') },
  spec: {
    ...(group === NAMESPACED ? {} : { deletionPolicy: 'Delete' }),
    providerConfigRef: { name: 'default', ...(group === NAMESPACED ? { kind: 'ProviderConfig' } : {}) },
    forProvider: {
      nodeName: 'fun-bedbug',
      name: cel('schema.metadata.name'),
      description,
      started: false,
      cpu: [{ cores: 1 }],
      memory: [{ dedicated: 512 }],
    },
  },
})

const pool = {
  id: 'pool',
  template: {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'ProxmoxPool',
    metadata: { name: `${cel('schema.metadata.name')}-pool` },
    spec: { connection: 'default' },
  },
}

const graph = (...resources: readonly object[]) => ({
  metadata: { name: 'taggednode' },
  spec: { schema: { apiVersion: 'v1alpha1', kind: 'TaggedNode', spec: {} }, resources },
})

async function groundWithGraphs(): Promise<Ground> {
  const ground = await createGround()
  await define(ground, 'kro.run', 'resourcegraphdefinitions', 'ResourceGraphDefinition', 'Cluster')
  return ground
}

const instance = (name: string) => ({ metadata: { name }, spec: {} })
const guests = (ground: Ground) => [...ground.datacentre.world.guests.values()].map(({ config }) => config.get('name'))
const messageOf = (object: Foreign | undefined, type: string) =>
  String(recordsOf(at(object, 'status', 'conditions')).find((one) => one.type === type)?.message)
const PLAIN = VMS.split('/')[2] ?? ''

test('an object that takes the status of another is made when that is there, and follows it', async () => {
  const ground = await groundWithGraphs()
  await ground.call(
    'POST',
    GRAPHS,
    graph({ id: 'vm', template: vmTemplate(PLAIN, `in ${cel('pool.status.externalId')}`) }, pool),
  )
  const operator = await ground.start({ ownApis: true })
  await ground.pass(30_000)
  await ground.call('POST', nodesIn('croft-system'), instance('agent-1'))
  let first: Foreign | undefined
  for (let tries = 0; tries < 60 && conditionOf(first, 'ResourcesReady') !== 'False Waiting'; tries++) {
    await ground.pass(50)
    first = await ground.get(`${nodesIn('croft-system')}/agent-1`)
  }
  assert.match(
    messageOf(first, 'ResourcesReady'),
    /EnvironmentVM\/agent-1: .*\$\{pool\.status\.externalId\} is known after ProxmoxPool\/agent-1-pool is ready/,
  )
  assert.equal(await ground.get(`${VMS}/agent-1`), undefined)
  await ground.pass(240_000)
  const live = await ground.get(`${nodesIn('croft-system')}/agent-1`)
  assert.equal(conditionOf(live, 'Ready'), 'True Available', JSON.stringify(live))
  assert.equal(at(await ground.get(`${VMS}/agent-1`), 'spec', 'forProvider', 'description'), 'in agent-1-pool')
  assert.ok(guests(ground).includes('agent-1'))
  ground.api.calls.length = 0
  await ground.pass(120_000)
  assert.deepEqual(
    ground.api.calls.filter((call) => !call.startsWith('GET ') && !call.includes('/leases/')),
    [],
    'nothing happens: nothing is written',
  )
  assert.deepEqual(operator.warnings, [])
  await operator.stop()
})

const CONFIG = '/api/v1/namespaces/croft-system/configmaps'
const platform = {
  id: 'platform',
  externalRef: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'platform' } },
}

test('externalRef waits for an object that somebody else makes, and its change is followed', async () => {
  const ground = await groundWithGraphs()
  await ground.call(
    'POST',
    GRAPHS,
    graph(platform, { id: 'vm', template: vmTemplate(PLAIN, cel('platform.data.site')) }),
  )
  const operator = await ground.start({ ownApis: true })
  await ground.call('POST', '/api/v1/namespaces', { metadata: { name: 'other' } })
  await ground.pass(30_000)
  await ground.call('POST', nodesIn('croft-system'), instance('agent-1'))
  await ground.pass(60_000)
  const first = await ground.get(`${nodesIn('croft-system')}/agent-1`)
  assert.match(
    messageOf(first, 'Ready'),
    /platform\.data\.site\} is known after ConfigMap\/croft-system\/platform is ready/,
  )
  assert.equal(await ground.get(`${VMS}/agent-1`), undefined)
  await ground.call('POST', CONFIG, { metadata: { name: 'platform' }, data: { site: 'attic' } })
  await ground.pass(240_000)
  const described = async () => at(await ground.get(`${VMS}/agent-1`), 'spec', 'forProvider', 'description')
  assert.equal(await described(), 'attic')
  await ground.call('PATCH', `${CONFIG}/platform`, { data: { site: 'cellar' } })
  await ground.pass(90_000)
  assert.equal(await described(), 'cellar')
  // Gone again: nothing is known, and nothing is taken away for that.
  await ground.call('DELETE', `${CONFIG}/platform`)
  await ground.pass(90_000)
  assert.equal(await described(), 'cellar')
  assert.ok(guests(ground).includes('agent-1'))
  assert.deepEqual(operator.warnings, [])
  await operator.stop()
})

function grants(): NamespaceGrants {
  const given = (vmids: string) =>
    `{kinds: [EnvironmentVM], connections: [default], hosts: [fun-bedbug], storages: [local-lvm], networks: [vmbr0], vmids: ${vmids}}`
  const text = `namespaces:\n  team-a: ${given('{from: 500, to: 519}')}\n  team-b: ${given('{from: 600, to: 619}')}\n`
  const read = readGrants(text, 'g', 'croft-system')
  return 'problems' in read ? assert.fail(JSON.stringify(read.problems)) : read
}

async function grantedGround(): Promise<Ground> {
  const ground = await groundWithGraphs()
  await define(ground, NAMESPACED, 'environmentvms', 'EnvironmentVM', 'Namespaced')
  for (const name of ['team-a', 'team-b', 'team-c'])
    await ground.call('POST', '/api/v1/namespaces', { metadata: { name } })
  return ground
}

test('[S-59] an instance in a granted namespace makes objects there that it owns, within the grant; elsewhere nothing is read', async () => {
  const ground = await grantedGround()
  await ground.call('POST', GRAPHS, graph({ id: 'vm', template: vmTemplate(NAMESPACED, 'a node') }))
  const operator = await ground.start({ ownApis: true, grants: grants() })
  await ground.pass(30_000)
  for (const [namespace, name] of [
    ['team-a', 'team-a-web'],
    ['team-b', 'stolen'],
    ['team-c', 'team-c-web'],
  ] as const)
    await ground.call('POST', nodesIn(namespace), instance(name))
  await ground.pass(240_000)
  const live = await ground.get(`${nodesIn('team-a')}/team-a-web`)
  assert.equal(conditionOf(live, 'Ready'), 'True Available', JSON.stringify(live))
  const made = await ground.get(`${vmsIn('team-a')}/team-a-web`)
  assert.equal(recordsOf(at(made, 'metadata', 'ownerReferences'))[0]?.uid, at(live, 'metadata', 'uid'))
  assert.ok(guests(ground).includes('team-a-web'))

  const refused = await ground.get(`${nodesIn('team-b')}/stolen`)
  assert.equal(conditionOf(refused, 'Synced'), 'False Refused')
  assert.match(messageOf(refused, 'Synced'), /the name stolen is not granted to the namespace team-b/)
  assert.equal(await ground.get(`${vmsIn('team-b')}/stolen`), undefined, 'nothing is made that would be refused')
  assert.equal((await ground.get(`${nodesIn('team-c')}/team-c-web`))?.status, undefined)

  // An object of another namespace that says it was made for the instance is not its own.
  const [owner] = recordsOf(at(made, 'metadata', 'ownerReferences'))
  await ground.call('POST', vmsIn('team-b'), {
    ...vmTemplate(NAMESPACED, 'mine'),
    metadata: { name: 'team-b-mine', labels: { 'kro.run/instance-id': owner?.uid } },
    spec: {
      ...vmTemplate(NAMESPACED, 'mine').spec,
      forProvider: { nodeName: 'fun-bedbug', name: 'team-b-mine', started: false },
    },
  })
  await ground.pass(60_000)
  await ground.call('DELETE', `${nodesIn('team-a')}/team-a-web`)
  await ground.pass(240_000)
  assert.equal(await ground.get(`${nodesIn('team-a')}/team-a-web`), undefined)
  assert.equal(await ground.get(`${vmsIn('team-a')}/team-a-web`), undefined)
  assert.ok(!guests(ground).includes('team-a-web'))
  const mine = await ground.get(`${vmsIn('team-b')}/team-b-mine`)
  assert.equal(at(mine, 'metadata', 'name'), 'team-b-mine')
  assert.equal(at(mine, 'metadata', 'deletionTimestamp'), undefined)
  assert.deepEqual(operator.warnings, [])
  await operator.stop()
})

test('[S-59] an instance in a granted namespace makes no kind that cannot be granted and reads no other namespace', async () => {
  const ground = await grantedGround()
  const elsewhere = {
    ...platform,
    externalRef: { ...platform.externalRef, metadata: { name: 'platform', namespace: 'croft-system' } },
  }
  await ground.call('POST', CONFIG, { metadata: { name: 'platform' }, data: { site: 'attic' } })
  await ground.call(
    'POST',
    GRAPHS,
    graph(elsewhere, { id: 'vm', template: vmTemplate(NAMESPACED, cel('platform.data.site')) }),
  )
  const operator = await ground.start({ ownApis: true, grants: grants() })
  await ground.pass(30_000)
  await ground.call('POST', nodesIn('team-a'), instance('team-a-web'))
  await ground.pass(60_000)
  const synced = async () => messageOf(await ground.get(`${nodesIn('team-a')}/team-a-web`), 'Synced')
  assert.match(
    await synced(),
    /the namespace team-a reads objects of its own namespace alone, not ConfigMap croft-system/,
  )
  const others: readonly (readonly [externalRef: object, expected: RegExp])[] = [
    [
      { apiVersion: 'v1', kind: cel("'Sec' + 'ret'"), metadata: { name: 'door' } },
      /the values of a Secret are not read/,
    ],
    [
      { apiVersion: 'kro.run/v1alpha1', kind: 'ResourceGraphDefinition', metadata: { name: 'taggednode' } },
      /ResourceGraphDefinition has no namespace: an instance in team-a reads objects of its own namespace alone/,
    ],
  ]
  for (const [externalRef, expected] of others) {
    const reading = graph(
      { id: 'platform', externalRef },
      { id: 'vm', template: vmTemplate(NAMESPACED, cel('string(platform.spec)')) },
    )
    await ground.call('PATCH', `${GRAPHS}/taggednode`, reading)
    await ground.pass(60_000)
    assert.match(await synced(), expected)
  }
  await ground.call('PATCH', `${GRAPHS}/taggednode`, graph(pool))
  await ground.pass(60_000)
  assert.match(await synced(), /ProxmoxPool is not granted to the namespace team-a/)
  assert.equal(await ground.get(`${vmsIn('team-a')}/team-a-web`), undefined)
  await operator.stop()
})

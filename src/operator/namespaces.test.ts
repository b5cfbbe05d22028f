import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { at, type Foreign, recordsOf } from '../kubernetes/objects.ts'
import type { ResourceRecord } from '../model/record.ts'
import { type NamespaceGrants, readGrants } from './grants.ts'
import { declaredObject } from './objects.ts'
import { createReader } from './revision.ts'
import { conditionOf, createGround, type Ground } from './testing/harness.ts'

const GROUP = 'virtualenvironmentvm.proxmoxbpg.m.crossplane.io'
const vmsIn = (namespace: string) => `/apis/${GROUP}/v1alpha1/namespaces/${namespace}/environmentvms`

const grant = (vmids: string, more = '') =>
  `{kinds: [EnvironmentVM], connections: [default], hosts: [fun-bedbug], storages: [local-lvm], networks: [vmbr0], vmids: ${vmids}${more}}`
const TWO: Readonly<Record<string, string>> = {
  'team-a': grant('{from: 500, to: 519}'),
  'team-b': grant('{from: 600, to: 619}', ', quota: {machines: 2}'),
}

function grantsOf(namespaces: Readonly<Record<string, string>>): NamespaceGrants {
  const text = Object.entries(namespaces).map(([name, given]) => `  ${name}: ${given}\n`)
  const read = readGrants(text.length === 0 ? 'namespaces: {}\n' : `namespaces:\n${text.join('')}`, 'g', 'croft-system')
  return 'problems' in read ? assert.fail(JSON.stringify(read.problems)) : read
}

async function groundWithNamespaces(): Promise<Ground> {
  const ground = await createGround()
  for (const name of ['team-a', 'team-b', 'team-c'])
    await ground.call('POST', '/api/v1/namespaces', { metadata: { name } })
  await ground.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: `environmentvms.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'environmentvms', kind: 'EnvironmentVM', singular: 'environmentvm' },
      versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
    },
  })
  await ground.pass(2_000)
  return ground
}

const vm = (name: string, forProvider: Foreign = {}, metadata: Foreign = {}) => ({
  metadata: { name, ...metadata },
  spec: {
    providerConfigRef: { name: 'default', kind: 'ProviderConfig' },
    forProvider: {
      nodeName: 'fun-bedbug',
      name,
      started: false,
      cpu: [{ cores: 1 }],
      memory: [{ dedicated: 512 }],
      ...forProvider,
    },
  },
})

const guests = (ground: Ground) =>
  [...ground.datacentre.world.guests.values()].map(({ config }) => config.get('name') ?? '')
const idOf = (ground: Ground, name: string) =>
  [...ground.datacentre.world.guests].find(([, { config }]) => config.get('name') === name)?.[0]
const messageOf = (object: Foreign | undefined, type = 'Synced') =>
  String(recordsOf(at(object, 'status', 'conditions')).find((one) => one.type === type)?.message)

test('[S-59] objects of a granted namespace are followed within its grant; those of a namespace without one are not read', async () => {
  const ground = await groundWithNamespaces()
  await ground.call('POST', vmsIn('team-a'), vm('team-a-web'))
  await ground.call('POST', vmsIn('team-c'), vm('team-c-web'))
  const operator = await ground.start({ grants: grantsOf(TWO) })
  await ground.pass(120_000)
  const made = await ground.get(`${vmsIn('team-a')}/team-a-web`)
  assert.equal(conditionOf(made, 'Ready'), 'True Available', JSON.stringify(made?.status))
  assert.ok(guests(ground).includes('team-a-web'))
  assert.match(String(idOf(ground, 'team-a-web')), /\b5[01]\d$/, 'an id of its range')
  const other = await ground.get(`${vmsIn('team-c')}/team-c-web`)
  assert.equal(other?.status, undefined)
  assert.ok(!ground.api.calls.some((call) => call.includes('team-c') && !call.startsWith('POST')))

  await ground.call('DELETE', `${vmsIn('team-a')}/team-a-web`)
  await ground.pass(120_000)
  assert.equal(await ground.get(`${vmsIn('team-a')}/team-a-web`), undefined)
  assert.ok(!guests(ground).includes('team-a-web'), 'what is its own goes')
  assert.deepEqual(operator.warnings, [])
  await operator.stop()
})

test('[S-59] what a namespace may not name is refused with what is missing, and nothing happens to a machine', async () => {
  const ground = await groundWithNamespaces()
  await ground.call('POST', vmsIn('team-a'), vm('team-a-db', { vmId: 500 }))
  for (const namespace of ['team-a', 'croft-system'])
    await ground.call('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'password' },
      data: { value: Buffer.from('correct horse').toString('base64') },
    })
  const operator = await ground.start({ grants: grantsOf(TWO) })
  await ground.pass(120_000)
  const id = idOf(ground, 'team-a-db')
  assert.ok(id !== undefined)
  const before = guests(ground)
  const account = (namespace?: string) => ({
    initialization: [
      {
        userAccount: [
          {
            username: 'u',
            passwordSecretRef: { name: 'password', key: 'value', ...(namespace === undefined ? {} : { namespace }) },
          },
        ],
      },
    ],
  })
  const cases: readonly (readonly [string, object, RegExp])[] = [
    [
      'its name',
      vm('team-a-evil'),
      /the name team-a-evil is not granted to the namespace team-b \(granted: team-b-\*\)/,
    ],
    [
      'its id',
      vm('team-b-id', { vmId: 500 }),
      /the id 500 is not granted to the namespace team-b \(granted: 600 to 619\)/,
    ],
    [
      'taking it over',
      vm('team-b-adopt', {}, { annotations: { 'crossplane.io/external-name': '500' } }),
      /the namespace team-b may not take over 500/,
    ],
    [
      'its host',
      vm('team-b-host', { nodeName: 'still-fawn' }),
      /the host still-fawn is not granted to the namespace team-b/,
    ],
    ['its disk', vm('team-b-clone', { clone: [{ vmId: 500 }] }), /the template 500 is not granted/],
    [
      'its Secret',
      vm('team-b-secret', account('team-a')),
      /the Secret password of the namespace team-a is not granted/,
    ],
    ['a Secret by the same name', vm('team-b-same', account()), /password/],
  ]
  for (const [, object] of cases) await ground.call('POST', vmsIn('team-b'), object)
  ground.api.calls.length = 0
  await ground.pass(120_000)
  for (const [what, object, expected] of cases) {
    const name = String(at(object, 'metadata', 'name'))
    const live = await ground.get(`${vmsIn('team-b')}/${name}`)
    assert.match(messageOf(live), expected, `${what}: ${JSON.stringify(live?.status)}`)
    assert.ok(!conditionOf(live, 'Synced')?.startsWith('True'), what)
  }
  assert.deepEqual(guests(ground).toSorted(), before.toSorted())
  assert.deepEqual(
    ground.api.calls.filter((call) => call.endsWith('/secrets/password') && !call.includes('/team-b/')),
    [],
    'nobody read a Secret of others',
  )

  for (const [, object] of cases)
    await ground.call('DELETE', `${vmsIn('team-b')}/${String(at(object, 'metadata', 'name'))}`)
  await ground.pass(120_000)
  assert.equal(idOf(ground, 'team-a-db'), id, 'a deletion in one namespace takes nothing of another along')
  await operator.stop()
})

test('[S-59] a quota counts what a namespace declares', async () => {
  const ground = await groundWithNamespaces()
  const operator = await ground.start({ grants: grantsOf(TWO) })
  for (const name of ['team-b-1', 'team-b-2', 'team-b-3']) await ground.call('POST', vmsIn('team-b'), vm(name))
  await ground.pass(120_000)
  const refused = await ground.get(`${vmsIn('team-b')}/team-b-3`)
  assert.match(messageOf(refused), /with it the namespace team-b would have 3 machines/)
  assert.ok(!guests(ground).includes('team-b-3'))
  await operator.stop()
})

test('[S-59] taking a grant away, or narrowing it, holds what was made: nothing is destroyed, also not by deleting the object', async () => {
  const ground = await groundWithNamespaces()
  for (const [namespace, name] of [
    ['team-a', 'team-a-web'],
    ['team-b', 'team-b-web'],
  ] as const)
    await ground.call('POST', vmsIn(namespace), vm(name))
  const first = await ground.start({ grants: grantsOf(TWO) })
  await ground.pass(120_000)
  const made = guests(ground).toSorted()
  assert.ok(made.includes('team-a-web') && made.includes('team-b-web'))
  await first.stop()

  const narrowed = { 'team-a': grant('{from: 500, to: 519}').replace('fun-bedbug', 'still-fawn') }
  const second = await ground.start({ name: 'two', grants: grantsOf(narrowed) })
  await ground.pass(120_000)
  await ground.call('DELETE', `${vmsIn('team-b')}/team-b-web`)
  await ground.pass(300_000)
  assert.deepEqual(guests(ground).toSorted(), made)
  const outside = await ground.get(`${vmsIn('team-a')}/team-a-web`)
  assert.match(messageOf(outside), /the host fun-bedbug is not granted to the namespace team-a \(granted: still-fawn\)/)
  assert.ok(await ground.get(`${vmsIn('team-b')}/team-b-web`), 'nobody let it go')
  await second.stop()

  const none = await ground.start({ name: 'three' })
  await ground.pass(300_000)
  assert.deepEqual(guests(ground).toSorted(), made)
  await none.stop()

  const again = await ground.start({ name: 'four', grants: grantsOf(TWO) })
  await ground.pass(300_000)
  assert.deepEqual(
    guests(ground).toSorted(),
    made.filter((name) => name !== 'team-b-web'),
    'with the grant the deletion counts',
  )
  assert.equal(conditionOf(await ground.get(`${vmsIn('team-a')}/team-a-web`), 'Synced'), 'True ReconcileSuccess')
  await again.stop()
})

const served = () => {
  const apiVersion = `${GROUP}/v1alpha1`
  const kind = findKind(apiVersion, 'EnvironmentVM')
  return kind === undefined
    ? assert.fail('there is such a kind')
    : { kind, apiVersion, plural: 'environmentvms', namespaced: true }
}

function readWith(grants: NamespaceGrants, objects: readonly Foreign[], recorded: readonly string[] = []) {
  const declared = objects.flatMap((object) => declaredObject(served(), object, 'croft-system') ?? [])
  const records = recorded.map((key) => ({ key, policy: {} })) as unknown as readonly ResourceRecord[]
  const nothing = {
    derived: [],
    along: new Map(),
    incomplete: false,
    passed: new Set<string>(),
    known: new Set<string>(),
  }
  return createReader('croft-system', grants).read({ ...nothing, objects: declared, records }).revision
}

test('[S-59] what is refused, and what is remembered under a namespace without a grant, is not gone', () => {
  const web = vm('team-a-web', {}, { namespace: 'team-a', uid: 'u', generation: 1 })
  const key = 'EnvironmentVM/team-a/team-a-web'
  const within = readWith(grantsOf(TWO), [web])
  assert.deepEqual([within.declarations.map((one) => one.key), within.unreadable], [[key], []])
  const narrower: readonly Readonly<Record<string, string>>[] = [
    { 'team-a': grant('{from: 500, to: 519}', ', names: [other]') },
    { 'team-a': grant('{from: 500, to: 519}').replace('EnvironmentVM', 'Machine') },
  ]
  for (const given of narrower) {
    const outside = readWith(grantsOf(given), [web])
    assert.deepEqual([outside.declarations, outside.unreadable], [[], [key]])
    assert.equal(outside.incomplete, false, 'deletions of others go on')
  }
  const cluster = [
    'Cluster/team-x/team-x-k',
    'Machine/team-x/team-x-k-1',
    'Addon/team-x/a@ConfigMap/shop/b',
    'Machine/free',
  ]
  for (const grants of [grantsOf({}), grantsOf(TWO)])
    assert.deepEqual(readWith(grants, [], cluster).unreadable, [
      'Addon/team-x/a',
      'Cluster/team-x/team-x-k',
      'Machine/team-x/team-x-k-1',
    ])
})

test('[S-59] a cluster that cannot be read holds what its own namespace could have named', () => {
  const { unreadableOf } = readWith(grantsOf(TWO), [])
  assert.deepEqual(unreadableOf?.('Cluster/team-a/k')?.names, ['team-a-*'])
  assert.deepEqual(unreadableOf?.('Cluster/team-x/k')?.names, [])
  assert.equal(unreadableOf?.('Cluster/k'), undefined, 'one of the own namespace holds everything')
  const plain = readWith(grantsOf({}), [], ['Cluster/team-x/k'])
  assert.deepEqual(plain.unreadableOf?.('Cluster/team-x/k')?.names, [])
})

test('[S-59] objects that go with their namespace take no machine along', async () => {
  const ground = await groundWithNamespaces()
  await ground.call('POST', vmsIn('team-a'), vm('team-a-web'))
  const operator = await ground.start({ grants: grantsOf(TWO) })
  await ground.pass(120_000)
  await ground.call('DELETE', '/api/v1/namespaces/team-a')
  await ground.call('DELETE', `${vmsIn('team-a')}/team-a-web`)
  await ground.pass(300_000)
  assert.ok(guests(ground).includes('team-a-web'))
  const held = await ground.get(`${vmsIn('team-a')}/team-a-web`)
  assert.match(messageOf(held), /the namespace team-a is being deleted/)
  await operator.stop()
})

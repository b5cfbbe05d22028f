import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findKind } from '../kinds/registry.ts'
import { type DeclaredObject, declaredObject } from './objects.ts'
import { partition, sameTies, withRenewed } from './partition.ts'

const PROVIDER = 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1'
const CONFIG = 'proxmoxbpg.crossplane.io/v1beta1'
const CROFT = 'croft.dev/v1alpha1'

function object(apiVersion: string, kind: string, name: string, spec: unknown = {}): DeclaredObject {
  const known = findKind(apiVersion, kind)
  assert.ok(known, kind)
  const served = { kind: known, apiVersion, plural: known.plural, namespaced: apiVersion === CROFT }
  const made = declaredObject(served, { metadata: { name, uid: name }, spec }, 'croft-system')
  assert.ok(made)
  return made
}

const inNamespace = (namespace: string, name: string, spec: unknown): DeclaredObject => {
  const known = findKind(CROFT, 'Machine')
  assert.ok(known)
  const served = { kind: known, apiVersion: CROFT, plural: known.plural, namespaced: true }
  return declaredObject(served, { metadata: { name, namespace, uid: name }, spec }, 'croft-system') ?? assert.fail(name)
}

const config = (name: string) =>
  object(CONFIG, 'ProviderConfig', name, {
    credentials: { source: 'Secret', secretRef: { name: 'shared', namespace: 'default', key: 'credentials' } },
  })
const vm = (name: string, connection?: string) =>
  object(PROVIDER, 'EnvironmentVM', name, connection === undefined ? {} : { providerConfigRef: { name: connection } })

const shown = (objects: readonly DeclaredObject[]) =>
  partition(objects)
    .shards.map(
      ({ atoms, objects: own }) =>
        `${atoms.join('+')}: ${own
          .map(({ key }) => key)
          .toSorted()
          .join(' ')}`,
    )
    .toSorted()

test('each connection is a shard with the objects that name it; one Secret and one namespace tie nothing together', () => {
  assert.deepEqual(shown([config('default'), config('east'), vm('a'), vm('b', 'east'), vm('c', 'gone')]), [
    'ProviderConfig/default: EnvironmentVM/a ProviderConfig/default',
    'ProviderConfig/east: EnvironmentVM/b ProviderConfig/east',
    'ProviderConfig/gone: EnvironmentVM/c',
    'rest: ',
  ])
})

test('a cluster whose machines are on two connections is one shard with both, an approval ties nothing', () => {
  const cluster = object(CROFT, 'Cluster', 'home', { servers: [{ machine: 'a' }, { machine: 'b' }] })
  const approval = object(CROFT, 'Approval', 'go', { deletes: ['EnvironmentVM/c', 'EnvironmentVM/a'] })
  const all = [config('default'), config('east'), config('west'), vm('a'), vm('b', 'east'), vm('c', 'west'), cluster]
  assert.deepEqual(shown([...all, approval]), [
    'Cluster/home+ProviderConfig/default+ProviderConfig/east: Cluster/home EnvironmentVM/a EnvironmentVM/b ProviderConfig/default ProviderConfig/east',
    'ProviderConfig/west: EnvironmentVM/c ProviderConfig/west',
    'rest: Approval/go',
  ])
})

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const anyObject = fc.oneof(
  name.map((own) => ({ make: () => config(own) })),
  fc.tuple(name, name).map(([own, to]) => ({ make: () => vm(`v${own}`, to) })),
  fc.tuple(name, name, name).map(([own, x, y]) => ({
    make: () => object(CROFT, 'Machine', `m${own}`, { on: x, like: `Machine/m${y}` }),
  })),
  fc.tuple(name, name).map(([own, x]) => ({ make: () => object(CROFT, 'Cluster', `k${own}`, { servers: [`m${x}`] }) })),
)

test('every object is in exactly one shard, whatever names what and in whatever order they come', () => {
  fc.assert(
    fc.property(fc.array(anyObject, { maxLength: 25 }), (makers) => {
      const objects = [...new Map(makers.map(({ make }) => make()).map((made) => [made.key, made])).values()]
      const keys = partition(objects).shards.flatMap(({ objects: own }) => own.map(({ key }) => key))
      assert.deepEqual(keys.toSorted(), objects.map(({ key }) => key).toSorted())
      const atoms = partition(objects).shards.flatMap((shard) => shard.atoms)
      assert.equal(new Set(atoms).size, atoms.length)
      assert.deepEqual(shown([...objects].reverse()), shown(objects))
    }),
  )
})

test('an object that depends on one of another connection is in one shard with it', () => {
  const dependent = (name: string, connection: string, on: string): DeclaredObject => {
    const made = vm(name, connection)
    const metadata = { name, uid: name, annotations: { 'croft.dev/depends-on': on } }
    return { ...made, object: { ...made.object, metadata } }
  }
  assert.deepEqual(shown([config('a'), config('b'), vm('db', 'a'), dependent('web', 'b', 'EnvironmentVM/db')]), [
    'ProviderConfig/a+ProviderConfig/b: EnvironmentVM/db EnvironmentVM/web ProviderConfig/a ProviderConfig/b',
    'rest: ',
  ])
})

test('a namespace is in one shard with all connections that it names, so that its quota is counted once; nor is a name in two', () => {
  const [east, west] = ['east', 'west'].map((name) => object(CROFT, 'Proxmox', name))
  const own = object(CROFT, 'Machine', 'b-1', { connection: 'west' })
  const [one, two] = [inNamespace('a', 'a-1', { connection: 'east' }), inNamespace('b', 'b-1', { connection: 'east' })]
  assert.ok(east && west)
  assert.deepEqual(shown([east, west, one]), [
    'Proxmox/east: Machine/a/a-1 Proxmox/east',
    'Proxmox/west: Proxmox/west',
    'rest: ',
  ])
  assert.deepEqual(shown([east, west, one, inNamespace('a', 'a-2', { connection: 'west' })]).length, 2)
  assert.deepEqual(shown([east, west, own, two]).length, 2)
})

test('what names no connection is with the only one that carries machines, a cluster of croft too; an existing cluster is not', () => {
  const proxmox = object(CROFT, 'Proxmox', 'pve')
  const machine = object(CROFT, 'Machine', 'web', { host: 'pve1' })
  const home = object(CROFT, 'Cluster', 'home', { servers: [{ name: 'a', host: 'pve1' }] })
  const other = object(CROFT, 'Cluster', 'other', { type: 'existing' })
  const addon = object(CROFT, 'Addon', 'hello', { cluster: 'other' })
  const all = [proxmox, machine, home, other, addon]
  assert.deepEqual(shown(all), [
    'Cluster/home+Proxmox/pve: Cluster/home Machine/web Proxmox/pve',
    'Cluster/other: Addon/hello Cluster/other',
    'rest: ',
  ])
  // With two of them, the reference is ambiguous, which croft reports on the object.
  assert.deepEqual(shown([...all, object(CROFT, 'Proxmox', 'east')]), [
    'Cluster/home: Cluster/home',
    'Cluster/other: Addon/hello Cluster/other',
    'Proxmox/east: Proxmox/east',
    'Proxmox/pve: Proxmox/pve',
    'rest: Machine/web',
  ])
})

test('an object with the same ties takes its place in a division as if all were divided anew, and others stay the same to the identity', () => {
  let taken = 0
  fc.assert(
    fc.property(fc.array(anyObject, { minLength: 1, maxLength: 25 }), fc.array(anyObject), (makers, later) => {
      const objects = [...new Map(makers.map(({ make }) => make()).map((made) => [made.key, made])).values()]
      const before = partition(objects)
      const next = new Map(later.map(({ make }) => make()).map((made) => [made.key, made]))
      const renewed = objects.map((one) => {
        const other = next.get(one.key)
        // Kinds are looked up once: the same kind is the same value.
        const same = other === undefined ? undefined : { ...other, served: one.served }
        return same !== undefined && sameTies(one, same) ? same : one
      })
      const byKey = new Map(renewed.map((one) => [one.key, one]))
      const now = withRenewed(before, (one) => byKey.get(one.key) ?? one)
      assert.deepEqual(now, partition(renewed))
      if (renewed.some((one, place) => one !== objects[place])) taken++
      for (const [place, shard] of now.shards.entries()) {
        const untouched = shard.objects.every((one) => objects.includes(one))
        assert.equal(shard === before.shards[place], untouched)
      }
    }),
  )
  assert.ok(taken > 0, 'some were taken')
})

test('whatever may tie an object to others makes another division', () => {
  const machine = (spec: object, annotations: Record<string, string> = {}) => {
    const made = object(CROFT, 'Machine', 'web', spec)
    return { ...made, served: SERVED, object: { ...made.object, metadata: { name: 'web', uid: 'web', annotations } } }
  }
  const SERVED = object(CROFT, 'Machine', 'web').served
  const before = machine({ connection: 'east', memory: '1Gi' })
  assert.equal(sameTies(before, machine({ connection: 'east', memory: '1Gi' }, { note: 'x' })), true)
  const others = [
    machine({ connection: 'west', memory: '1Gi' }),
    machine({ connection: 'east', memory: '1Gi', host: 'pve1' }),
    machine({ connection: 'east', memory: '1Gi' }, { 'croft.dev/depends-on': 'Machine/db' }),
    { ...before, namespace: 'team-a' },
    { ...before, key: 'Machine/other' },
  ]
  for (const other of others) assert.equal(sameTies(before, other), false, JSON.stringify(other.object))
})

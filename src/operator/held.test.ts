import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { at, type Foreign } from '../kubernetes/objects.ts'
import { declaredObject, heldObject } from './objects.ts'
import { type ClusterState, createReader } from './revision.ts'
import { createGround, VMS } from './testing/harness.ts'
import { madeByCrossplane, providerConfigOf, providerVms, statusByCrossplane } from './testing/made-by-crossplane.ts'

const API = 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1'
const [VM] = providerVms(1, ['fun-bedbug'])

function served() {
  const kind = findKind(API, 'EnvironmentVM')
  assert.ok(kind)
  return { kind, apiVersion: API, plural: 'environmentvms', namespaced: false }
}

function machine(metadata: Foreign = {}, forProvider: Foreign = {}): Foreign {
  assert.ok(VM)
  const made = madeByCrossplane(VM)
  return {
    ...made,
    metadata: { ...(made.metadata as Foreign), uid: 'u', generation: 1, ...metadata },
    spec: {
      ...(made.spec as Foreign),
      forProvider: { ...(at(made, 'spec', 'forProvider') as Foreign), ...forProvider },
    },
    status: statusByCrossplane(VM),
  }
}

function stateOf(object: Foreign, known: ReadonlySet<string> = new Set()): ClusterState {
  const declared = declaredObject(served(), object, 'croft-system')
  assert.ok(declared)
  const nothing = { derived: [], along: new Map(), incomplete: false, records: [], passed: new Set<string>() }
  return { ...nothing, objects: [declared], known }
}

test('of an object a replica holds what it reads: not what the provider saw, nor what kubectl applied', () => {
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'crossplane.io/paused': 'false' }
  const whole = machine({ annotations: applied })
  const held = heldObject(served(), whole)
  assert.equal(at(held, 'status', 'atProvider'), undefined)
  assert.deepEqual(at(held, 'status', 'conditions'), at(whole, 'status', 'conditions'))
  assert.deepEqual(at(held, 'metadata', 'annotations'), { 'crossplane.io/paused': 'false' })
  assert.deepEqual(held.spec, whole.spec)
  assert.ok(JSON.stringify(held).length < JSON.stringify(whole).length * 0.7, 'bytes held')
})

test('objects that say what they said are read once, however often somebody looks', () => {
  const reader = createReader('croft-system')
  const known = new Set<string>()
  const first = reader.read(stateOf(machine(), known))
  assert.equal(reader.read(stateOf(machine(), known)), first, 'also when only its status is another')
  assert.notEqual(reader.read(stateOf(machine(), new Set(['EnvironmentVM/gone']))), first, 'one is missing')
  const changed = reader.read(stateOf(machine({ generation: 2 }, { onBoot: false }), known))
  assert.notEqual(changed.revision.id, first.revision.id)
  const leaving = stateOf(machine({ deletionTimestamp: '2026-01-01T00:00:00Z' }), known)
  assert.notEqual(reader.read(leaving), reader.read(leaving), 'what is being deleted waits for what the store says')
})

test('fields that only the provider knows are no problem that is kept; one that is wrong is', () => {
  const { revision } = createReader('croft-system').read(stateOf(machine()))
  assert.deepEqual([revision.declarations.length, revision.problems], [1, []])
  const wrong = createReader('croft-system').read(stateOf(machine({}, { cpu: 'two' })))
  assert.ok(wrong.revision.problems.length > 0)
  assert.ok(wrong.revision.problems.every(({ severity }) => severity === 'error'))
})

test('[A57] an idle replica lists nothing, writes nothing but its own Lease, and is told to rest once', async () => {
  const ground = await createGround()
  assert.ok(VM)
  for (const name of ['default', 'c1', 'c2']) {
    const datacentre = name === 'default' ? ground.datacentre : await ground.addConnection(name)
    datacentre.addGuest(VM.vmid, VM.node, providerConfigOf(VM), true)
    const made = machine()
    const metadata = { ...(made.metadata as Foreign), name: `vm-${name}` }
    await ground.call('POST', VMS, {
      ...made,
      metadata,
      spec: { ...(made.spec as Foreign), providerConfigRef: { name } },
    })
  }
  let rests = 0
  const operator = await ground.start({ onCalm: () => rests++ })
  await ground.pass(120_000)
  assert.equal(rests, 1, 'three shards came to rest together')
  const from = ground.api.calls.length
  await ground.pass(600_000)
  const calls = ground.api.calls.slice(from)
  const of = (what: RegExp) => calls.filter((call) => what.test(call))
  assert.deepEqual(
    of(/^(?:POST|PUT|PATCH|DELETE) /).filter((call) => !call.includes('/leases/croft-replica-')),
    [],
  )
  assert.deepEqual(of(/^GET .*\?(?!.*watch=true)/), [], 'no list')
  assert.equal(rests, 1, 'looks are no work')
  // Every ten seconds a pass of each of the four shards, each with a handful of looks at the head of its store.
  const perPass = of(/\/configmaps\//).length / (60 * 4)
  assert.ok(perPass <= IDLE_READS, `${perPass} reads of the store in a pass`)
  assert.deepEqual([operator.failure(), operator.warnings], [undefined, []])
  await operator.stop()
})
const IDLE_READS = 4

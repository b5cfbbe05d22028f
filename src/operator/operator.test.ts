import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, recordOf } from '../kubernetes/objects.ts'
import { conditionOf, createGround, type Ground, VMS } from './testing/harness.ts'
import {
  FINALIZER,
  madeByCrossplane,
  providerConfigOf,
  providerVms,
  statusByCrossplane,
} from './testing/made-by-crossplane.ts'

const HOSTS = ['fun-bedbug', 'pumped-piglet', 'still-fawn']

/** Guests that the provider made, and their objects as Crossplane left them. */
async function takenFrom(ground: Ground, count: number): Promise<readonly number[]> {
  const vms = providerVms(count, HOSTS)
  for (const vm of vms) {
    ground.datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
    const object = madeByCrossplane(vm)
    await ground.call('POST', VMS, { ...object, metadata: { ...recordOf(object.metadata), name: `vm-${vm.vmid}` } })
    await ground.call('PATCH', `${VMS}/vm-${vm.vmid}/status`, { status: statusByCrossplane(vm) })
  }
  return vms.map(({ vmid }) => vmid)
}

function guestsOf({
  datacentre,
}: Ground): ReadonlyMap<number, { readonly host: string; readonly config: Record<string, string> }> {
  const map = new Map<number, { host: string; config: Record<string, string> }>()
  for (const guest of datacentre.world.guests.values())
    map.set(guest.vmid, { host: guest.node, config: Object.fromEntries(guest.config) })
  return map
}

const writesTo = ({ datacentre }: Ground) => datacentre.writes.map(({ method, path }) => `${method} ${path}`)

const writesOf = ({ api }: Ground) => api.calls.filter((call) => !call.startsWith('GET '))

test('[J-18] fifty VMs that Crossplane made are taken over without one write to Proxmox, nor to their objects', async () => {
  const ground = await createGround()
  const ids = await takenFrom(ground, 50)
  const before = await Promise.all(ids.map((id) => ground.get(`${VMS}/vm-${id}`)))
  ground.api.calls.length = 0
  const operator = await ground.start()
  await ground.pass(180_000)
  assert.equal(operator.failure(), undefined)
  assert.deepEqual(operator.warnings, [])
  assert.deepEqual(writesTo(ground), [])
  const after = await Promise.all(ids.map((id) => ground.get(`${VMS}/vm-${id}`)))
  assert.deepEqual(after, before, 'they say the same as before')
  assert.deepEqual(
    writesOf(ground).filter((call) => !/\/(?:configmaps|events|leases)/.test(call)),
    [],
  )
  ground.api.calls.length = 0
  await ground.pass(300_000)
  assert.deepEqual(
    writesOf(ground).filter((call) => !call.endsWith('/leases/croft-replica-one')),
    [],
    'nothing happens: nothing is written but that it lives',
  )
  await operator.stop()

  const again = await ground.start({ name: 'two' })
  await ground.pass(120_000)
  assert.deepEqual(writesTo(ground), [], 'and not by the next replica either')
  await again.stop()
})

test('a changed field is one write; paused and observed objects are left alone and say so', async () => {
  const ground = await createGround()
  const [changed = 0, paused = 0, observed = 0] = await takenFrom(ground, 3)
  const operator = await ground.start()
  await ground.pass(60_000)
  await ground.call('PATCH', `${VMS}/vm-${paused}`, { metadata: { annotations: { 'crossplane.io/paused': 'true' } } })
  await ground.call('PATCH', `${VMS}/vm-${observed}`, { spec: { managementPolicies: ['Observe'] } })
  await ground.pass(60_000)
  for (const id of [changed, paused, observed])
    await ground.call('PATCH', `${VMS}/vm-${id}`, { spec: { forProvider: { description: 'by kubectl' } } })
  await ground.until(() => ground.datacentre.writes.length > 0, 5_000)
  await ground.pass(60_000)
  assert.ok(
    ground.datacentre.writes.every(({ path }) => path.includes(`/${changed}/`)),
    writesTo(ground).join(),
  )
  assert.match(guestsOf(ground).get(changed)?.config.description ?? '', /by kubectl/)
  assert.equal(conditionOf(await ground.get(`${VMS}/vm-${paused}`), 'Synced'), 'False ReconcilePaused')
  assert.equal(conditionOf(await ground.get(`${VMS}/vm-${changed}`), 'Synced'), 'True ReconcileSuccess')
  assert.equal(conditionOf(await ground.get(`${VMS}/vm-${changed}`), 'Ready'), 'True Available')
  await operator.stop()
})

test('kubectl delete: Delete takes the VM along, Orphan does not, also when it was said in the last moment; then the object goes', async () => {
  const ground = await createGround()
  const [deleted = 0, orphaned = 0, stays = 0] = await takenFrom(ground, 3)
  const operator = await ground.start()
  await ground.pass(60_000)
  await ground.call('PATCH', `${VMS}/vm-${orphaned}`, { spec: { deletionPolicy: 'Orphan' } })
  await ground.call('DELETE', `${VMS}/vm-${orphaned}`)
  await ground.call('DELETE', `${VMS}/vm-${deleted}`)
  assert.equal(conditionOf(await ground.get(`${VMS}/vm-${deleted}`), 'Ready'), 'True Available')
  await ground.pass(5_000)
  const leaving = await ground.get(`${VMS}/vm-${deleted}`)
  if (leaving !== undefined) assert.equal(conditionOf(leaving, 'Ready'), 'False Deleting')
  await ground.pass(180_000)
  assert.equal(guestsOf(ground).has(deleted), false, writesTo(ground).join('\n'))
  assert.equal(guestsOf(ground).has(orphaned), true)
  assert.equal(guestsOf(ground).has(stays), true)
  assert.equal(await ground.get(`${VMS}/vm-${deleted}`), undefined)
  assert.equal(await ground.get(`${VMS}/vm-${orphaned}`), undefined)
  assert.notEqual(await ground.get(`${VMS}/vm-${stays}`), undefined)
  await operator.stop()
})

test('kubectl delete: a guest that somebody else made under the id meanwhile stays', async () => {
  const ground = await createGround()
  const [id = 0] = await takenFrom(ground, 1)
  const operator = await ground.start()
  await ground.pass(60_000)
  await operator.stop()
  const guest = ground.datacentre.world.guests.get(id)
  assert.ok(guest)
  guest.config.set('name', 'precious')
  guest.config.set('smbios1', 'uuid=11111111-2222-3333-4444-555555555555')
  await ground.call('DELETE', `${VMS}/vm-${id}`)
  const again = await ground.start()
  await ground.pass(180_000)
  assert.deepEqual(writesTo(ground), [])
  assert.equal(guestsOf(ground).get(id)?.config.name, 'precious')
  assert.equal(await ground.get(`${VMS}/vm-${id}`), undefined, 'the object may go')
  await again.stop()
})

test('[F-09] an object that vanished without a deletion, or whose kind is served no more, takes no VM along', async () => {
  const ground = await createGround()
  const [first = 0, second = 0] = await takenFrom(ground, 2)
  const operator = await ground.start()
  await ground.pass(60_000)
  await operator.stop()
  await ground.call('PATCH', `${VMS}/vm-${first}`, { metadata: { finalizers: null } })
  await ground.call('DELETE', `${VMS}/vm-${first}`)
  const again = await ground.start()
  await ground.pass(60_000)
  await ground.call(
    'DELETE',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/environmentvms.virtualenvironmentvm.proxmoxbpg.crossplane.io',
  )
  await ground.pass(600_000)
  assert.deepEqual(writesTo(ground), [])
  assert.ok(guestsOf(ground).has(first) && guestsOf(ground).has(second))
  await again.stop()
})

const DEFINITION =
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/environmentvms.virtualenvironmentvm.proxmoxbpg.crossplane.io'

test('[F-09] objects that are deleted with their definition take no machine along, and go when they are orphaned', async () => {
  const ground = await createGround()
  const [only = 0] = await takenFrom(ground, 1)
  const operator = await ground.start()
  await ground.pass(60_000)
  await ground.call('DELETE', DEFINITION)
  await ground.pass(600_000)
  const held = await ground.get(`${VMS}/vm-${only}`)
  assert.notEqual(at(held, 'metadata', 'deletionTimestamp'), undefined, 'the server wants it to go')
  assert.equal(conditionOf(held, 'Synced'), 'False DeletionHeld')
  assert.match(JSON.stringify(at(held, 'status')), /the definition of environmentvms is being deleted/)
  await ground.call('PATCH', `${VMS}/vm-${only}`, { spec: { deletionPolicy: 'Orphan' } })
  await ground.pass(120_000)
  assert.equal(await ground.get(DEFINITION), undefined, 'the last object is gone, and so is the definition')
  assert.ok(guestsOf(ground).has(only))
  assert.deepEqual(writesTo(ground), [])
  await operator.stop()
})

test('[F-09] objects that are deleted with their namespace take nothing along', async () => {
  const ground = await createGround()
  const operator = await ground.start()
  await ground.pass(10_000)
  await ground.call('POST', '/apis/croft.dev/v1alpha1/namespaces/croft-system/proxmoxpools', {
    metadata: { name: 'web' },
    spec: { connection: 'default' },
  })
  await ground.pass(60_000)
  const pools = () => writesTo(ground).filter((write) => write.includes('/pools'))
  assert.equal(pools().length, 1)
  await ground.call('DELETE', '/api/v1/namespaces/croft-system')
  await ground.pass(600_000)
  assert.equal(pools().length, 1, 'it was not deleted')
  await operator.die()
})

test('a new object is made only once it is held by a finalizer, gets its external name, Events and conditions', async () => {
  const ground = await createGround()
  const operator = await ground.start()
  await ground.pass(10_000)
  const spec = {
    deletionPolicy: 'Delete',
    forProvider: {
      nodeName: 'fun-bedbug',
      name: 'fresh',
      started: false,
      cpu: [{ cores: 1 }],
      memory: [{ dedicated: 512 }],
    },
  }
  await ground.call('POST', VMS, { metadata: { name: 'fresh' }, spec })
  await ground.pass(180_000)
  const made = await ground.get(`${VMS}/fresh`)
  assert.deepEqual(at(made, 'metadata', 'finalizers'), [FINALIZER])
  const id = String(at(made, 'metadata', 'annotations', 'crossplane.io/external-name'))
  assert.equal(guestsOf(ground).get(Number(id))?.config.name, 'fresh')
  assert.equal(conditionOf(made, 'Synced'), 'True ReconcileSuccess')
  assert.equal(conditionOf(made, 'Ready'), 'True Available')
  const marked = ground.api.calls.findIndex((call) => call.startsWith(`PATCH ${VMS}/fresh`))
  assert.ok(marked >= 0)
  const events = JSON.stringify(await ground.get('/api/v1/namespaces/default/events'))
  assert.match(events, /"involvedObject":\{[^}]*"name":"fresh"/)
  assert.doesNotMatch(events, /is paused/, 'nobody has paused it')
  assert.doesNotMatch(
    JSON.stringify(await ground.get('/api/v1/namespaces/croft-system/configmaps')),
    new RegExp(ground.datacentre.token),
  )
  await operator.stop()
})

test('a wrong object is refused by name and holds up no other, not even its deletion', async () => {
  const ground = await createGround()
  const [deleted = 0] = await takenFrom(ground, 2)
  const operator = await ground.start()
  await ground.pass(60_000)
  await ground.call('POST', VMS, {
    metadata: { name: 'wrong' },
    spec: { forProvider: { nodeName: 'fun-bedbug', memroy: 3 } },
  })
  await ground.call('DELETE', `${VMS}/vm-${deleted}`)
  await ground.pass(180_000)
  const wrong = await ground.get(`${VMS}/wrong`)
  assert.equal(conditionOf(wrong, 'Synced'), 'False ReconcileError')
  assert.match(JSON.stringify(at(wrong, 'status')), /memroy.*did you mean memory/)
  assert.equal(await ground.get(`${VMS}/vm-${deleted}`), undefined)
  await operator.stop()
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Datacentre } from '../../sim/datacentre.ts'
import { at, recordOf, recordsOf } from '../kubernetes/objects.ts'
import { conditionOf, createGround, type Ground, type RunningOperator, VMS } from './testing/harness.ts'
import { madeByCrossplane, providerConfigOf, providerVms } from './testing/made-by-crossplane.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/croft-system/leases'

interface Spread {
  readonly ground: Ground
  readonly connections: readonly { readonly name: string; readonly datacentre: Datacentre; readonly vmid: number }[]
}

/** Makes one machine on each of several connections, each with its own Proxmox. */
async function spread(count: number): Promise<Spread> {
  const ground = await createGround()
  const connections: Spread['connections'][number][] = []
  for (const [index, vm] of providerVms(count, ['fun-bedbug']).entries()) {
    const name = index === 0 ? 'default' : `c${index}`
    const datacentre = index === 0 ? ground.datacentre : await ground.addConnection(name)
    datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
    const object = madeByCrossplane(vm)
    const spec = { ...recordOf(object.spec), providerConfigRef: { name } }
    await ground.call('POST', VMS, {
      ...object,
      metadata: { ...recordOf(object.metadata), name: `vm-${vm.vmid}` },
      spec,
    })
    connections.push({ name, datacentre, vmid: vm.vmid })
  }
  return { ground, connections }
}

const change = (ground: Ground, vmid: number, onBoot: boolean) =>
  ground.call('PATCH', `${VMS}/vm-${vmid}`, { spec: { forProvider: { onBoot } } })

const onBoot = ({ datacentre, vmid }: Spread['connections'][number]) =>
  datacentre.world.guests.get(vmid)?.config.get('onboot') === '1'

/** Shards by the replica that works on them; the one of what belongs nowhere is among them. */
function shared(replicas: readonly RunningOperator[]): readonly string[] {
  return replicas.flatMap((replica) => replica.working()).toSorted()
}

test('three replicas share the connections, each worked on by exactly one, and all change what they are told', async () => {
  const { ground, connections } = await spread(6)
  const replicas = [
    await ground.start({ name: 'a' }),
    await ground.start({ name: 'b' }),
    await ground.start({ name: 'c' }),
  ]
  await ground.pass(30_000)
  const all = shared(replicas)
  assert.equal(all.length, 7)
  assert.equal(new Set(all).size, 7)
  for (const replica of replicas) assert.ok(replica.working().length >= 2, all.join())
  for (const { vmid } of connections) await change(ground, vmid, false)
  await ground.pass(60_000)
  for (const one of connections) {
    assert.equal(onBoot(one), false, one.name)
    assert.equal(one.datacentre.writes.length, 1, one.name)
  }
  for (const replica of replicas) assert.deepEqual([replica.failure(), replica.warnings], [undefined, []])
  for (const replica of replicas) await replica.stop()
  const leases = recordsOf((await ground.get(LEASES))?.items)
  assert.deepEqual(
    leases.filter((lease) => at(lease, 'metadata', 'labels', 'croft.dev/lease') === 'replica'),
    [],
    'who ends says so',
  )
})

test('a replica that dies is replaced within 15 s, also by replicas whose clocks are ten minutes off', async () => {
  const { ground, connections } = await spread(4)
  const first = await ground.start({ name: 'a' })
  const second = await ground.start({ name: 'b', skewMs: 600_000 })
  const third = await ground.start({ name: 'c', skewMs: -600_000 })
  await ground.pass(30_000)
  const lost = first.working()
  assert.ok(lost.length > 0)
  await first.die()
  const diedMs = ground.api.lab.clock.now()
  await ground.until(() => lost.every((shard) => shared([second, third]).includes(shard)), 60_000)
  const tookMs = ground.api.lab.clock.now() - diedMs
  assert.ok(tookMs <= 15_000, `${tookMs}`)
  for (const { vmid } of connections) await change(ground, vmid, false)
  await ground.pass(60_000)
  for (const one of connections) assert.deepEqual([onBoot(one), one.datacentre.writes.length], [false, 1], one.name)
  await second.stop()
  await third.stop()
})

test('[F-20] a replica that stood still and wakes up writes nothing: its shards have another epoch', async () => {
  const { ground, connections } = await spread(3)
  const first = await ground.start({ name: 'a' })
  await ground.pass(30_000)
  assert.equal(first.working().length, 4)
  first.pause()
  const second = await ground.start({ name: 'b', skewMs: -600_000 })
  for (const { vmid } of connections) await change(ground, vmid, false)
  await ground.pass(60_000)
  assert.equal(second.working().length, 4)
  for (const one of connections) assert.deepEqual([onBoot(one), one.datacentre.writes.length], [false, 1], one.name)
  const before = await Promise.all(connections.map(({ vmid }) => ground.get(`${VMS}/vm-${vmid}`)))
  first.wake()
  await ground.pass(120_000)
  for (const one of connections) assert.equal(one.datacentre.writes.length, 1, one.name)
  assert.deepEqual(await Promise.all(connections.map(({ vmid }) => ground.get(`${VMS}/vm-${vmid}`))), before)
  assert.equal(first.failure(), undefined, 'it is a replica again, with its share')
  assert.equal(new Set(shared([first, second])).size, 4)
  assert.equal(shared([first, second]).length, 4)
  await first.stop()
  await second.stop()
})

test('[F-20] two leaders by pause: one that stands still at any of its calls and wakes doubles and undoes nothing', async () => {
  for (const point of [1, 2, 3, 4, 6, 8, 11, 15]) {
    const { ground, connections } = await spread(1)
    const [one] = connections
    assert.ok(one)
    let writes = 0
    let sleeper: RunningOperator | undefined
    const base = ground.api.wire()
    const stream = base.stream
    assert.ok(stream)
    const wire = {
      ...base,
      stream,
      async send(request: Parameters<typeof base.send>[0], signal?: AbortSignal) {
        // Counted from the change on; in the middle of a call: it was sent and its answer is not read.
        if (armed && request.method !== 'GET' && ++writes === point) sleeper?.pause()
        return base.send(request, signal)
      },
    }
    let armed = false
    sleeper = await ground.start({ name: 'a', wire })
    await ground.pass(30_000)
    armed = true
    await change(ground, one.vmid, false)
    await ground.pass(20_000)
    const next = await ground.start({ name: 'b' })
    await ground.pass(60_000)
    sleeper.wake()
    await ground.pass(120_000)
    assert.equal(onBoot(one), false, `point ${point}`)
    assert.equal(one.datacentre.writes.length, 1, `point ${point}`)
    assert.equal(conditionOf(await ground.get(`${VMS}/vm-${one.vmid}`), 'Synced'), 'True ReconcileSuccess')
    assert.deepEqual([sleeper.failure(), next.failure()], [undefined, undefined])
    await sleeper.stop()
    await next.stop()
  }
})

test('[F-20] a Lease that is taken away in the middle of an effect ends the work of its holder, and the next one goes on', async () => {
  const { ground, connections } = await spread(2)
  const first = await ground.start({ name: 'a' })
  await ground.pass(30_000)
  const leases = recordsOf((await ground.get(LEASES))?.items)
  const lease = leases.find((one) => at(one, 'metadata', 'annotations', 'croft.dev/shard') === 'ProviderConfig/default')
  assert.ok(lease)
  const name = String(at(lease, 'metadata', 'name'))
  const [one] = connections
  assert.ok(one)
  const before = Number(at(lease, 'spec', 'leaseTransitions'))
  await change(ground, one.vmid, false)
  await ground.until(() => one.datacentre.writes.length > 0, 30_000)
  // The Lease is deleted; the next one counts from the start, the store does not.
  await ground.call('DELETE', `${LEASES}/${name}`)
  const second = await ground.start({ name: 'b' })
  await ground.pass(30_000)
  await first.stop()
  await ground.pass(60_000)
  assert.equal(onBoot(one), false)
  assert.equal(one.datacentre.writes.length, 1)
  assert.ok(Number(at(await ground.get(`${LEASES}/${name}`), 'spec', 'leaseTransitions')) > before)
  await change(ground, one.vmid, true)
  await ground.pass(60_000)
  assert.equal(onBoot(one), true)
  await second.stop()
})

test('[F-09] a machine whose object names another connection now stays where it is', async () => {
  const { ground, connections } = await spread(2)
  const replica = await ground.start()
  await ground.pass(30_000)
  const [one, other] = connections
  assert.ok(one && other)
  await ground.call('PATCH', `${VMS}/vm-${one.vmid}`, { spec: { providerConfigRef: { name: other.name } } })
  await ground.pass(120_000)
  assert.ok(one.datacentre.world.guests.has(one.vmid))
  assert.deepEqual(one.datacentre.writes, [])
  await replica.stop()
})

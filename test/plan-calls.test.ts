import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatacentre, type Datacentre } from '../sim/datacentre.ts'
import { createVirtualClock } from '../sim/virtual-clock.ts'
import { simWire } from '../sim/wire.ts'
import { seededRandom } from '../src/lib/random.ts'
import { createMemoryStore } from '../src/store/memory.ts'
import { estateFrom } from './simulation/manifests.ts'
import { startProcess } from './simulation/process.ts'

const MACHINES = 50
const HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
const IMAGE = 'noble-server-cloudimg-amd64.qcow2'

const connection = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:8006
  token: {env: PROXMOX_TOKEN}
`

/** One of the guests that the datacentre was filled with, as it is. */
function machine(index: number): string {
  const vmid = 1000 + index
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: vm-${vmid}
  annotations: {crossplane.io/external-name: "${vmid}"}
spec:
  forProvider:
    nodeName: ${HOSTS[index % HOSTS.length]}
    cpu: {cores: 2}
    memory: {dedicated: 2048}
    disk: [{interface: scsi0, datastoreId: local-zfs, size: 10}]
    networkDevice: [{bridge: vmbr0, model: virtio}]
    agent: {enabled: true}
`
}

function image(name: string, host: string, file: string): string {
  return `apiVersion: virtualenvironmentdownloadfile.crossplane.io/v1alpha1
kind: EnvironmentDownloadFile
metadata: {name: ${name}}
spec:
  forProvider:
    nodeName: ${host}
    datastoreId: local
    contentType: import
    fileName: ${file}
    url: https://cloud-images.ubuntu.com/noble/current/${IMAGE}
`
}

/** An estate of existing machines, taken over and settled, with the controller that did it still running. */
async function settled(images: Readonly<Record<string, string>> = {}) {
  const clock = createVirtualClock(1_760_000_000_000)
  const datacentre = createDatacentre({ clock, random: seededRandom(1), preset: 'homelab', vms: MACHINES })
  const machines = Array.from({ length: MACHINES }, (_, index) => [`vm-${index}.yaml`, machine(index)])
  const estate = estateFrom({ 'connection.yaml': connection, ...Object.fromEntries(machines), ...images })
  assert.deepEqual(
    estate.problems.filter((problem) => problem.severity === 'error'),
    [],
  )
  const { disk } = createMemoryStore()
  const start = () =>
    startProcess({ clock, random: seededRandom(2), disk, wire: simWire(datacentre), token: datacentre.token }).engine
  const engine = start()
  const { signal } = new AbortController()
  const { outcome } = await clock.runUntil(engine.settle(estate, { signal, deadlineMs: 600_000 }), { maxMs: 900_000 })
  assert.equal(outcome, 'settled')
  return { clock, datacentre, estate, engine, start, signal }
}

async function callsOf<T>(datacentre: Datacentre, work: () => Promise<T>) {
  const before = datacentre.stats()
  const result = await work()
  const after = datacentre.stats()
  const byPath = Object.entries(after.byPath).flatMap(([path, count]) => {
    const more = count - (before.byPath[path] ?? 0)
    return more === 0 ? [] : [[path, more] as const]
  })
  return { result, writes: after.writes - before.writes, byPath: Object.fromEntries(byPath) }
}

test('a plan without changes costs two calls, and one for each machine', async () => {
  const { clock, datacentre, estate, start, signal } = await settled()
  const { result, writes, byPath } = await callsOf(datacentre, () => clock.runUntil(start().plan(estate, signal)))
  assert.equal(result.entries.length, MACHINES)
  assert.ok(result.entries.every((entry) => entry.action.do === 'nothing'))
  assert.equal(writes, 0)
  assert.deepEqual(byPath, {
    'GET /cluster/resources': 1,
    'GET /cluster/tasks': 1,
    'GET /nodes/{node}/qemu/{vmid}/pending': MACHINES,
  })
})

test('declared files cost one call for each storage that holds them, however many they are', async () => {
  const { clock, datacentre, estate, engine, start, signal } = await settled({
    'a.yaml': image('first', 'fun-bedbug', 'a.qcow2'),
    'b.yaml': image('second', 'fun-bedbug', 'b.qcow2'),
    'c.yaml': image('third', 'still-fawn', 'a.qcow2'),
  })
  const { result, writes, byPath } = await callsOf(datacentre, () => clock.runUntil(start().plan(estate, signal)))
  assert.ok(result.entries.every((entry) => entry.action.do === 'nothing'))
  assert.equal(writes, 0)
  assert.deepEqual(byPath, {
    'GET /cluster/resources': 1,
    'GET /cluster/tasks': 1,
    'GET /nodes/{node}/qemu/{vmid}/pending': MACHINES,
    'GET /nodes/{node}/storage/{storage}/content': 2,
  })
  // A sweep needs the lists as well: the survey says nothing about files.
  const sweep = await callsOf(datacentre, () => clock.runUntil(engine.pass(estate, signal)))
  assert.equal(sweep.writes, 0)
  assert.deepEqual(sweep.byPath, {
    'GET /cluster/resources': 1,
    'GET /cluster/tasks': 1,
    'GET /nodes/{node}/storage/{storage}/content': 2,
  })
})

test('a sweep over a settled estate costs two calls and writes nothing, here or there', async () => {
  const { clock, datacentre, estate, engine, signal } = await settled()
  for (let sweep = 0; sweep < 3; sweep++) {
    await clock.advanceTo(clock.now() + 10_000)
    const { result, writes, byPath } = await callsOf(datacentre, () => clock.runUntil(engine.pass(estate, signal)))
    assert.ok(result.settled)
    assert.deepEqual(result.events, [])
    assert.equal(result.effects + writes, 0)
    assert.deepEqual(byPath, { 'GET /cluster/resources': 1, 'GET /cluster/tasks': 1 })
  }
})

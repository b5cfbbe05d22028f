import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find } from '../../sim/kubernetes/store.ts'
import type { Estate } from '../../src/model/estate.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { CLUSTER, createLab } from './addon-lab.ts'
import { addonManifest } from './addon-manifests.ts'
import { GROUND_AND_HOSTS, simulateCluster } from './cluster-run.ts'
import { HOSTS } from './every-item.ts'
import { simulateHosts } from './hosts-run.ts'
import { estateFrom } from './manifests.ts'
import type { Simulation } from './run.ts'
import { replay } from './volume.ts'

const FILE = 'unreadable-parts.test.ts'

/** Reads files as the product does, and makes sure that this one object was refused: else nothing is proved. */
function broken(text: string, key: string): Estate {
  const estate = estateFrom({ 'estate.yaml': text })
  assert.ok(estate.unreadable.includes(key), `${key} is readable: ${JSON.stringify(estate.problems)}`)
  assert.ok(!estate.resources.some((one) => one.key.startsWith(`${key}@`)))
  const used = new Set(estate.resources.map(({ connection }) => connection))
  return { ...estate, connections: estate.connections.filter(({ name, driver }) => driver !== 'ssh' || used.has(name)) }
}

/** With the database and without it: the parts of unreadable things stay in the world. */
async function staysThere(run: Simulation, estate: Estate, seen: () => unknown): Promise<void> {
  const before = seen()
  for (const disk of [run.disk, createMemoryStore().disk]) {
    run.disk = disk
    run.estate = estate
    await run.passes(run.start(), 4)
    assert.deepEqual(seen(), before)
  }
}

test('objects of an Addon that cannot be read stay in the cluster', async () => {
  const hint = replay(FILE, 1)
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kept', namespace: 'default' },
    data: { a: 'b' },
  }
  const addon = addonManifest('app', '  namespace: default', [config])
  const lab = createLab(addon, 1, hint)
  assert.equal(await lab.settle(), 'settled', hint)
  const seen = () => find(lab.store(), '/configmaps', 'default', 'kept')?.data
  assert.deepEqual(seen(), { a: 'b' })
  const text = `${GROUND_AND_HOSTS}${CLUSTER}${addon.replace('namespace: default', 'namespace: default\n  nonsense: 1')}`
  await staysThere(lab.run, broken(text, 'Addon/app'), seen)
})

test('files of a HostConfig that cannot be read stay on the host', async () => {
  const config = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: small}
spec:
  hosts: [duck]
  files: [{path: /etc/kept.conf, content: "kept\\n"}]
`
  const text = (more: string) => `${HOSTS}---\n${config}${more}`
  const whole = estateFrom({ 'estate.yaml': text('') })
  const used = new Set(whole.resources.map(({ connection }) => connection))
  const run = simulateHosts({
    seed: 2,
    estate: { ...whole, connections: whole.connections.filter(({ name }) => used.has(name)) },
  })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const seen = () => run.textOf('duck', '/etc/kept.conf')
  assert.equal(seen(), 'kept\n')
  const estate = broken(text('  nonsense: 1\n'), 'HostConfig/small')
  await staysThere(run, { ...estate, connections: run.estate.connections }, seen)
})

test('files of an Image that cannot be read stay on the storage', async () => {
  const machine = (name: string, image: string) => `---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: ${name}}
spec: {host: still-fawn, class: node, disks: [{size: 40Gi, image: ${image}, storage: fast}], networks: [{network: lan}]}
`
  const second = `---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: second}
spec:
  url: https://cloud-images.ubuntu.com/noble/current/noble-server-cloudimg-amd64.img
  fileName: second.qcow2
  storage: files
  deletionPolicy: Delete
`
  const text = `${GROUND_AND_HOSTS}${second}${machine('web-1', 'noble')}${machine('web-2', 'second')}`
  const run = simulateCluster({ seed: 3, estate: estateFrom({ 'estate.yaml': text }) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const seen = () =>
    [...run.datacentre.world.hosts.values()].flatMap(({ name, volumes }) =>
      [...volumes.values()].flatMap((all) =>
        [...all.keys()].filter((volume) => /second/.test(volume)).map((one) => `${name} ${one}`),
      ),
    )
  assert.equal(seen().length, 1)
  const wrong = text.replace('deletionPolicy: Delete', 'deletionPolicy: Delete\n  nonsense: 1')
  await staysThere(run, broken(wrong, 'Image/second'), seen)
})

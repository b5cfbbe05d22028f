import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../src/model/secret.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { createTestClient, type TestClient } from '../test-client.ts'
import { KUBECONFIG } from './disk.ts'
import { formHomelabCluster } from './homelab-cluster.ts'

async function homelab(): Promise<TestClient> {
  const client = createTestClient({ preset: 'homelab' })
  await formHomelabCluster(client.datacentre.world, client.clock)
  return client
}

const votersOf = ({ datacentre }: TestClient) =>
  [...datacentre.world.k3s.clusters.values()].flatMap(({ members }) =>
    [...members.values()].filter(({ learner }) => !learner).map(({ name }) => name.replace(/-[0-9a-f]{8}$/, '')),
  )

const THIRD = {
  vmid: '114',
  name: 'k3s-vm-fun-bedbug',
  memory: '4096',
  agent: '1',
  scsi0: 'local:0,import-from=local:import/noble-server-cloudimg-amd64.qcow2',
  ide2: 'local:cloudinit',
  cicustom: 'user=local:snippets/k3s-server-fun-bedbug.yaml',
  net0: 'virtio,bridge=vmbr0',
}

test('the two machines of the homelab are one K3s cluster with two votes', async () => {
  const client = await homelab()
  assert.equal(client.datacentre.world.k3s.clusters.size, 1)
  assert.deepEqual(votersOf(client).sort(), ['k3s-vm-pumped-piglet-gpu', 'k3s-vm-still-fawn'])
  await client.pass(3_600_000)
  assert.equal(votersOf(client).length, 2, 'it stays')
})

test('a machine with the user data that lies there becomes its third server, and again after a restart', async () => {
  const client = await homelab()
  assert.equal(await client.task('POST', '/nodes/fun-bedbug/qemu', THIRD), 'OK')
  assert.equal(await client.task('POST', '/nodes/fun-bedbug/qemu/114/status/start'), 'OK')
  await client.pass(120_000)
  assert.deepEqual(votersOf(client).sort(), ['k3s-vm-fun-bedbug', 'k3s-vm-pumped-piglet-gpu', 'k3s-vm-still-fawn'])
  const guest = client.datacentre.world.guests.get(114)
  assert.equal(guest?.inside?.runs, 1)
  await client.task('POST', '/nodes/fun-bedbug/qemu/114/status/stop')
  await client.task('POST', '/nodes/fun-bedbug/qemu/114/status/start')
  await client.pass(120_000)
  assert.equal(guest?.inside?.runs, 1, 'cloud-init has nothing new to do')
  assert.equal(guest?.machine?.k3s?.process?.phase, 'ready')
  assert.equal(votersOf(client).length, 3)
})

test('the file that K3s leaves for its administrator opens the API', async () => {
  const client = await homelab()
  const { world } = client.datacentre
  const text = world.guests.get(109)?.machine?.files.text(KUBECONFIG) ?? ''
  const field = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? '', 'base64').toString()
  const wire = kubernetesWire(world, {
    endpoint: 'https://192.168.4.111:6443',
    caPem: field('certificate-authority-data'),
    certificatePem: field('client-certificate-data'),
    key: new Secret(field('client-key-data')),
  })
  const answer = await client.clock.runUntil(wire.send({ method: 'GET', path: '/api/v1/nodes', headers: {} }))
  assert.equal(answer.status, 200, answer.body)
  assert.equal((JSON.parse(answer.body) as { items: unknown[] }).items.length, 2)
})

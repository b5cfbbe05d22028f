import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { isoImage } from '../src/cloudinit/iso.ts'
import { gateFiles } from '../src/k3s/gates.ts'
import { NODE_PROGRAM, type NodeAnswer, type NodeFacts } from '../src/k3s/node-program.ts'
import { NODE_PROGRAM_TEXT } from '../src/k3s/programs.ts'
import { computerOf } from './guest/life.ts'
import { facts } from './guest/node-program.ts'
import { BINARY, programText, unitPath } from './k3s/disk.ts'
import { releaseChecksum } from './k3s/install.ts'
import { serviceOf, startService } from './k3s/service.ts'
import { createTestClient, HOST, type TestClient, WEB } from './test-client.ts'
import { putFile } from './world/presets.ts'

const VERSION = 'v1.34.3+k3s1'
const TOKEN = 'c0ffee00c0ffee00c0ffee00c0ffee00'

interface Node {
  readonly vmid: number
  readonly name: string
  readonly address: string
}

const NODES: readonly Node[] = [1, 2, 3].map((number) => ({
  vmid: 200 + number,
  name: `k${number}`,
  address: `192.168.4.${70 + number}`,
}))

function userData(name: string): string {
  const files = [
    { path: NODE_PROGRAM, text: NODE_PROGRAM_TEXT },
    ...gateFiles({ hostname: name, deadlines: { route: 120, dns: 120, clock: 300, hostname: 120, api: 600 } }),
  ]
  return `#cloud-config\n${stringify({
    hostname: name,
    packages: ['qemu-guest-agent'],
    write_files: files.map(({ path, text }) => ({ path, permissions: '0755', content: text })),
    runcmd: [
      ['swapoff', '-a'],
      ['systemctl', 'enable', '--now', 'qemu-guest-agent'],
    ],
  })}`
}

/** Makes a machine with its seed on a disc, as croft does, and starts it. */
async function makeNode(client: TestClient, { vmid, name, address }: Node, data = userData(name)): Promise<void> {
  const { world } = client.datacentre
  const host = world.hosts.get('fun-bedbug')
  assert.ok(host)
  const mac = `bc:24:11:00:02:${vmid.toString(16).padStart(2, '0').slice(-2)}`
  const text = (value: string) => new TextEncoder().encode(value)
  const network = { version: 2, ethernets: { eth0: { match: { macaddress: mac }, addresses: [`${address}/24`] } } }
  const bytes = isoImage('CIDATA', [
    { name: 'meta-data', bytes: text(stringify({ 'instance-id': `i-${name}` })) },
    { name: 'user-data', bytes: text(data) },
    { name: 'network-config', bytes: text(stringify(network)) },
  ])
  putFile(world, host, 'local', `iso/seed-${vmid}.iso`, { format: 'iso', sizeBytes: bytes.length, bytes })
  const made = {
    ...WEB,
    vmid: `${vmid}`,
    name,
    net0: `virtio=${mac},bridge=vmbr0`,
    ide2: `local:iso/seed-${vmid}.iso,media=cdrom`,
  }
  assert.equal(await client.task('POST', `${HOST}/qemu`, made), 'OK')
  assert.equal(await client.task('POST', `${HOST}/qemu/${vmid}/status/start`), 'OK')
}

async function ask<T>(client: TestClient, vmid: number, verb: string, input?: unknown): Promise<T> {
  const agent = `${HOST}/qemu/${vmid}/agent`
  const params = new URLSearchParams([
    ['command', NODE_PROGRAM],
    ['command', verb],
    ...(input === undefined ? [] : [['input-data', JSON.stringify(input)]]),
  ] as [string, string][])
  const sent = await client.clock.runUntil(
    client.datacentre.handle({
      method: 'POST',
      path: `/api2/json${agent}/exec`,
      headers: {
        authorization: `PVEAPIToken=${client.datacentre.token}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: params.toString(),
    }),
  )
  assert.equal(sent.status, 200, sent.reason)
  const { pid } = (JSON.parse(sent.body) as { data: { pid: number } }).data
  for (let tries = 0; tries < 10; tries++) {
    await client.pass(200)
    const status = await client.data<{ exited: number; 'out-data'?: string }>('GET', `${agent}/exec-status?pid=${pid}`)
    if (status.exited === 1) return JSON.parse(status['out-data'] ?? '') as T
  }
  throw new Error('the program did not end')
}

const factsOf = (client: TestClient, vmid: number) => ask<NodeFacts>(client, vmid, 'facts')

async function until(client: TestClient, vmid: number, holds: (facts: NodeFacts) => boolean): Promise<NodeFacts> {
  for (let tries = 0; tries < 300; tries++) {
    const now = await factsOf(client, vmid)
    if (holds(now)) return now
    await client.pass(1_000)
  }
  throw new Error(`it never held: ${JSON.stringify(await factsOf(client, vmid))}`)
}

const install = (sha256 = releaseChecksum(VERSION)) => ({
  version: VERSION,
  from: [`https://github.com/k3s-io/k3s/releases/download/${VERSION.replace('+', '%2B')}/k3s`],
  sha256,
})

function config(node: Node, first: boolean) {
  const flags = {
    'node-name': node.name,
    'node-ip': node.address,
    'token-file': '/etc/rancher/k3s/token',
    ...(first ? { 'cluster-init': true } : { server: 'https://192.168.4.71:6443' }),
  }
  const file = (path: string, text: string) => ({ path, mode: '0600', base64: Buffer.from(text).toString('base64') })
  return { files: [file('/etc/rancher/k3s/config.yaml', JSON.stringify(flags)), file('/etc/rancher/k3s/token', TOKEN)] }
}

async function joined(client: TestClient, node: Node, first: boolean): Promise<void> {
  const { vmid } = node
  assert.deepEqual(await ask<NodeAnswer>(client, vmid, 'put', config(node, first)), { ok: true })
  assert.deepEqual(await ask<NodeAnswer>(client, vmid, 'install', install()), { ok: true })
  await until(client, vmid, ({ job }) => job?.state === 'done')
  assert.deepEqual(await ask<NodeAnswer>(client, vmid, 'start', { role: 'server' }), { ok: true })
  await until(client, vmid, ({ service }) => service === 'running')
}

test('guests with a seed boot, answer the node program over the agent, and form a cluster of three servers', async () => {
  const client = createTestClient()
  for (const node of NODES) await makeNode(client, node)
  await client.pass(40_000)
  for (const [index, node] of NODES.entries()) {
    const ready = await until(client, node.vmid, ({ cloudInit }) => cloudInit === 'done')
    assert.deepEqual([ready.hostname, ready.service, ready.data], [node.name, 'absent', 'none'])
    await joined(client, node, index === 0)
  }
  const seen = await factsOf(client, 201)
  assert.equal(seen.etcd?.members.length, 3)
  assert.ok(seen.etcd?.members.every(({ learner }) => !learner))
  assert.equal(seen.version, VERSION)
  const [cluster] = client.datacentre.clusters()
  assert.deepEqual(cluster?.nodes, ['k1', 'k2', 'k3'])
})

test('[R2] the host name comes in force late, and the gate holds K3s until it has', async () => {
  const client = createTestClient()
  await makeNode(client, NODES[0] as Node)
  const guest = client.datacentre.world.guests.get(201)
  await client.clock.runUntil(() => guest?.run.bootedAtMs !== undefined)
  const early = await factsOf(client, 201).catch(() => undefined)
  assert.equal(early, undefined, 'the program is not there before cloud-init has written it')
  await client.pass(900)
  assert.ok(guest)
  const computer = computerOf(client.datacentre.world, guest)
  const { files, system } = computer.machine
  assert.deepEqual([system.hostname, system.cloudInit], ['ubuntu', 'running'])
  files.write(BINARY, programText(VERSION))
  files.write(unitPath('server'), '')
  files.write('/etc/rancher/k3s/config.yaml', '{"cluster-init": true}')
  startService(computer)
  const held = facts(computer)
  assert.deepEqual(
    held.gates.map(({ name, message }) => [name, message]),
    [['hostname', 'the host calls itself ubuntu and not k1; at most 120 s']],
  )
  assert.equal(serviceOf(computer).process, undefined)
  const later = await until(client, 201, ({ cloudInit }) => cloudInit === 'done')
  assert.equal(later.hostname, 'k1')
  assert.equal(serviceOf(computer).process?.nodeName, 'k1')
})

test('a wrong checksum is not installed, and a server that nobody answers waits at its gate', async () => {
  const client = createTestClient()
  const [, second] = NODES
  await makeNode(client, second as Node)
  await client.pass(60_000)
  await ask(client, 202, 'install', install('0'.repeat(64)))
  const failed = await until(client, 202, ({ job }) => job?.state === 'failed')
  assert.match(failed.job?.message ?? '', /checksum/)
  assert.deepEqual(await ask<NodeAnswer>(client, 202, 'start', { role: 'server' }), {
    ok: false,
    error: 'K3s is not installed',
  })
  await ask(client, 202, 'put', config(second as Node, false))
  await ask(client, 202, 'install', install())
  await until(client, 202, ({ job }) => job?.state === 'done')
  await ask(client, 202, 'start', { role: 'server' })
  await client.pass(60_000)
  const waiting = await factsOf(client, 202)
  assert.equal(waiting.service, 'starting')
  assert.deepEqual(
    waiting.gates.map(({ name, message }) => [name, message]),
    [['api', 'https://192.168.4.71:6443 does not answer; at most 600 s']],
  )
})

test('[A17] machines from an image that was not cleaned have one machine id', async () => {
  const client = createTestClient()
  const { world } = client.datacentre
  const image = world.hosts.get('fun-bedbug')?.volumes.get('local')?.get('import/noble-server-cloudimg-amd64.qcow2')
  assert.ok(image?.system)
  image.system = { ...image.system, machineId: 'deadbeefdeadbeefdeadbeefdeadbeef' }
  for (const node of NODES.slice(0, 2)) await makeNode(client, node)
  await client.pass(90_000)
  const ids = [await factsOf(client, 201), await factsOf(client, 202)].map(({ machineId }) => machineId)
  assert.deepEqual(ids, Array(2).fill('deadbeefdeadbeefdeadbeefdeadbeef'))
})

test('troubles: a full disk, a silent agent, a slow boot, a lost host, each at the door as well', async () => {
  const client = createTestClient()
  const door = (method: string, path: string, body?: unknown) =>
    client.clock.runUntil(
      client.datacentre.handle({
        method,
        path,
        headers: {},
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  await makeNode(client, NODES[0] as Node)
  assert.equal((await door('PATCH', '/sim/guests/201/trouble', { diskFull: true })).status, 200)
  await client.pass(90_000)
  const told = JSON.parse((await door('GET', '/sim/guests/201/facts')).body) as NodeFacts
  assert.equal(told.cloudInit, 'error')
  assert.match(told.cloudInitError ?? '', /No space left on device/)
  await door('PATCH', '/sim/guests/201/trouble', { diskFull: null, agentSilent: true })
  assert.equal((await client.call('POST', `${HOST}/qemu/201/agent/ping`)).reason, 'QEMU guest agent is not running')
  await door('PATCH', '/sim/guests/201/trouble', { agentSilent: null, slowBootMs: 600_000 })
  await client.task('POST', `${HOST}/qemu/201/status/stop`)
  await client.task('POST', `${HOST}/qemu/201/status/start`)
  await client.pass(300_000)
  assert.equal((await client.call('POST', `${HOST}/qemu/201/agent/ping`)).status, 500)
  await client.pass(400_000)
  assert.equal((await client.call('POST', `${HOST}/qemu/201/agent/ping`)).status, 200)
  assert.equal((await door('PATCH', '/sim/guests/201/trouble', { nothing: true })).status, 400)
  assert.equal((await door('POST', '/sim/metal/nuc', { addresses: ['192.168.4.90'] })).status, 200)
  assert.equal((await door('PATCH', '/sim/metal/nuc', { power: 'crash' })).status, 200)
  assert.equal(client.datacentre.world.metal.get('nuc')?.power, 'off')
})

test('a host that loses its power takes its server with it, and the cluster goes on', async () => {
  const client = createTestClient()
  for (const node of NODES) await makeNode(client, node)
  await client.pass(60_000)
  for (const [index, node] of NODES.entries()) await joined(client, node, index === 0)
  await client.pass(30_000)
  client.datacentre.patchGuest(203, { status: 'stopped' })
  await client.pass(20_000)
  const [cluster] = client.datacentre.clusters()
  assert.equal(((cluster?.members ?? []) as { up: boolean }[]).filter(({ up }) => up).length, 2)
  assert.notEqual(cluster?.leader, undefined)
  await client.task('POST', `${HOST}/qemu/203/status/start`)
  await client.pass(90_000)
  assert.equal((await factsOf(client, 203)).service, 'running')
})

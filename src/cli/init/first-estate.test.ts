import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { createTestClient } from '../../../sim/test-client.ts'
import { simWire } from '../../../sim/wire.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { KINDS } from '../../kinds/registry.ts'
import type { Wire } from '../../lib/wire.ts'
import { createMemoryStore } from '../../store/memory.ts'
import { driverDeps, loaded } from '../import/testing/simulated.ts'
import { runCli } from '../run.ts'
import { fakeRuntime } from '../testing/fake-runtime.ts'
import { readPublicKey } from './cluster.ts'

const SHOWN = Array.from({ length: 32 }, () => 'AA').join(':')
let directory = ''

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'croft-init-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

function texts(): Record<string, string> {
  const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'))
  return Object.fromEntries(files.map((name) => [name, readFileSync(path.join(directory, name), 'utf8')]))
}

/** A way to the datacentre on which one path is answered as to a token without the privilege. */
function guarded(wire: Wire, forbidden: string | undefined): Wire {
  return {
    ...wire,
    send: async (request, signal) =>
      forbidden !== undefined && request.path.endsWith(forbidden)
        ? { status: 403, reason: 'Permission check failed (/nodes/a, Sys.Audit)', headers: {}, body: '{"data":null}' }
        : wire.send(request, signal),
  }
}

/** Runs `croft init` against a simulated datacentre, with these answers or without a terminal. */
async function init(
  words: readonly string[],
  answers?: readonly string[],
  env: Record<string, string> = { PROXMOX_TOKEN: 'x' },
  forbidden?: string,
) {
  const client = createTestClient({ timing: { callMs: [1, 1], shortTaskMs: 1 } })
  const left = [...(answers ?? [])]
  const asked: string[] = []
  const store = { ...createMemoryStore(), close: async () => {} }
  const runtime = fakeRuntime({
    env: { HOME: directory, XDG_STATE_HOME: path.join(directory, '.state'), ...env },
    clock: client.clock,
    interactive: answers !== undefined,
    ask: async (question) => {
      asked.push(question)
      return left.shift()
    },
    kinds: async () => KINDS,
    load: async () => loaded(texts()),
    openStore: async () => store,
    openMemoryStore: async () => store,
    openDrivers: async () => ({
      drivers: [proxmoxDriver],
      deps: {
        ...driverDeps(client),
        openWire: () => guarded(simWire(client.datacentre), forbidden),
        lookAtCertificate: async () => ({ fingerprint: SHOWN, notAfterMs: 2e12, distrust: 'self-signed' }),
      },
    }),
    writeFile: async (file, text) => {
      writeFileSync(file, text, { flag: 'wx' })
      return true
    },
  })
  const code = await client.clock.runUntil(runCli(['init', directory, ...words], runtime))
  return { code, asked, unused: left, ...runtime.written }
}

const WHOLE = [
  '--proxmox',
  '192.168.4.175',
  '--fingerprint',
  SHOWN,
  '--addresses',
  '192.168.4.230-192.168.4.250',
  '--yes',
]

test('flags alone give an estate without an error: connection, ground and a cluster of three servers', async () => {
  const { code, err, out } = await init(WHOLE)
  assert.equal(code, 0, err)
  const { estate } = loaded(texts())
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  const [cluster] = estate.clusters ?? []
  assert.equal(cluster?.name, 'home')
  assert.equal(cluster?.spec.servers.length, 3)
  assert.match(texts()['cluster.yaml'] ?? '', /vip: 192\.168\.4\.230\n/)
  assert.match(texts()['ground.yaml'] ?? '', /from: 192\.168\.4\.231\n/)
  assert.match(texts()['proxmox.yaml'] ?? '', /endpoint: https:\/\/192\.168\.4\.175:8006\n/)
  assert.match(out, /pveum role add croft-vms --privs .*VM\.Allocate/)
  assert.match(out, /croft plan .*\n/)
})

test('nodes get a login where a key is named, and where none is that is said', async () => {
  const without = await init(WHOLE)
  assert.match(without.err, /No login was written for the nodes: the guest agent is the only way in/)
  assert.doesNotMatch(texts()['ground.yaml'] ?? '', /sshKeys/)
})

test('a key may be written out or be in a file, and a private one is refused', async () => {
  const key = `ssh-ed25519 ${'A'.repeat(68)} anna@desk`
  const [pub, secret] = [path.join(directory, 'id.pub'), path.join(directory, 'id')]
  writeFileSync(pub, `${key}\n`)
  writeFileSync(secret, '-----BEGIN OPENSSH PRIVATE KEY-----\n')
  assert.deepEqual(readPublicKey('id.pub', directory), { is: key })
  assert.deepEqual(readPublicKey(key, directory), { is: key })
  assert.match(JSON.stringify(readPublicKey(secret, directory)), /holds no public key; its file ends with .pub/)
  assert.match(JSON.stringify(readPublicKey('id.sub', directory)), /write a public key/)
  const { code, err } = await init([...WHOLE, '--ssh-key', pub, '--login', 'anna'])
  assert.equal(code, 0, err)
  assert.match(texts()['ground.yaml'] ?? '', /user: anna\n {2}sshKeys:\n {4}- ssh-ed25519 A+ anna@desk\n/)
  assert.doesNotMatch(err, /No login/)
  assert.deepEqual(
    loaded(texts()).estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
})

test('a person is asked one thing after the other, and told what is wrong with an answer', async () => {
  const typed = [
    'yes',
    'no',
    '192.168.4.175',
    'yes',
    'yes',
    '',
    '',
    '',
    '',
    '',
    'lab',
    '2',
    '1',
    '',
    '10.0.0.1-10.0.0.9',
    '192.168.4.230-192.168.4.250',
    'my key',
    '',
  ]
  const { code, err, asked, unused } = await init([], typed)
  assert.equal(code, 0, err)
  assert.deepEqual(unused, [])
  assert.match(err, new RegExp(`SHA-256\\n  ${SHOWN}`))
  assert.match(err, /1, 3 or 5: an even number is no safer/)
  assert.match(err, /write a public key \(ssh-ed25519 …\), the file of one, or none/)
  assert.match(err, /10\.0\.0\.1 is not in 192\.168\.4\.0\/24/)
  assert.ok(
    asked.some((question) => question === 'Storage for their disks (local-zfs): '),
    asked.join('\n'),
  )
  assert.match(texts()['cluster.yaml'] ?? '', /name: lab\n/)
  assert.equal(loaded(texts()).estate.clusters?.[0]?.spec.servers.length, 1)
})

test('an unknown certificate is not accepted by --yes, and nothing is written', async () => {
  const { code, err } = await init(['--proxmox', '192.168.4.175', '--yes'])
  assert.equal(code, 4)
  assert.match(err, new RegExp(`run it again with --fingerprint ${SHOWN}`))
  const other = await init(['--proxmox', '192.168.4.175', '--fingerprint', 'BB'.repeat(32), '--yes'])
  assert.equal(other.code, 4)
  assert.match(other.err, /shows another certificate/)
  assert.deepEqual(Object.keys(texts()), ['estate.yaml'])
})

test('without a token the connection is written, and the same command goes on when there is one', async () => {
  const first = await init(WHOLE, undefined, {})
  assert.equal(first.code, 1)
  assert.match(first.err, /PROXMOX_TOKEN is not set[\s\S]*pveum user token add/)
  assert.deepEqual(Object.keys(texts()), ['estate.yaml', 'proxmox.yaml'])
  const again = await init(['--addresses', '192.168.4.230-192.168.4.250', '--yes'])
  assert.equal(again.code, 0, again.err)
  assert.deepEqual(Object.keys(texts()), ['cluster.yaml', 'estate.yaml', 'ground.yaml', 'proxmox.yaml'])
})

test('who asks for the connection alone is told how to go on', async () => {
  const { code, out } = await init(['--proxmox', '192.168.4.175', '--fingerprint', SHOWN, '--yes'])
  assert.equal(code, 0)
  assert.match(out, /croft init \S+ --cluster NAME --addresses FROM-TO/)
  assert.match(out, /croft import proxmox \S+ --all/)
})

test('files that are there stay as they are', async () => {
  assert.equal((await init(WHOLE)).code, 0)
  const before = texts()
  const again = await init(['--addresses', '192.168.4.230-192.168.4.250', '--yes'])
  assert.equal(again.code, 1)
  assert.match(again.err, /ground\.yaml exists already, and croft init changes no file/)
  const twice = await init(WHOLE)
  assert.match(twice.err, /declares the connection default already. Leave out --proxmox/)
  assert.deepEqual(texts(), before)
})

test('without --addresses and nobody to ask, the error names the flag and nothing more is written', async () => {
  const { code, err } = await init([...WHOLE.slice(0, 4), '--cluster', 'home', '--yes'])
  assert.equal(code, 64)
  assert.match(err, /add --addresses FROM-TO/)
  assert.deepEqual(Object.keys(texts()), ['estate.yaml', 'proxmox.yaml'])
})

test('a token that may not see name servers is no obstacle: the gateway is taken', async () => {
  const { code, err } = await init(WHOLE, undefined, { PROXMOX_TOKEN: 'x' }, '/dns')
  assert.equal(code, 0, err)
  assert.match(texts()['ground.yaml'] ?? '', /dns:\n {4}servers:\n {6}- 192\.168\.4\.1\n/)
})

test('without flags and without a person, a directory gets its identity and nothing else', async () => {
  assert.equal((await init(['--yes'])).code, 0)
  assert.deepEqual(Object.keys(texts()), ['estate.yaml'])
})

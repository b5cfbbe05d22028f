import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { findCommand } from '../../../scripts/packages.ts'
import { seedDocument } from '../../cloudinit/document.ts'
import { seedFiles } from '../../cloudinit/image.ts'
import { checkNetworkConfig } from '../../cloudinit/testing/network-config-check.ts'
import { checkUserData } from '../../cloudinit/validate.ts'
import { NODE_PROGRAM } from '../../k3s/node-program.ts'
import { secretsIn } from '../../model/desired-secrets.ts'
import type { SeedDocument, TreeMap } from '../../model/vm.ts'
import type { Part } from '../kind.ts'
import { fields, grow, KEY, surroundings, vmOf } from './testing/homelab.ts'

const folder = mkdtempSync(join(tmpdir(), 'croft-node-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const PEOPLE = { user: 'ops', sshKeys: [KEY] }

function documentOf(parts: readonly Part[], name: string): SeedDocument {
  const { seed } = vmOf(parts, name)
  assert.ok(seed)
  return seed.document
}

function fileOf({ userData }: SeedDocument, path: string): string {
  const files = userData.write_files as readonly { readonly path: string; readonly content: string }[]
  return files.find((file) => file.path === path)?.content ?? ''
}

const lines = (document: SeedDocument) =>
  seedFiles(document).flatMap(({ bytes }) => new TextDecoder().decode(bytes).split('\n'))

test('[A3] [R3] documents of three nodes differ in what is their own and in nothing else', () => {
  const { parts } = grow(fields(PEOPLE))
  const [first = [], ...others] = ['s1', 's2', 's3'].map((name) => lines(documentOf(parts, name)))
  for (const other of others) {
    assert.equal(other.length, first.length)
    const changed = first.filter((line, at) => line !== other[at]).map((line) => line.trim().replace(/[:=\s].*$/, ''))
    assert.deepEqual(changed.sort(), [
      '-',
      'fqdn',
      'hostname',
      'hostname_wanted',
      'instance-id',
      'local-hostname',
      'macaddress',
    ])
  }
})

test('[R2] a node knows its name and its full name, and K3s waits for it', () => {
  const document = documentOf(grow(fields()).parts, 's1')
  assert.deepEqual([document.userData.hostname, document.userData.fqdn], ['s1', 's1.home.arpa'])
  assert.match(fileOf(document, '/etc/croft/gates'), /^hostname=120$/m)
  assert.match(fileOf(document, '/etc/croft/gates'), /^hostname_wanted=s1$/m)
  for (const unit of ['k3s', 'k3s-agent'])
    assert.match(
      fileOf(document, `/etc/systemd/system/${unit}.service.d/10-croft-gates.conf`),
      /^Requires=croft-gates/m,
    )
})

test('a node is ready for K3s: modules, sysctl, no swap, the agent, the program', () => {
  const document = documentOf(grow(fields()).parts, 's1')
  assert.equal(fileOf(document, '/etc/modules-load.d/croft-k3s.conf'), 'overlay\nbr_netfilter\n')
  const sysctl = fileOf(document, '/etc/sysctl.d/90-croft-k3s.conf')
  assert.match(sysctl, /^net\.ipv4\.ip_forward = 1$/m)
  assert.doesNotMatch(sysctl, /ipv6\.conf/)
  assert.deepEqual(document.userData.packages, ['qemu-guest-agent'])
  const commands = JSON.stringify(document.userData.runcmd)
  for (const wanted of ['["swapoff","-a"]', '"qemu-guest-agent"', '["modprobe","br_netfilter"]'])
    assert.ok(commands.includes(wanted), wanted)
  assert.notEqual(fileOf(document, NODE_PROGRAM), '')
  const dual = documentOf(grow(fields({ family: 'dual' })).parts, 's1')
  assert.match(fileOf(dual, '/etc/sysctl.d/90-croft-k3s.conf'), /^net\.ipv6\.conf\.all\.forwarding = 1$/m)
})

test('[A4] [R4] a document refers to no secret and says nothing about K3s itself', () => {
  const secret = { file: '/etc/croft/secret-name' }
  const spec = fields({
    registries: { configs: { 'r.home.arpa': { auth: secret } } },
    backup: { schedule: '0 4 * * *', to: { s3: { endpoint: 's3.home.arpa', bucket: 'k3s', credentials: secret } } },
  })
  const document = documentOf(grow(spec).parts, 's1')
  assert.deepEqual(secretsIn(document), [])
  const { write_files: files, ...rest } = document.userData
  const written = (files as readonly { path: string; content: string }[]).filter(
    ({ path }) => !path.startsWith('/usr/local/lib/croft/'),
  )
  assert.doesNotMatch(JSON.stringify([rest, written]), /token|secret-name|K10|r\.home\.arpa|10\.0\.3\.79/i)
})

test('what only K3s needs does not change what a machine has read', () => {
  const hash = (more: object) => vmOf(grow(fields(more)).parts, 's1').seed?.hash
  const before = hash({})
  for (const more of [
    { version: 'v1.34.1+k3s1' },
    { disable: ['traefik'] },
    { serverFlags: { 'etcd-expose-metrics': true } },
    { endpoint: { dns: 'k3s.home.arpa' } },
    { tlsSans: ['k3s.home.arpa'] },
    { labels: { a: 'b' } },
    { registries: { mirrors: { '*': { endpoint: ['https://r.home.arpa'] } } } },
    { upgrade: { soak: '1m' } },
    { agents: [{ name: 'w', host: 'alpha' }] },
  ])
    assert.equal(hash(more), before, JSON.stringify(more))
  assert.notEqual(hash({ user: 'ops' }), before)
  assert.equal(vmOf(grow(fields()).parts, 's1').seed?.onChange, 'ignore')
})

test('a newer program of ours is no new document', () => {
  const parts = (content: string): Parameters<typeof seedDocument>[0] => ({
    hostname: 'a',
    userData: {
      hostname: 'a',
      write_files: [
        { path: NODE_PROGRAM, permissions: '0755', content },
        { path: '/x', content: 'y' },
      ],
    },
  })
  assert.equal(seedDocument(parts('1')).hash, seedDocument(parts('2')).hash)
  assert.equal(JSON.stringify(seedDocument(parts('2')).document).includes('"content":"2"'), true)
  const other = { hostname: 'a', userData: { hostname: 'a', write_files: [{ path: '/x', content: 'z' }] } }
  assert.notEqual(seedDocument(other).hash, seedDocument(parts('1')).hash)
})

test('[R11] nobody waits for what the declaration makes impossible', () => {
  const gates = (more: object, around = surroundings()) =>
    fileOf(documentOf(grow(fields(more), around).parts, 's1'), '/etc/croft/gates')
  assert.match(gates({}), /^route=120$/m)
  assert.match(gates({}), /^dns_name=github\.com$/m)
  assert.match(gates({}, surroundings({ network: { gateway: undefined } })), /^route=off$/m)
  const offline = { artifacts: { file: '/opt/k3s' } }
  assert.doesNotMatch(gates(offline), /dns_name/)
  assert.equal(documentOf(grow(fields(offline)).parts, 's1').userData.packages, undefined)
  assert.match(gates({ artifacts: { mirror: 'https://mirror.home.arpa/k3s' } }), /^dns_name=mirror\.home\.arpa$/m)
  assert.match(gates({ gates: { clock: 'off', api: '90s' } }), /^clock=off\nhostname=120\napi=90$/m)
})

test('what class and cluster add is added, class first', () => {
  const around = surroundings({ worker: { userData: { packages: ['nfs-common'], timezone: 'UTC' } } })
  const { userData } = documentOf(grow(fields({ userData: { runcmd: [['true']] } }), around).parts, 's1')
  assert.deepEqual([userData.packages, userData.timezone], [['qemu-guest-agent', 'nfs-common'], 'UTC'])
  assert.deepEqual((userData.runcmd as readonly unknown[]).at(-1), ['true'])
})

const NETWORKS: Readonly<Record<string, { readonly node: object; readonly cluster?: object }>> = {
  'from the pool': { node: {} },
  'static v4': { node: { address: '10.0.0.5' } },
  'dual stack': { node: { address: '10.0.0.5', ipv6: 'fd00:1::5/64' }, cluster: { family: 'dual' } },
  'router advertisements': { node: { ipv6: 'auto' }, cluster: { family: 'dual' } },
  DHCP: { node: { address: 'dhcp' } },
}

const program = findCommand('cloud-init')
for (const [what, { node, cluster = {} }] of Object.entries(NETWORKS)) {
  test(`[A12] [A13] [R18] what a node with ${what} reads is valid to cloud-init itself`, {
    skip: program === undefined ? 'cloud-init is not installed' : false,
  }, () => {
    const servers = [{ name: 's1', host: 'alpha', ...node }]
    const around = surroundings({ network: { gateway6: 'fd00:1::1' } })
    const document = documentOf(
      grow(fields({ ...PEOPLE, ...cluster, servers, endpoint: undefined }), around).parts,
      's1',
    )
    assert.deepEqual(checkUserData(document.userData), [])
    assert.deepEqual(checkNetworkConfig(document.networkConfig as TreeMap), [])
    const config = JSON.stringify(document.networkConfig)
    assert.match(config, /"macaddress":"[0-9a-f:]{17}"/)
    assert.doesNotMatch(config, /gateway|set-name/)
    assert.equal(/"dhcp4":true/.test(config), what === 'DHCP')
    const file = join(folder, 'user-data')
    writeFileSync(file, seedFiles(document).find(({ name }) => name === 'user-data')?.bytes ?? '')
    const ran = spawnSync(program ?? '', ['schema', '--config-file', file], { encoding: 'utf8' })
    assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`)
    assert.match(ran.stdout, /Valid (?:cloud-config|schema)/)
  })
}

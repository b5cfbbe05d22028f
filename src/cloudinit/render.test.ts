import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { findCommand } from '../../scripts/packages.ts'
import { readIso } from '../../sim/world/read-iso.ts'
import { secretsIn } from '../model/desired-secrets.ts'
import { Secret } from '../model/secret.ts'
import type { Tree, TreeMap } from '../model/vm.ts'
import { seedDocument } from './document.ts'
import { printYaml, seedFiles, seedImage } from './image.ts'
import { stableMac } from './mac.ts'
import { mergeUserData } from './merge.ts'
import { type CardAddressing, networkConfig } from './network-config.ts'
import { withSecrets } from './secrets.ts'
import { checkNetworkConfig } from './testing/network-config-check.ts'
import { neededUserData, parseUserData } from './user-data.ts'
import { checkUserData } from './validate.ts'

const folder = mkdtempSync(join(tmpdir(), 'croft-cloudinit-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGj1Zr3mQyv9dQm0yq0S3mX8w1vK5n2bJ7cT4uR6hLpA admin'
const MAC = '02:AB:CD:EF:00:01'
const needing = (command: string) => ({
  path: findCommand(command) ?? command,
  skip: findCommand(command) === undefined ? `${command} is not installed` : false,
})

function merged(needed: TreeMap, own: TreeMap): TreeMap {
  const result = mergeUserData(needed, own)
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result.tree
}

test('the user that is declared can log in with the keys and with nothing else', () => {
  assert.deepEqual(neededUserData({ hostname: 'web-1', domain: 'home.arpa', user: 'ops', sshKeys: [KEY] }), {
    hostname: 'web-1',
    fqdn: 'web-1.home.arpa',
    users: [
      {
        name: 'ops',
        shell: '/bin/bash',
        sudo: 'ALL=(ALL) NOPASSWD:ALL',
        lock_passwd: true,
        ssh_authorized_keys: [KEY],
      },
    ],
  })
  assert.deepEqual(neededUserData({ hostname: 'web-1', sshKeys: [KEY] }), {
    hostname: 'web-1',
    ssh_authorized_keys: [KEY],
  })
})

test('what a person wrote is added to what croft needs', () => {
  const needed = neededUserData({ hostname: 'web-1', user: 'ops', sshKeys: [KEY] })
  const own = { users: ['default', { name: 'guest' }], runcmd: ['true'], hostname: 'web-1', timezone: 'UTC' }
  const tree = merged(needed, own)
  assert.deepEqual((tree.users as readonly Tree[]).slice(1), ['default', { name: 'guest' }])
  assert.deepEqual([tree.hostname, tree.runcmd, tree.timezone], ['web-1', ['true'], 'UTC'])
  assert.deepEqual(checkUserData(tree), [])
})

test('a contradiction is a problem that names the key', () => {
  const needed = neededUserData({ hostname: 'web-1', domain: 'home.arpa', user: 'ops', sshKeys: [KEY] })
  const own = { hostname: 'other', fqdn: 'web-1.home.arpa', users: [{ name: 'x' }, { name: 'ops' }] }
  const result = mergeUserData(needed, own)
  assert.ok('problems' in result)
  assert.deepEqual(
    result.problems.map(({ path, message }) => [path.join('.'), message]),
    [
      ['hostname', 'hostname is also written by croft, and differently'],
      ['users.1', 'users.1 (ops) is also written by croft, and differently'],
    ],
  )
})

test('user data as text is read as cloud-init reads it', () => {
  assert.deepEqual(
    parseUserData('#cloud-config\npackage_update: yes\nwrite_files:\n- {path: /x, permissions: "0600"}\n'),
    {
      tree: { package_update: true, write_files: [{ path: '/x', permissions: '0600' }] },
    },
  )
  assert.deepEqual(parseUserData('#cloud-config'), { tree: {} })
  const refused = (text: string) => {
    const result = parseUserData(text)
    return 'problems' in result ? result.problems[0]?.message : undefined
  }
  assert.equal(refused('#!/bin/sh\nreboot\n'), 'the text does not begin with #cloud-config')
  assert.match(refused('#cloud-config\na: [') ?? '', /^the text is not YAML at character 18/)
  assert.equal(refused('#cloud-config\n- a\n'), 'the text is not a block of fields')
  const bomb = `#cloud-config\na: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g']
    .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdef'[at]}`).join()}]`)
    .join('\n')}\n`
  assert.match(refused(bomb) ?? '', /not YAML/)
})

test('the instance id follows the document and nothing else', () => {
  const parts = { hostname: 'a', userData: { hostname: 'a', runcmd: ['x'] }, networkConfig: networkConfig([]) }
  const one = seedDocument(parts)
  assert.match(JSON.stringify(one.document.metaData), /"instance-id":"croft-[0-9a-f]{12}"/)
  assert.equal(one.document.metaData['local-hostname'], 'a')
  assert.equal(seedDocument({ ...parts, userData: { runcmd: ['x'], hostname: 'a' } }).hash, one.hash)
  for (const other of [
    { ...parts, hostname: 'b' },
    { ...parts, userData: { hostname: 'a', runcmd: ['y'] } },
    { ...parts, networkConfig: networkConfig([{ id: 'net0', mac: MAC, v4: 'dhcp' }]) },
  ])
    assert.notEqual(seedDocument(other).document.metaData['instance-id'], one.document.metaData['instance-id'])
})

test('[A3] three machines of one sort differ only in what is their own', () => {
  const documents = ['n1', 'n2', 'n3'].map((hostname, at) => {
    const card = { id: 'net0', mac: stableMac(hostname, 'net0'), v4: `10.0.0.${at + 5}/24`, gateway4: '10.0.0.1' }
    const userData = merged(neededUserData({ hostname, sshKeys: [KEY] }), { packages: ['curl'], runcmd: ['true'] })
    return seedDocument({ hostname, userData, networkConfig: networkConfig([card]) }).document
  })
  const texts = documents.map((document) =>
    seedFiles(document)
      .map(({ name, bytes }) => `# ${name}\n${new TextDecoder().decode(bytes)}`)
      .join(''),
  )
  assert.equal(new Set(texts).size, 3)
  const [first = '', ...others] = texts
  for (const other of others) {
    const lines = other.split('\n')
    const changed = first.split('\n').filter((line, at) => line !== lines[at])
    assert.deepEqual(
      changed.map((line) => line.trim().replace(/[:\s].*$/, '')),
      ['instance-id', 'local-hostname', 'hostname', 'macaddress', '-'],
    )
  }
})

test('[R12] [R18] [A13] a fixed address comes by hardware address and route, and waits for nobody', () => {
  const config = networkConfig([
    {
      id: 'net0',
      mac: MAC,
      v4: '192.168.4.20/24',
      gateway4: '192.168.4.1',
      nameservers: ['192.168.4.1'],
      search: ['home.arpa'],
    },
  ])
  assert.deepEqual(config, {
    version: 2,
    ethernets: {
      net0: {
        match: { macaddress: '02:ab:cd:ef:00:01' },
        dhcp4: false,
        dhcp6: false,
        addresses: ['192.168.4.20/24'],
        routes: [{ to: '0.0.0.0/0', via: '192.168.4.1' }],
        nameservers: { addresses: ['192.168.4.1'], search: ['home.arpa'] },
      },
    },
  })
  assert.doesNotMatch(JSON.stringify(config), /gateway|set-name|"(?:eth|ens|enp)\d/)
})

const CARDS: Readonly<Record<string, readonly CardAddressing[]>> = {
  'fixed v4': [{ id: 'net0', mac: MAC, v4: '192.168.4.20/24', gateway4: '192.168.4.1', mtu: 9000 }],
  'fixed v6': [{ id: 'net0', mac: MAC, v6: 'fd00::20/64', gateway6: 'fd00::1', nameservers: ['fd00::53'] }],
  'dual stack': [
    { id: 'net0', mac: MAC, v4: '10.0.0.2/8', gateway4: '10.0.0.1', v6: 'fd00::20/64', gateway6: 'fd00::1' },
  ],
  DHCP: [{ id: 'net0', mac: MAC, v4: 'dhcp', v6: 'dhcp' }],
  'router advertisements': [{ id: 'net0', mac: MAC, v4: 'dhcp', v6: 'auto' }],
  'two cards': [
    { id: 'net0', mac: MAC, v4: 'dhcp', search: ['a.b'] },
    { id: 'net1', mac: '02:AB:CD:EF:00:02', v4: '10.9.0.2/24' },
  ],
}

const netplan = needing('netplan')
for (const [what, cards] of Object.entries(CARDS)) {
  test(`[R18] [A12] netplan makes of ${what} what was meant, for whatever the interface is called`, {
    skip: netplan.skip,
  }, () => {
    const config = networkConfig(cards)
    assert.deepEqual(checkNetworkConfig(config), [])
    const root = join(folder, what.replaceAll(' ', '-'))
    mkdirSync(join(root, 'etc/netplan'), { recursive: true })
    writeFileSync(join(root, 'etc/netplan/50-cloud-init.yaml'), printYaml({ network: config }), { mode: 0o600 })
    const ran = spawnSync(netplan.path, ['generate', '--root-dir', root], { encoding: 'utf8' })
    assert.equal(ran.status, 0, ran.stderr)
    assert.doesNotMatch(ran.stderr, /deprecated|warning/i)
    const networkd = join(root, 'run/systemd/network')
    const files = readdirSync(networkd)
      .filter((name) => name.endsWith('.network'))
      .sort()
    assert.equal(files.length, cards.length)
    for (const [at, card] of cards.entries()) {
      const text = readFileSync(join(networkd, files[at] ?? ''), 'utf8')
      assert.match(text, new RegExp(`^(?:Permanent)?MACAddress=${card.mac.toLowerCase()}$`, 'm'))
      assert.doesNotMatch(text, /^(?:Original)?Name=/m)
      for (const address of [card.v4, card.v6].filter((one) => one?.includes('/')))
        assert.match(text, new RegExp(`^Address=${address}$`, 'm'))
      for (const gateway of [card.gateway4, card.gateway6].filter((one) => one !== undefined))
        assert.match(text, new RegExp(`^Gateway=${gateway}$`, 'm'))
      const dhcp = card.v4 === 'dhcp' ? (card.v6 === 'dhcp' ? 'yes' : 'ipv4') : undefined
      assert.equal(/^DHCP=(.*)$/m.exec(text)?.[1], dhcp)
    }
  })
}

const cloudInit = needing('cloud-init')
test('[R1] what croft writes is valid to cloud-init itself', { skip: cloudInit.skip }, () => {
  const own: TreeMap = {
    package_update: true,
    packages: ['qemu-guest-agent'],
    write_files: [{ path: '/etc/modules-load.d/k3s.conf', content: 'overlay\nbr_netfilter\n', permissions: '0644' }],
    runcmd: [['systemctl', 'enable', '--now', 'qemu-guest-agent'], 'echo "on: yes" > /run/x'],
    bootcmd: [['modprobe', 'overlay']],
    swap: { filename: '/swap.img', size: 0 },
    ntp: { servers: ['192.168.4.1'] },
    growpart: { mode: 'auto' },
    chpasswd: { expire: false },
    timezone: 'Europe/Berlin',
    users: ['default'],
  }
  const tree = merged(neededUserData({ hostname: 'web-1', domain: 'home.arpa', user: 'ops', sshKeys: [KEY] }), own)
  assert.deepEqual(checkUserData(tree), [])
  const file = join(folder, 'user-data')
  writeFileSync(file, `#cloud-config\n${printYaml(tree)}`)
  const ran = spawnSync(cloudInit.path, ['schema', '--config-file', file], { encoding: 'utf8' })
  assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`)
  assert.match(ran.stdout, /Valid (?:cloud-config|schema)/)
})

test('what croft refuses, cloud-init refuses too', { skip: cloudInit.skip }, () => {
  for (const tree of [{ hostname: 12 }, { runcmd: 'reboot' }, { write_files: [{ content: 'x' }] }, { runcmd: [] }]) {
    assert.notDeepEqual(checkUserData(tree), [])
    const file = join(folder, 'wrong')
    writeFileSync(file, `#cloud-config\n${printYaml(tree)}`)
    const ran = spawnSync(cloudInit.path, ['schema', '--config-file', file], { encoding: 'utf8' })
    assert.notEqual(ran.status, 0, JSON.stringify(tree))
  }
})

const readers = ['/usr/bin/python3', 'python3'].filter((one) => spawnSync(one, ['-c', 'import yaml']).status === 0)
const python = { path: readers[0] ?? 'python3', skip: readers.length === 0 ? 'python3-yaml is not installed' : false }
test('texts stay texts when PyYAML reads them, on, 012, 1:30 and = among them', { skip: python.skip }, () => {
  const words = [
    'yes',
    'no',
    'On',
    'y',
    'N',
    '012',
    '0o17',
    '1:30',
    '2024-01-01',
    '=',
    '<<',
    '~',
    'null',
    '1_000',
    '.inf',
    '0x1f',
    '1e3',
    '- a',
    'a: b',
    '#c',
    ' a',
    'a ',
    'a\n',
    '\na\n\n',
    'a\tb',
    "it's",
    '"',
    '\\',
    '%x',
    '@x',
    '`x',
    '!x',
    '&a',
    '*a',
    '|',
    '>',
    '?',
    ':',
    '{',
    '[',
    '---',
    '...',
    'é😀',
    '',
  ]
  const texts = fc.oneof(
    fc.constantFrom(...words),
    fc.string({ unit: 'grapheme' }).filter((text) => checkUserData({ final_message: text }).length === 0),
  )
  const tree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      texts,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(
        texts.filter((key) => key !== '__proto__'),
        tie('tree'),
        { maxKeys: 3 },
      ),
    ),
  })).tree
  const samples = fc.sample(fc.record({ a: tree, b: fc.array(texts) }), { numRuns: 400, seed: 7 })
  const script = 'import sys,json,yaml\nfor t in json.load(sys.stdin): print(json.dumps(yaml.safe_load(t)))'
  const input = JSON.stringify(samples.map((sample) => printYaml(sample as TreeMap)))
  const ran = spawnSync(python.path, ['-c', script], { encoding: 'utf8', input, maxBuffer: 64 * 1024 * 1024 })
  assert.equal(ran.status, 0, ran.stderr)
  const read = ran.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  for (const [at, sample] of samples.entries()) assert.deepEqual(read[at], JSON.parse(JSON.stringify(sample)))
})

test('secrets are in the image and nowhere before', async () => {
  const reference = { env: 'TOKEN' }
  const userData = {
    write_files: [{ path: '/t', content: { valueFrom: reference } }],
    password: { valueFrom: reference },
  }
  const { document } = seedDocument({ hostname: 'a', userData: userData as unknown as TreeMap })
  assert.deepEqual(secretsIn(document), [reference])
  await assert.rejects(
    withSecrets(document, () => Promise.reject(new Error('not set'))),
    /not set/,
  )
  const full = await withSecrets(document, async () => new Secret('s3cr3t-on: yes'))
  const text = new TextDecoder().decode(readIso(seedImage(full))?.files.get('user-data'))
  assert.equal(text.match(/"s3cr3t-on: yes"/g)?.length, 2)
  assert.doesNotMatch(new TextDecoder().decode(seedImage(document)), /s3cr3t/)
})

test('the content of a file keeps its last line end, as an SSH key needs; a password loses it', async () => {
  const from = { valueFrom: { file: '/id' } }
  const { document } = seedDocument({
    hostname: 'a',
    userData: {
      write_files: [{ path: '/root/.ssh/id', content: from }],
      password: from,
      ssh_authorized_keys: [from],
    } as unknown as TreeMap,
  })
  const { userData } = await withSecrets(document, async () => new Secret('--KEY--\nabc\n--END--\n'))
  const { write_files: files, password, ssh_authorized_keys: keys } = userData as Record<string, Tree>
  assert.deepEqual(files, [{ path: '/root/.ssh/id', content: '--KEY--\nabc\n--END--\n' }])
  assert.equal(password, '--KEY--\nabc\n--END--')
  assert.deepEqual(keys, ['--KEY--\nabc\n--END--'])
})

test('a secret that cloud-init could not read is refused with its place, and not shown', async () => {
  for (const bad of ['hunter2\u007f', 'hunter2\uffff', 'hunter2\u0000', 'hunter2\ud800']) {
    const userData = { write_files: [{ path: '/t', content: { valueFrom: { env: 'A' } } }] } as unknown as TreeMap
    const { document } = seedDocument({ hostname: 'a', userData })
    await assert.rejects(
      withSecrets(document, async () => new Secret(bad)),
      (error: Error) =>
        /the secret for content .* cloud-init cannot read/.test(error.message) && !/hunter2/.test(error.message),
    )
  }
})

test('a hardware address follows from uid and slot, is local and for one', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (uid, slot) => {
      const mac = stableMac(uid, slot)
      assert.match(mac, /^[0-9A-F]{2}(:[0-9A-F]{2}){5}$/)
      assert.equal(Number.parseInt(mac.slice(0, 2), 16) & 3, 2)
      assert.equal(stableMac(uid, slot), mac)
    }),
  )
  assert.notEqual(stableMac('a', 'net0'), stableMac('a', 'net1'))
  assert.equal(stableMac('0123456789abcdef', 'net0'), '6A:5B:38:D3:6A:F6')
})

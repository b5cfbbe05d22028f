import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemId } from '../../model/host-item.ts'
import { readText } from '../../source/testing/fixture.ts'
import { findKind } from '../registry.ts'
import { itemsOf, standsOn } from './items.ts'
import { schema } from './schema.ts'

const HOSTILE = [
  '$(touch /tmp/p)',
  '`id`',
  'a;reboot',
  'a\nb',
  '--flag',
  'a b',
  "a'b",
  'a"b',
  'a\0b',
  '../../../etc/sudoers.d/x',
  '',
]

/** Every text that becomes a path, a name or a word on a host, with a place to put it. */
const FIELDS: Readonly<Record<string, (text: string) => object>> = {
  package: (text) => ({ packages: [text] }),
  version: (text) => ({ packages: [{ name: 'curl', version: text }] }),
  file: (text) => ({ files: [{ path: text, content: '' }] }),
  'file below a folder': (text) => ({ files: [{ path: `/etc/${text}`, content: '' }] }),
  owner: (text) => ({ files: [{ path: '/etc/a', content: '', owner: text }] }),
  directory: (text) => ({ directories: [{ path: `/srv/${text}/x` }] }),
  user: (text) => ({ users: [{ name: text }] }),
  group: (text) => ({ users: [{ name: 'a', groups: [text] }] }),
  key: (text) => ({ users: [{ name: 'a', keys: [text] }] }),
  sysctl: (text) => ({ sysctl: { [text]: 1 } }),
  'value of sysctl': (text) => ({ sysctl: { 'net.ipv4.ip_forward': text === 'a b' ? '' : text } }),
  module: (text) => ({ modules: [text] }),
  'kernel word': (text) => ({ kernel: { args: [text] } }),
  vfio: (text) => ({ vfio: { ids: [text] } }),
  unit: (text) => ({ units: [{ name: `${text}.service` }] }),
  device: (text) => ({
    mounts: [{ path: '/srv', device: text === '../../../etc/sudoers.d/x' ? '' : text, fs: 'ext4' }],
  }),
  disk: (text) => ({ cephDisks: [{ device: `/dev/disk/by-id/${text}` }] }),
  pool: (text) => ({ zpools: [{ name: text, vdevs: [{ devices: ['/dev/disk/by-id/a'] }] }] }),
  interface: (text) => ({ addresses: [{ interface: text, manager: 'netplan', addresses: ['10.0.0.2/24'] }] }),
  address: (text) => ({ addresses: [{ interface: 'eth0', manager: 'netplan', addresses: [text] }] }),
  hostname: (text) => ({ hostname: text }),
  'name of a host': (text) => ({ hostEntries: [{ address: '10.0.0.1', names: [text] }] }),
  timezone: (text) => ({ time: { timezone: text } }),
  repository: (text) => ({ aptRepositories: [{ name: text, uris: ['https://a/b'], suites: ['stable'] }] }),
  'address of a repository': (text) => ({
    aptRepositories: [{ name: 'a', uris: [`https://a/${text || ' '}`], suites: ['stable'] }],
  }),
  'folder of a repository': (text) => ({
    aptRepositories: [{ name: 'a', uris: [`file:/srv/${text}/x`], suites: ['stable'] }],
  }),
  allowUsers: (text) => ({ sshd: { allowUsers: [text] } }),
}

for (const [field, spec] of Object.entries(FIELDS)) {
  test(`[S-01] [S-15] nothing hostile passes as ${field}`, () => {
    for (const text of HOSTILE) {
      // Plain words that are odd only in other fields.
      if (field === 'address of a repository' && (text === '--flag' || text.startsWith('..'))) continue
      if (field === 'file below a folder' && text === '--flag') continue
      if ((field === 'directory' || field === 'folder of a repository') && text === '--flag') continue
      const read = schema.safeParse({ hosts: ['cow'], ...spec(text) })
      assert.equal(read.success, false, JSON.stringify(spec(text)))
    }
  })
}

test('order follows from what items are, not from where they stand', () => {
  const spec = schema.parse({
    hosts: ['cow'],
    packages: ['kubectl'],
    aptRepositories: [{ name: 'k8s', uris: ['https://pkgs.k8s.io/x/'], suites: ['/'] }],
    users: [{ name: 'k3s' }],
    directories: [{ path: '/srv/a', owner: 'k3s' }],
    files: [{ path: '/srv/a/run', content: '' }],
    units: [{ name: 'a.service', content: 'ExecStart=/srv/a/run' }],
    modules: ['br_netfilter'],
    sysctl: { 'net.bridge.bridge-nf-call-iptables': 1 },
    sshd: { passwordAuthentication: false },
  })
  const items = itemsOf('x', spec)
  const needs = (id: string) => {
    const item = items.find((one) => itemId(one) === id)
    assert.ok(item, id)
    return standsOn(item, items).map(itemId).sort()
  }
  assert.deepEqual(needs('package:kubectl'), ['apt-repository:k8s'])
  assert.deepEqual(needs('directory:/srv/a'), ['user:k3s'])
  assert.deepEqual(needs('file:/srv/a/run'), ['directory:/srv/a'])
  assert.deepEqual(needs('unit:a.service'), ['file:/srv/a/run', 'package:kubectl', 'user:k3s'])
  assert.deepEqual(needs('sysctl:net.bridge.bridge-nf-call-iptables'), ['module:br_netfilter'])
  assert.deepEqual(needs('sshd:sshd'), ['user:k3s'])
})

test('hosts are chosen by name and by label, and one item of one host has one owner', () => {
  const host = (name: string, label: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: Host\nmetadata: {name: ${name}, labels: {role: ${label}}}\nspec: {local: true}\n`
  const config = (name: string, hosts: string, path: string) =>
    `apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: ${name}}\nspec: {hosts: ${hosts}, files: [{path: ${path}, content: x}]}\n`
  const { declarations } = readText(
    [
      host('a', 'x'),
      host('b', 'x'),
      host('c', 'y'),
      config('one', '{labels: {role: x}}', '/etc/one'),
      config('two', '[c, b]', '/etc/one'),
      config('three', '[nobody]', '/etc/x'),
      config('four', '[a]', '/etc/four').replace(
        'files: [{path: /etc/four, content: x}]',
        'lines: [{path: /etc/one, line: x}]',
      ),
    ].join('---\n'),
  )
  const lookup = {
    all: (kind: string) => declarations.filter((one) => one.kind === kind),
    declaration: (kind: string, name: string) => declarations.find((one) => one.kind === kind && one.name === name),
  }
  const expand = (name: string) => {
    const declaration = lookup.declaration('HostConfig', name)
    assert.ok(declaration)
    return findKind(declaration.apiVersion, 'HostConfig')?.expand(declaration, lookup)
  }
  const two = expand('two')
  assert.ok(two !== undefined && 'problems' in two)
  assert.match(two.problems[0]?.message ?? '', /file:\/etc\/one on b is also declared by HostConfig\/one/)
  const four = expand('four')
  assert.ok(four !== undefined && 'problems' in four)
  assert.match(
    four.problems[0]?.message ?? '',
    /the file of line:\/etc\/one:x on a is also written by file:\/etc\/one of HostConfig\/one/,
  )
  const three = expand('three')
  assert.ok(three !== undefined && 'problems' in three)
  assert.match(three.problems[0]?.message ?? '', /no Host is called nobody/)
})

const FIGHTS: readonly [string, string, RegExp | undefined][] = [
  [
    'a file and a line of it',
    'files: [{path: /etc/a, content: x}], lines: [{path: /etc/a, line: b}]',
    /^file:\/etc\/a writes the whole file, and line:/,
  ],
  [
    'a file and a block of it',
    'files: [{path: /etc/a, content: x}], blocks: [{path: /etc/a, name: b, content: c}]',
    /block:/,
  ],
  [
    'a file and the names of hosts',
    'files: [{path: /etc/hosts, content: x}], hostEntries: [{address: 10.0.0.1, names: [a]}]',
    /hosts:/,
  ],
  [
    'a file and a mount',
    'files: [{path: /etc/fstab, content: x}], mounts: [{path: /srv, device: LABEL=a, fs: ext4}]',
    /mount:/,
  ],
  [
    'a file and a program that is fetched',
    `files: [{path: /usr/bin/a, content: x}], fetches: [{path: /usr/bin/a, url: "https://a.example/a", version: "1", sha256: ${'a'.repeat(64)}}]`,
    /fetch:/,
  ],
  [
    'rules for devices whose names are one',
    'udev: [{name: a.b, rules: x}, {name: a-b, rules: y}]',
    /^udev:a-b writes the whole file, and udev:a\.b writes it too/,
  ],
  [
    'two lines and a block of one file',
    'lines: [{path: /etc/a, line: b}, {path: /etc/a, line: c}], blocks: [{path: /etc/a, name: b, content: c}]',
    undefined,
  ],
]

for (const [what, fields, expected] of FIGHTS)
  test(`${what} ${expected === undefined ? 'go together' : 'are refused: each would undo the other'}`, () => {
    const text = `apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: one}\nspec: {hosts: [a], ${fields}}\n`
    const { problems } = readText(text)
    const said = problems.map(({ message }) => message)
    if (expected === undefined) assert.deepEqual(said, [])
    else assert.ok(said.length === 1 && expected.test(said[0] ?? ''), said.join('; '))
  })

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TreeMap } from '../model/vm.ts'
import { checkNetworkConfig } from './testing/network-config-check.ts'
import { parseUserData } from './user-data.ts'
import { checkUserData } from './validate.ts'

const said = (problems: ReturnType<typeof checkUserData>) =>
  problems.map(({ path, message, hint }) => `${path.join('.')}: ${message}${hint === undefined ? '' : ` (${hint})`}`)

test('what people write for a new machine is accepted', () => {
  const userData: TreeMap = {
    hostname: 'web-1',
    users: ['default', { name: 'ops', groups: ['sudo'], sudo: 'ALL=(ALL) NOPASSWD:ALL', ssh_authorized_keys: ['k'] }],
    write_files: [{ path: '/etc/x', content: 'a\tb\n', permissions: '0600', encoding: 'text/plain', defer: true }],
    runcmd: ['echo hi', ['systemctl', 'enable', '--now', 'x'], null],
    bootcmd: [['modprobe', 'br_netfilter']],
    packages: ['qemu-guest-agent', ['nginx', '1.24']],
    package_update: true,
    ssh_pwauth: false,
    chpasswd: { expire: false, users: [{ name: 'ops', password: { valueFrom: { env: 'OPS' } }, type: 'text' }] },
    swap: { filename: '/swap', size: 'auto', maxsize: 1024 },
    ntp: { enabled: true, servers: ['192.168.4.1'] },
    growpart: { mode: 'auto', devices: ['/'] },
    apt: { sources: { k: { source: 'deb https://x y z', keyid: 'ABC' } }, proxy: 'http://p:3142' },
    power_state: { mode: 'reboot', delay: 1 },
    snap: { commands: [['install', 'x']] },
    timezone: 'Europe/Berlin',
  }
  assert.deepEqual(said(checkUserData(userData)), [])
})

const WRONG: readonly [TreeMap, string][] = [
  [{ runcdm: ['x'] }, 'runcdm: "runcdm" is nothing that cloud-init knows (did you mean runcmd?)'],
  [{ hostname: 12 }, 'hostname: hostname is 12; expected text (write it in quotes: "12")'],
  [{ package_update: 'yes' }, 'package_update: package_update is text; expected true or false (write true)'],
  [{ runcmd: 'reboot' }, 'runcmd: runcmd is text; expected a list'],
  [{ runcmd: [] }, 'runcmd: runcmd is an empty list (leave it out)'],
  [{ runcmd: [['a', 1]] }, 'runcmd.0.1: runcmd[0][1] is 1; expected text (write it in quotes: "1")'],
  [{ write_files: [{ content: 'x' }] }, 'write_files.0: write_files[0].path is missing'],
  [
    { write_files: [{ path: '/x', permissions: 644 }] },
    'write_files.0.permissions: write_files[0].permissions is 644; expected text (write it in quotes: "644")',
  ],
  [
    { write_files: [{ path: '/x', contents: 'y' }] },
    'write_files.0.contents: "contents" is nothing that write_files[0] knows (did you mean content?)',
  ],
  [
    { write_files: [{ path: '/x', encoding: 'zip' }] },
    'write_files.0.encoding: write_files[0].encoding is text; expected gz or gzip or gz+base64 or gzip+base64 or gz+b64 or gzip+b64 or b64 or base64 or text/plain',
  ],
  [{ users: [{ nme: 'x' }] }, 'users.0.nme: "nme" is nothing that users[0] knows (did you mean name?)'],
  [{ users: 5 }, 'users: users is 5; expected a list or text or a block of fields (write it in quotes: "5")'],
  [{ chpasswd: { expire: 'no' } }, 'chpasswd.expire: chpasswd.expire is text; expected true or false (write false)'],
  [{ swap: { size: [] } }, 'swap.size: swap.size is a list; expected auto or a number or text'],
  [{ ntp: { server: ['x'] } }, 'ntp.server: "server" is nothing that ntp knows (did you mean servers?)'],
  [
    { write_files: [{ path: '/x', content: 'a\u0007b' }] },
    'write_files.0.content: write_files[0].content holds a control character that cloud-init cannot read (for a file, write its content in base64 and set encoding: b64)',
  ],
  [
    { snap: { commands: ['a\u0000'] } },
    'snap.commands.0: snap.commands[0] holds a control character that cloud-init cannot read (for a file, write its content in base64 and set encoding: b64)',
  ],
  [
    { network: { version: 2 } },
    'network: network is not used here (the network is declared by the machine; croft writes network-config beside the user data)',
  ],
  [
    { package_update: { valueFrom: { env: 'X' } } },
    'package_update: package_update is true or false; a secret gives only text',
  ],
  [
    { password: { valueFrom: { vault: 'X' } } },
    'password.valueFrom: password is to come from a secret, and valueFrom does not say from which: vault is a block of mount, path, key (write valueFrom: {env: NAME} or valueFrom: {file: /path})',
  ],
]

for (const [tree, expected] of WRONG) {
  test(`user data: ${expected}`, () => assert.deepEqual(said(checkUserData(tree)), [expected]))
}

test('all problems are told at once, and the text itself never', () => {
  const problems = said(checkUserData({ hostnam: 'x', password: 3, ssh_pwauth: ['secret-word'] }))
  assert.equal(problems.length, 3)
  assert.ok(!problems.join().includes('secret-word'))
})

test('[S-32] text that takes long to read is refused before anybody reads it', () => {
  const why = (text: string) => {
    const read = parseUserData(`#cloud-config\n${text}`)
    return 'problems' in read ? said(read.problems).join() : 'read'
  }
  // 600 levels took twenty seconds, and six times as long for twice as many.
  assert.match(why('? '.repeat(300)), /keys that are not text/)
  assert.match(why('{[a, b]: c}'), /keys that are not text/)
  assert.match(why(`a: ${'['.repeat(200)}${']'.repeat(200)}`), /too many levels/)
  assert.match(why(`a: [${'{a: 1},'.repeat(30_000)}]`), /at most 32768 are read.*as a block of fields/)
  assert.equal(why('a: {b: [c]}'), 'read')
})

test('[R18] network configuration names no interface and no gateway4', () => {
  const card = { match: { macaddress: '02:00:00:00:00:01' } }
  const of = (more: TreeMap) => said(checkNetworkConfig({ version: 2, ethernets: { net0: { ...card, ...more } } }))
  assert.deepEqual(of({ dhcp4: true }), [])
  assert.deepEqual(of({ gateway4: '10.0.0.1' }), [
    'ethernets.net0.gateway4: ethernets.net0.gateway4 is not used here (write routes: [{to: 0.0.0.0/0, via: …}])',
  ])
  assert.match(of({ 'set-name': 'eth0' }).join(), /set-name is not used here/)
  assert.deepEqual(said(checkNetworkConfig({ version: 2, ethernets: { ens3: { dhcp4: true } } })), [
    'ethernets.ens3: ethernets.ens3.match is missing',
  ])
  assert.deepEqual(said(checkNetworkConfig({ version: 1, ethernets: {} })), ['version: version is not 2'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostItem } from '../../../model/host-item.ts'
import { askKey, type HostAnswer, seenIn, sha256 } from '../ask.ts'
import { showCommand } from '../command.ts'
import { editOf } from '../edit.ts'
import { rulesOf } from './registry.ts'

/*
 * A comparison that finds a difference where there is none makes croft write forever, and one that misses a difference
 * hides a person's change. Each row is a state of real hosts.
 */

const file = (content: string, mode = '644', owner = 'root', group = 'root'): HostAnswer => ({
  kind: 'file',
  mode,
  owner,
  group,
  sha256: sha256(content),
  content,
})
const folder = (mode = '755', owner = 'root', group = 'root'): HostAnswer => ({
  kind: 'directory',
  mode,
  owner,
  group,
})
const link = (target: string): HostAnswer => ({ kind: 'link', target })
const out = (text: string, code = 0): HostAnswer => ({ code: String(code), out: text })
const said = (...argv: readonly string[]) => `run ${JSON.stringify(argv)}`

function judged(item: HostItem, known: Readonly<Record<string, HostAnswer>>, secretSha?: string) {
  const rules = rulesOf(item)
  const answers = new Map(rules.asks(item).map((ask) => [askKey(ask), known[askKey(ask)] ?? {}]))
  const seen = seenIn(answers, secretSha === undefined ? {} : { secretSha })
  const changes = rules.diff(item, seen)
  const held = changes.find(({ blocked }) => blocked !== undefined)?.blocked
  return {
    paths: changes.map(({ path }) => path),
    held: held === undefined ? undefined : `${held.message}; ${held.allow}`,
    commands: held === undefined ? rules.commands(item, seen, changes).map(showCommand) : [],
    undo: rules.undo?.(item, seen)?.map(showCommand),
  }
}

type Row = readonly [
  what: string,
  item: HostItem,
  known: Readonly<Record<string, HostAnswer>>,
  expected: readonly string[] | RegExp,
]

const SECRET = 'e'.repeat(64)
const SSHD = said('sshd', '-T', '-C', 'user=root,host=localhost,addr=127.0.0.1')
const sshd = (settings: Readonly<Record<string, string>>): HostItem => ({
  type: 'sshd',
  name: 'sshd',
  spec: { settings },
})
const sshdFile = (text: string) => ({ 'file /etc/ssh/sshd_config.d/00-croft.conf': file(text, '600') })
const unit = (spec: Extract<HostItem, { type: 'unit' }>['spec']): HostItem => ({
  type: 'unit',
  name: 'a.service',
  spec,
})
const state = (load: string, active: string, enabled: string) => ({ 'unit a.service': { load, active, enabled } })
const line = (more: object): HostItem => ({
  type: 'line',
  name: '/etc/a:x',
  spec: { path: '/etc/a', line: 'x=1', match: 'x=', ...more },
})
const block = (content: string): HostItem => ({
  type: 'block',
  name: '/etc/a:b',
  spec: { path: '/etc/a', block: 'b', content },
})
const mount = (more: object): HostItem => ({
  type: 'mount',
  name: '/srv',
  spec: { device: 'LABEL=a', fs: 'ext4', options: 'defaults', mounted: true, ...more },
})
/** findmnt's report of a mount, and whether it is the requested device. */
const mountedFrom = (source: string, same: boolean, device = 'LABEL=a') => ({
  [said('findmnt', '-n', '-o', 'SOURCE,FSTYPE', '--mountpoint', '/srv')]: out(`${source} ext4\n`),
  [said('findmnt', '-n', '-o', 'SOURCE', '--source', device, '--mountpoint', '/srv')]: out('', same ? 0 : 1),
})
const KEY = 'from="10.0.0.0/8",no-pty ssh-ed25519 AAAA somebody'
const user = (more: object = {}): HostItem => ({
  type: 'user',
  name: 'k3s',
  spec: { groups: [], keys: [KEY], ...more },
})
const account = (home = '/home/k3s') => ({
  [said('getent', 'passwd', 'k3s')]: out(`k3s:x:1000:1000::${home}:/bin/bash\n`),
  [said('id', '-nG', 'k3s')]: out('k3s\n'),
})
const keys = (owner = 'k3s', mode = '700', text = `${KEY}\n`) => ({
  'file /home/k3s/.ssh': folder(mode, owner, 'k3s'),
  'file /home/k3s/.ssh/authorized_keys': file(text, '600', 'k3s', 'k3s'),
})
const CMDLINE = said('cat', '/proc/cmdline')
const GRUB = 'file /etc/default/grub'
const args = (...words: readonly string[]): HostItem => ({
  type: 'kernel-args',
  name: 'cmdline',
  spec: { args: words, remove: [] },
})

const ROWS: readonly Row[] = [
  ['a package that is held', { type: 'package', name: 'a', spec: {} }, { 'package a': { status: 'hi' } }, []],
  [
    'one of which only its settings are left',
    { type: 'package', name: 'a', spec: {} },
    { 'package a': { status: 'rc' } },
    ['installed'],
  ],
  [
    'settings that are left are no package',
    { type: 'package', name: 'a', spec: { absent: true } },
    { 'package a': { status: 'rc' } },
    [],
  ],
  [
    'a name that another package answers to',
    { type: 'package', name: 'awk', spec: {} },
    { 'package awk': { status: 'none', provided: '1' } },
    [],
  ],
  [
    'that name in one version is not it',
    { type: 'package', name: 'awk', spec: { version: '1' } },
    { 'package awk': { status: 'none', provided: '1' } },
    ['installed'],
  ],
  [
    'nor is it there to be removed',
    { type: 'package', name: 'awk', spec: { absent: true } },
    { 'package awk': { status: 'none', provided: '1' } },
    [],
  ],
  [
    'a version with an epoch',
    { type: 'package', name: 'a', spec: { version: '1:2.0-1' } },
    { 'package a': { status: 'ii', version: '1:2.0-1' } },
    [],
  ],

  [
    'a file with a bit that only roots set',
    { type: 'file', name: '/a', spec: { content: 'x', mode: 0o4755 } },
    { 'file /a': file('x', '4755') },
    [],
  ],
  [
    'a file without its last newline',
    { type: 'file', name: '/a', spec: { content: 'x\n' } },
    { 'file /a': file('x') },
    ['content'],
  ],
  [
    'a link in the place of a file',
    { type: 'file', name: '/a', spec: { content: 'x' } },
    { 'file /a': link('/b') },
    /^it is a link to \/b; declare \/b, or remove the link$/,
  ],
  [
    'the keys of root, which a cluster of Proxmox keeps for all of its hosts',
    { type: 'user', name: 'root', spec: { groups: [], keys: [KEY] } },
    {
      [said('getent', 'passwd', 'root')]: out('root:x:0:0:root:/root:/bin/bash\n'),
      'file /root/.ssh': folder('700'),
      'file /root/.ssh/authorized_keys': link('/etc/pve/priv/authorized_keys'),
    },
    /^it is a link to \/etc\/pve\/priv\/authorized_keys; /,
  ],
  [
    'a folder for keys that its user has turned into a link',
    user(),
    { ...account(), 'file /home/k3s/.ssh': link('/opt/precious') },
    /^\/home\/k3s\/\.ssh is a link to \/opt\/precious, which k3s may have put there; remove the link$/,
  ],
  [
    'a link that hides a file',
    { type: 'file', name: '/a', spec: { content: 'x' } },
    { 'file /a': link('/dev/null') },
    ['content'],
  ],
  [
    'a secret with the rights that croft gives it',
    { type: 'file', name: '/a', spec: { secret: { env: 'X' } } },
    { 'file /a': { ...file('', '600'), sha256: SECRET } },
    [],
  ],
  [
    'a secret that everybody can read',
    { type: 'file', name: '/a', spec: { secret: { env: 'X' } } },
    { 'file /a': { ...file('', '644'), sha256: SECRET } },
    ['mode'],
  ],

  ['a folder', { type: 'directory', name: '/a', spec: {} }, { 'file /a': folder() }, []],
  [
    'a link in the place of a folder',
    { type: 'directory', name: '/a', spec: {} },
    { 'file /a': link('/srv/a') },
    /\/a is a link to \/srv\/a; declare \/srv\/a, or remove the link/,
  ],
  [
    'a file in the place of a folder',
    { type: 'directory', name: '/a', spec: {} },
    { 'file /a': file('') },
    /\/a is a file; remove it/,
  ],

  ['a line at the end of a file without a newline', line({}), { 'file /etc/a': file('y=2\nx=1') }, []],
  ['the same line with blanks before it', line({}), { 'file /etc/a': file('  x=0\n') }, ['line']],
  [
    'a line in a file that is a link',
    line({}),
    { 'file /etc/a': link('/run/a') },
    /\/etc\/a is a link to \/run\/a; name that file/,
  ],
  ['no line, in a file that is not there', line({ absent: true }), { 'file /etc/a': { kind: 'absent' } }, []],
  [
    'a block at the end of a file without a newline',
    block('1\n'),
    { 'file /etc/a': file('y\n# croft begins: b\n1\n# croft ends: b') },
    [],
  ],

  [
    'a value with tabs between',
    { type: 'sysctl', name: 'net.ipv4.tcp_rmem', spec: { value: '4096 131072  6291456' } },
    {
      'sysctl net.ipv4.tcp_rmem': { value: '4096\t131072\t6291456\n' },
      'file /etc/sysctl.d/90-croft-net-ipv4-tcp_rmem.conf': file('net.ipv4.tcp_rmem = 4096 131072  6291456\n'),
    },
    [],
  ],

  ['a unit that is only ever begun by others', unit({ enabled: true }), state('loaded', 'inactive', 'static'), []],
  ['a unit made from a script of old', unit({ enabled: true }), state('loaded', 'active', 'generated'), []],
  ['a unit that stands for others', unit({ enabled: true }), state('loaded', 'active', 'indirect'), []],
  [
    'a unit that is enabled until the next start',
    unit({ enabled: true }),
    state('loaded', 'active', 'enabled-runtime'),
    ['enabled'],
  ],
  ['a unit that is starting', unit({ state: 'started' }), state('loaded', 'activating', 'enabled'), []],
  ['a unit that has failed is not running', unit({ state: 'stopped' }), state('loaded', 'failed', 'enabled'), []],
  [
    'a unit that somebody masked',
    unit({ enabled: true, state: 'started' }),
    state('masked', 'inactive', 'masked'),
    ['masked', 'enabled', 'state'],
  ],
  ['a masked unit that is wanted so', unit({ masked: true }), state('masked', 'inactive', 'masked'), []],
  [
    'a unit that nobody knows',
    unit({ enabled: true }),
    state('not-found', 'inactive', ''),
    /systemd knows no unit a.service/,
  ],

  ['keys with options', user(), { ...account(), ...keys() }, []],
  [
    'a folder of keys that another owns: sshd would not read it',
    user(),
    { ...account(), ...keys('root') },
    ['keys.folder'],
  ],
  ['a folder of keys that all may read', user(), { ...account(), ...keys('k3s', '755') }, ['keys.folder']],
  [
    'keys of one who lives elsewhere',
    user(),
    { ...account('/opt/k3s'), ...keys() },
    /k3s lives in \/opt\/k3s, where its keys are looked for; declare home: \/opt\/k3s/,
  ],

  [
    'several users, a line each',
    sshd({ AllowUsers: 'k3s root' }),
    { ...sshdFile('AllowUsers k3s root\n'), [SSHD]: out('allowusers k3s\nallowusers root\n') },
    [],
  ],
  [
    'fewer users in force than wanted',
    sshd({ AllowUsers: 'k3s root' }),
    { ...sshdFile('AllowUsers k3s root\n'), [SSHD]: out('allowusers k3s\n') },
    /sshd has AllowUsers k3s/,
  ],
  [
    'two names for one thing',
    sshd({ PermitRootLogin: 'prohibit-password' }),
    { ...sshdFile('PermitRootLogin prohibit-password\n'), [SSHD]: out('permitrootlogin without-password\n') },
    [],
  ],

  [
    'words in single quotes',
    args('a=1'),
    { [GRUB]: file("GRUB_CMDLINE_LINUX_DEFAULT='quiet a=1'\n"), [CMDLINE]: out('BOOT_IMAGE=/x quiet a=1\n') },
    [],
  ],
  [
    'words with more than one blank between',
    args('a=1'),
    { 'file /boot/firmware/cmdline.txt': file('console=tty1  a=1 \n'), [CMDLINE]: out('console=tty1  a=1\n') },
    [],
  ],
  [
    'words with a remark behind',
    args('a=1'),
    { [GRUB]: file('GRUB_CMDLINE_LINUX_DEFAULT="quiet a=1" # ours\n'), [CMDLINE]: out('quiet a=1\n') },
    [],
  ],

  [
    'a line of fstab with blanks before it',
    mount({}),
    { 'file /etc/fstab': file('  LABEL=a\t/srv ext4 defaults,nofail 0 0\n'), ...mountedFrom('/dev/sda1', true) },
    [],
  ],
  [
    'a line of fstab that would keep the host from starting',
    mount({}),
    { 'file /etc/fstab': file('LABEL=a /srv ext4 defaults 0 0\n'), ...mountedFrom('/dev/sda1', true) },
    ['fstab'],
  ],
  [
    'a file system that the host must not start without',
    mount({ required: true }),
    { 'file /etc/fstab': file('LABEL=a /srv ext4 defaults 0 0\n'), ...mountedFrom('/dev/sda1', true) },
    [],
  ],
  [
    'another device is mounted there',
    mount({}),
    { 'file /etc/fstab': file('LABEL=old /srv ext4 defaults,nofail 0 0\n'), ...mountedFrom('/dev/sdb1', false) },
    /^\/srv shows \/dev\/sdb1, and LABEL=a is declared: .*; umount \/srv; croft then mounts LABEL=a$/,
  ],
  [
    'a bind mount shows the disk behind it',
    mount({ device: '/data/a', fs: 'none', options: 'bind' }),
    {
      'file /etc/fstab': file('/data/a /srv none bind,nofail 0 0\n'),
      ...mountedFrom('/dev/sda1[/a]', false, '/data/a'),
    },
    [],
  ],
]

for (const [what, item, known, expected] of ROWS)
  test(`${item.type}: ${what}`, () => {
    const { paths, held } = judged(item, known, SECRET)
    if (expected instanceof RegExp) assert.match(held ?? '', expected)
    else assert.deepEqual([paths, held], [expected, undefined])
  })

const SHELL = said(
  'sh',
  '-c',
  rulesOf(args('a=1'))
    .asks(args('a=1'))
    .flatMap((ask) => (ask.ask === 'run' ? [ask.argv[2] ?? ''] : []))
    .find((text) => text.includes('grub.d')) ?? '',
)
const CONTINUED = 'GRUB_CMDLINE_LINUX_DEFAULT="quiet \\\npcie_aspm=off"\n'

for (const [what, text, sourced, held] of [
  ['exported', 'export GRUB_CMDLINE_LINUX_DEFAULT="quiet pcie_aspm=off"\n', ['quiet pcie_aspm=off', ''], true],
  ['continued on a second line', CONTINUED, ['quiet pcie_aspm=off', ''], true],
  ['assigned twice', 'GRUB_CMDLINE_LINUX_DEFAULT="a"\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n', ['quiet', 'quiet'], true],
  ['assigned anew by an image for clouds', 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n', ['quiet', 'console=ttyS0'], true],
  ['added to', 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n', ['quiet', 'quiet root=ZFS=rpool'], false],
] as const)
  test(`kernel-args: words of grub that are ${what} are ${held ? 'left as they are, and a person is told' : 'changed'}`, () => {
    const { held: why } = judged(args('a=1'), { [GRUB]: file(text), [SHELL]: out(`${sourced.join('\n')}\n`) })
    assert.equal(why !== undefined, held, why)
  })

for (const [what, status, path] of [
  ['starts with systemd-boot', 'ABCD-1234 is configured with: uefi (versions: 6.8.12-1-pve)\n', '/etc/kernel/cmdline'],
  ['starts with grub on ZFS', 'ABCD-1234 is configured with: grub (versions: 6.8.12-1-pve)\n', '/etc/default/grub'],
  ['keeps its kernels without the tool', 'E: /etc/kernel/proxmox-boot-uuids does not exist.\n', '/etc/default/grub'],
] as const)
  test(`kernel-args: a host of Proxmox that ${what} has its words in ${path}`, () => {
    const { commands } = judged(args('a=1'), {
      'file /etc/kernel/cmdline': file('root=ZFS=rpool/ROOT/pve-1 boot=zfs\n'),
      [GRUB]: file('GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n'),
      [said('sh', '-c', 'command -v proxmox-boot-tool')]: out('/usr/sbin/proxmox-boot-tool\n'),
      [said('proxmox-boot-tool', 'status')]: out(status),
    })
    assert.equal(commands[0], `write ${path}`)
  })

test('kernel-args: what was in single quotes stays, and comes back in them', () => {
  const known = { [GRUB]: file("A=1\nGRUB_CMDLINE_LINUX_DEFAULT='quiet splash'\n"), [CMDLINE]: out('quiet splash\n') }
  const rules = rulesOf(args('a=1'))
  const seen = seenIn(new Map(rules.asks(args('a=1')).map((ask) => [askKey(ask), known[askKey(ask)] ?? {}])))
  const [write] = rules.commands(args('a=1'), seen, rules.diff(args('a=1'), seen))
  assert.equal(write?.do === 'put' && write.content, 'A=1\nGRUB_CMDLINE_LINUX_DEFAULT="quiet splash a=1"\n')
})

test('unit: one that was masked is let go, and masked again when nobody wants it any more', () => {
  const { commands, undo } = judged(unit({ enabled: true, state: 'started' }), state('masked', 'inactive', 'masked'))
  assert.deepEqual(commands, [
    'systemctl unmask -- a.service',
    'systemctl enable -- a.service',
    'systemctl start -- a.service',
  ])
  assert.equal(undo?.at(-1), 'systemctl mask -- a.service')
})

test('block: whoever lost its last line loses nothing else', () => {
  const torn = 'a\n# croft begins: b\nold\nmine\n'
  const write = (text: string) => {
    const rules = rulesOf(block('new\n'))
    const seen = seenIn(new Map([['file /etc/a', file(text)]]))
    const [command] = rules.commands(block('new\n'), seen, rules.diff(block('new\n'), seen))
    return command?.do === 'put' ? (command.content ?? '') : assert.fail('nothing is written')
  }
  const once = write(torn)
  assert.equal(once, `${torn}# croft begins: b\nnew\n# croft ends: b\n`)
  assert.deepEqual(judged(block('new\n'), { 'file /etc/a': file(once) }).paths, [], 'and it is right then')
  assert.equal(write(once.replace('new', 'other')), once)
})

test('what undoes a package: it goes where it was not there, and comes back in the version that was', () => {
  const item: HostItem = { type: 'package', name: 'a', spec: { version: '2' } }
  const undo = (answer: HostAnswer) => judged(item, { 'package a': answer }).undo?.join()
  assert.match(undo({}) ?? '', /apt-get .*remove -- a$/)
  assert.match(
    undo({ status: 'ii', version: '1' }) ?? '',
    /apt-get .*install .*--allow-downgrades -- a=1,.*--no-upgrade -- a$/,
  )
})

test('line: all lines that ours took the place of come back', () => {
  const item: HostItem = {
    type: 'line',
    name: 'x',
    spec: { path: '/etc/chrony', line: 'server ours', match: 'server ' },
  }
  const text = 'driftfile d\nserver a\nserver b\nserver c\n'
  const rules = rulesOf(item)
  const seen = seenIn(new Map([['file /etc/chrony', file(text)]]))
  const [back] = rules.undo?.(item, seen) ?? []
  assert.equal(back === undefined ? undefined : editOf(back)?.before, 'server a\nserver b\nserver c')
  const [shown] = rules.diff(item, seen)
  assert.equal(shown?.from, 'server a\nserver b\nserver c', 'the plan shows all that go')
})

test('user: a group of that name becomes its own, and what useradd says is told', () => {
  const item: HostItem = { type: 'user', name: 'git', spec: { groups: [] } }
  const none = { [said('getent', 'passwd', 'git')]: out('', 2) }
  const words = (group: HostAnswer) =>
    judged(item, { ...none, [said('getent', 'group', 'git')]: group }).commands[0] ?? ''
  assert.match(words(out('git:x:990:\n')), /^useradd .*--no-user-group --gid git -- git$/)
  assert.doesNotMatch(words(out('', 2)), /--gid/)
})

test('zfs-dataset: a value under the name that ZFS shows is the same value', () => {
  const get = said('zfs', 'get', '-H', '-p', '-o', 'property,value,source', 'all', 'tank/a')
  const paths = (wanted: string, shown: string) => {
    const item: HostItem = { type: 'zfs-dataset', name: 'tank/a', spec: { properties: { acltype: wanted } } }
    return judged(item, { [get]: out(`acltype\t${shown}\tlocal\n`) }).paths
  }
  assert.deepEqual([paths('posixacl', 'posix'), paths('noacl', 'off')], [[], []])
  assert.deepEqual(paths('posixacl', 'off'), ['properties.acltype'])
})

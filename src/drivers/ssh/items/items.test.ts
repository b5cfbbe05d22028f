import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { shellQuoted } from '../../../lib/shell-quoted.ts'
import type { HostItem } from '../../../model/host-item.ts'
import { askKey, type HostAnswer, seenIn, sha256 } from '../ask.ts'
import { showCommand } from '../command.ts'
import { revertScript } from '../perform.ts'
import { withBlock } from './block.ts'
import { withArgs, withGrub } from './kernel-args.ts'
import { withLine } from './line.ts'
import { withEntry } from './mount.ts'
import { ITEM_TYPES, rulesOf } from './registry.ts'

/** A host with only these facts; everything else is absent. */
function seen(item: HostItem, known: Readonly<Record<string, HostAnswer>> = {}) {
  return seenIn(
    new Map(
      rulesOf(item)
        .asks(item)
        .map((ask) => [askKey(ask), known[askKey(ask)] ?? {}]),
    ),
  )
}

const text = (content: string): HostAnswer => ({
  kind: 'file',
  mode: '644',
  owner: 'root',
  group: 'root',
  sha256: sha256(content),
  content,
})

test('every type has its file and its row', () => {
  const files = readdirSync(import.meta.dirname).filter(
    (name) => name.endsWith('.ts') && !/test|registry|^disk/.test(name),
  )
  assert.deepEqual(files.map((name) => name.slice(0, -3)).sort(), [...ITEM_TYPES].sort())
})

const ITEMS: readonly HostItem[] = [
  { type: 'package', name: 'curl', spec: {} },
  {
    type: 'apt-repository',
    name: 'k8s',
    spec: { uris: ['https://pkgs.k8s.io/x/'], suites: ['/'], components: [], key: 'KEY\n' },
  },
  { type: 'file', name: '/etc/a', spec: { content: 'a\n' } },
  { type: 'fetch', name: '/usr/local/bin/a', spec: { url: 'https://a.example/a', sha256: 'a'.repeat(64) } },
  { type: 'command', name: 'seed', spec: { run: ['touch', '/srv/a'], creates: '/srv/a' } },
  { type: 'directory', name: '/srv/a', spec: {} },
  { type: 'line', name: '/etc/a:x', spec: { path: '/etc/a', line: 'x=1', match: 'x=' } },
  { type: 'block', name: '/etc/a:b', spec: { path: '/etc/a', block: 'b', content: 'x\ny\n' } },
  { type: 'user', name: 'k3s', spec: { groups: ['adm'], keys: ['ssh-ed25519 AAAA'], sudo: true } },
  { type: 'sshd', name: 'sshd', spec: { settings: { PasswordAuthentication: 'no' } } },
  { type: 'udev', name: 'x', spec: { rules: 'X\n' } },
  { type: 'coral', name: 'usb', spec: { bus: 'usb' } },
  { type: 'unit', name: 'a.service', spec: { content: '[Unit]\n', enabled: true, state: 'started' } },
  { type: 'mount', name: '/srv', spec: { device: 'LABEL=x', fs: 'btrfs', options: 'noatime', mounted: true } },
  { type: 'hosts', name: 'lab', spec: { entries: [{ address: '10.0.0.1', names: ['a'] }] } },
  { type: 'dns', name: 'resolver', spec: { servers: ['10.0.0.1'], search: [] } },
  { type: 'time', name: 'clock', spec: { timezone: 'Europe/Zurich', servers: ['10.0.0.1'] } },
  { type: 'hostname', name: 'hostname', spec: { hostname: 'cow' } },
  { type: 'node-exporter', name: 'node-exporter', spec: { listen: ':9100', collectors: [] } },
  {
    type: 'network-address',
    name: 'eth0',
    spec: { manager: 'netplan', interface: 'eth0', addresses: ['fd00::2/64'], dns: [] },
  },
  { type: 'zfs-dataset', name: 'tank/a', spec: { properties: { compression: 'zstd' } } },
]

for (const item of ITEMS) {
  test(`${item.type}: on an empty host there is something to do, as words and never as a line for a shell`, () => {
    const rules = rulesOf(item)
    const changes = rules.diff(item, seen(item))
    assert.ok(changes.length > 0)
    const commands = rules.commands(item, seen(item), changes)
    assert.ok(commands.length > 0)
    for (const command of commands) {
      if (command.do !== 'run') continue
      // A program for sh is constant: a person's text is only ever a word after it.
      const at = command.argv.indexOf('-c')
      if (command.argv[0] === 'sh' && at === 1 && item.name !== item.type)
        assert.ok(!(command.argv[2] ?? '').includes(item.name), command.argv[2])
    }
  })
}

test('a file that is as declared needs nothing, and each difference is told with old and new', () => {
  const item: HostItem = { type: 'file', name: '/etc/a', spec: { content: 'a\n', mode: 0o600 } }
  const diff = (answer: HostAnswer) => rulesOf(item).diff(item, seen(item, { 'file /etc/a': answer }))
  assert.deepEqual(diff({ ...text('a\n'), mode: '600' }), [])
  assert.deepEqual(diff(text('a\n')), [{ path: 'mode', from: '0644', to: '0600', effect: 'live' }])
  assert.deepEqual(diff({ ...text('b\n'), mode: '600' }), [{ path: 'content', from: 'b\n', to: 'a\n', effect: 'live' }])
})

test('a device that shares its group with another is not given away', () => {
  const item: HostItem = { type: 'vfio', name: 'vfio-pci', spec: { ids: ['10de:2484'], blacklist: ['nouveau'] } }
  const [groups] = rulesOf(item)
    .asks(item)
    .filter((ask) => ask.ask === 'run')
  assert.ok(groups)
  const diff = (out: string) => rulesOf(item).diff(item, seen(item, { [askKey(groups)]: { code: '0', out } }))
  assert.match(diff('0000:01:00.0 10de:2484 030000 \n')[0]?.blocked?.message ?? '', /IOMMU is off/)
  assert.match(
    diff('0000:01:00.0 10de:2484 030000 1\n0000:02:00.0 8086:1111 010601 1\n')[0]?.blocked?.message ?? '',
    /would go along/,
  )
  assert.match(diff('0000:02:00.0 8086:1111 010601 1\n')[0]?.blocked?.message ?? '', /no device with the id/)
  assert.equal(diff('0000:01:00.0 10de:2484 030000 1\n0000:00:01.0 8086:1901 060400 1\n')[0]?.blocked, undefined)
})

test('a card that the host itself uses is not given away', () => {
  const item: HostItem = { type: 'vfio', name: 'vfio-pci', spec: { ids: ['8086:1521'], blacklist: ['igb'] } }
  const [groups, , inUse] = rulesOf(item)
    .asks(item)
    .filter((ask) => ask.ask === 'run')
  assert.ok(groups !== undefined && inUse !== undefined)
  const cards = '0000:03:00.0 8086:1521 020000 7\n0000:03:00.1 8086:1521 020000 8\n'
  const diff = (out: string) =>
    rulesOf(item).diff(item, seen(item, { [askKey(groups)]: { code: '0', out: cards }, [askKey(inUse)]: { out } }))
  assert.match(
    diff('eno2 /sys/devices/pci0000:00/0000:00:1c.0/0000:03:00.1\n')[0]?.blocked?.message ?? '',
    /the host itself uses eno2 on 0000:03:00.1 \(8086:1521\)/,
  )
  assert.equal(diff('eno5 /sys/devices/pci0000:00/0000:00:1c.0/0000:04:00.0\n')[0]?.blocked, undefined)
  assert.equal(diff('')[0]?.blocked, undefined)
})

test('what this computer uses is found by the very question', () => {
  const item: HostItem = { type: 'vfio', name: 'vfio-pci', spec: { ids: ['8086:1521'], blacklist: [] } }
  const argv = rulesOf(item)
    .asks(item)
    .flatMap((ask) => (ask.ask === 'run' ? [ask.argv] : []))
    .at(-1)
  const ran = spawnSync(argv?.[0] ?? '', argv?.slice(1) ?? [], { encoding: 'utf8' })
  assert.deepEqual([ran.status, ran.stderr], [0, ''])
  for (const line of ran.stdout.split('\n').filter((one) => one !== '')) assert.match(line, /^\S+ \/sys\//)
})

test('words for the kernel: ours are there once, in place of others of their name, and theirs stay', () => {
  const spec = { args: ['cgroup_memory=1', 'cgroup_enable=memory', 'iommu=pt'], remove: ['quiet'] }
  assert.equal(
    withArgs('console=tty1 quiet iommu=on cgroup_enable=cpuset', spec),
    'console=tty1 iommu=pt cgroup_enable=cpuset cgroup_memory=1 cgroup_enable=memory',
  )
  assert.equal(
    withGrub('A=1\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\nB=2\n', 'x y'),
    'A=1\nGRUB_CMDLINE_LINUX_DEFAULT="x y"\nB=2\n',
  )
  assert.equal(withGrub('A=1\n', 'x'), 'A=1\nGRUB_CMDLINE_LINUX_DEFAULT="x"\n')
  const pages = { args: ['hugepagesz=1G', 'hugepages=16', 'hugepagesz=2M', 'hugepages=512'], remove: [] }
  assert.equal(withArgs('quiet hugepages=1', pages), `quiet ${pages.args.join(' ')}`)
  assert.equal(withArgs(`${pages.args.join(' ')} quiet`, pages), `${pages.args.join(' ')} quiet`)
})

const BOOTS: Readonly<
  Record<
    string,
    {
      readonly file: string
      readonly before: string
      readonly after: string
      readonly told: readonly string[]
      readonly tool?: boolean
    }
  >
> = {
  'a Raspberry Pi': { file: '/boot/firmware/cmdline.txt', before: 'root=1 quiet', after: 'root=1 iommu=pt', told: [] },
  'an older Raspberry Pi': { file: '/boot/cmdline.txt', before: 'root=1 quiet', after: 'root=1 iommu=pt', told: [] },
  'systemd-boot': {
    file: '/etc/kernel/cmdline',
    before: 'root=1 quiet',
    after: 'root=1 iommu=pt',
    told: ['sh -c kernel-install add "$(uname -r)" "/boot/vmlinuz-$(uname -r)"'],
  },
  'systemd-boot of Proxmox': {
    file: '/etc/kernel/cmdline',
    before: 'root=1 quiet',
    after: 'root=1 iommu=pt',
    told: ['proxmox-boot-tool refresh'],
    tool: true,
  },
  grub: {
    file: '/etc/default/grub',
    before: 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"',
    after: 'GRUB_CMDLINE_LINUX_DEFAULT="iommu=pt"',
    told: ['update-grub'],
  },
}
for (const [what, { file, before, after, told, tool = false }] of Object.entries(BOOTS))
  test(`words for the kernel are written where ${what} reads them, and whoever starts it is told`, () => {
    const item: HostItem = { type: 'kernel-args', name: 'cmdline', spec: { args: ['iommu=pt'], remove: ['quiet'] } }
    const look = seen(item, {
      [`file ${file}`]: text(`${before}\n`),
      'run ["cat","/proc/cmdline"]': { code: '0', out: 'root=1 quiet\n' },
      'run ["sh","-c","command -v proxmox-boot-tool"]': { code: tool ? '0' : '127' },
      'run ["proxmox-boot-tool","status"]': {
        code: '0',
        out: 'ABCD-1234 is configured with: uefi (versions: 6.8.12-1-pve)\n',
      },
    })
    const rules = rulesOf(item)
    const changes = rules.diff(item, look)
    assert.deepEqual(
      changes.map(({ path, effect }) => `${path} ${effect}`),
      ['args live', 'running restart'],
    )
    const [write, ...rest] = rules.commands(item, look, changes)
    assert.ok(write?.do === 'put' && write.path === file)
    assert.equal(write.content, `${after}\n`)
    assert.deepEqual(rest.map(showCommand), told)
    const back = rules.undo?.(item, look) ?? []
    assert.deepEqual(back.slice(1).map(showCommand), told, 'and on the way back as well')
  })

const lines = fc
  .array(fc.constantFrom('a=1', 'b=2', '# c', '', 'x=0', 'x=1'))
  .map((all) => all.map((one) => `${one}\n`).join(''))

test('lines, blocks, entries and words can be written again without a change, and leave the rest alone', () => {
  fc.assert(
    fc.property(lines, (before) => {
      const line = withLine(before, { path: '/f', line: 'x=9', match: 'x=' })
      assert.equal(withLine(line, { path: '/f', line: 'x=9', match: 'x=' }), line)
      assert.equal(line.split('\n').filter((one) => one.startsWith('x=')).length, 1)
      const others = (all: string) => all.split('\n').filter((one) => one !== '' && !one.startsWith('x='))
      assert.deepEqual(others(line), others(before))
      const block = withBlock(before, 'n', 'p\nq\n')
      assert.equal(withBlock(block, 'n', 'p\nq\n'), block)
      assert.equal(withBlock(block, 'n', undefined), before)
      const fstab = withEntry(before, '/srv', 'D /srv btrfs o 0 0')
      assert.equal(withEntry(fstab, '/srv', 'D /srv btrfs o 0 0'), fstab)
      const words = withArgs(before, { args: ['z=1', 'y'], remove: ['x'] })
      assert.equal(withArgs(words, { args: ['z=1', 'y'], remove: ['x'] }), words)
    }),
  )
})

test('a file that is put back gets the group of its owner where only that is known', () => {
  const script = revertScript([{ do: 'put', path: '/home/k3s/.ssh/authorized_keys', content: '', owner: 'k3s:' }], '/r')
  assert.match(script, /^chown -- 'k3s:' /m)
})

test('[S-01] a word in a script that takes things back is quoted whatever is in it', () => {
  assert.equal(shellQuoted("a'; touch /tmp/p; '"), `'a'\\''; touch /tmp/p; '\\'''`)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostItem, HostItemOf } from '../../../model/host-item.ts'
import { type Answer, askKey, seenIn } from '../ask.ts'
import { showCommand } from '../command.ts'
import { rulesOf } from './registry.ts'

const ID = (name: string) => `/dev/disk/by-id/${name}`
const out = (text: string, code = 0): Answer => ({ code: String(code), out: text })
const LSBLK = ['lsblk', '-n', '-r', '-o', 'TYPE,SERIAL,FSTYPE,MOUNTPOINT', '--']

/** What a program would answer, by its words; what nobody wrote down is not installed. */
type Said = Readonly<Record<string, Answer>>
const said = (...argv: readonly string[]) => `run ${JSON.stringify(argv)}`
const WIPEFS = ['wipefs', '--noheadings', '--output', 'TYPE', '--']
const disk = (name: string, row: string): Said => ({
  [said(...LSBLK, ID(name))]: out(`${row}\n`),
  [said(...WIPEFS, ID(name))]: out(row.split('\n')[0]?.split(' ')[2] ?? ''),
})

function judged(item: HostItem, answers: Said) {
  const rules = rulesOf(item)
  const seen = seenIn(new Map(rules.asks(item).map((ask) => [askKey(ask), answers[askKey(ask)] ?? { code: '127' }])))
  const changes = rules.diff(item, seen)
  const held = changes.find(({ blocked }) => blocked !== undefined)?.blocked
  const commands = held === undefined && changes.length > 0 ? rules.commands(item, seen, changes).map(showCommand) : []
  return { paths: changes.map(({ path }) => path), held: held?.message, allow: held?.allow, commands }
}

const POOL: HostItemOf<'zpool'> = {
  type: 'zpool',
  name: 'tank',
  spec: {
    vdevs: [{ type: 'mirror', devices: [ID('ata-A'), ID('ata-B')] }],
    properties: { ashift: '12', autotrim: 'on' },
    import: true,
    erase: ['SA', 'SB'],
  },
}
const status = (...devices: readonly string[]) =>
  out(`  pool: tank
 state: ONLINE
  scan: scrub repaired 0B in 00:00:01 with 0 errors on Sun Nov  8 00:24:02 2026
config:

\tNAME                             STATE     READ WRITE CKSUM
\ttank                             ONLINE       0     0     0
\t  mirror-0                       ONLINE       0     0     0
${devices.map((one) => `\t    ${ID(one)}-part1  ONLINE       0     0     0\n`).join('')}
errors: No known data errors
`)
const STATUS = said('zpool', 'status', '-P', 'tank')
const GET = said('zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', 'tank')
const BY_ID = '/dev/disk/by-id'
const IMPORT = said('sh', '-c', 'zpool list -H "$1" >/dev/null 2>&1 || zpool import -d "$2"', 'sh', 'tank', BY_ID)
const properties = (autotrim: string) => out(`size\t1000\nashift\t12\nautotrim\t${autotrim}\nhealth\tONLINE\n`)
const absent: Said = { [STATUS]: out('', 1), [GET]: out('', 1), [IMPORT]: out('') }
const empty: Said = { ...disk('ata-A', 'disk SA  '), ...disk('ata-B', 'disk SB  ') }

test('zpool: made of the disks that are named, when each was named by its serial number', () => {
  const made = judged(POOL, { ...absent, ...empty })
  assert.deepEqual(made.paths, ['pool'])
  assert.equal(
    made.commands.at(-1),
    `zpool create -f -o ashift=12 -o autotrim=on tank mirror ${ID('ata-A')} ${ID('ata-B')}`,
  )
  const unnamed = judged({ ...POOL, spec: { ...POOL.spec, erase: ['SA'] } }, { ...absent, ...empty })
  assert.match(unnamed.held ?? '', /ata-B \(serial SB\) holds nothing that is known, and the pool tank would erase it/)
  assert.equal(unnamed.allow, 'write its serial number down: erase: ["SB"]')
})

test('zpool: a disk that is missing, mounted or has no serial number is never taken', () => {
  const with2 = (row: Said) => judged(POOL, { ...absent, ...disk('ata-A', 'disk SA  '), ...row }).held ?? ''
  assert.match(with2({}), /there is no disk .*ata-B/)
  assert.match(with2(disk('ata-B', 'disk SB  \npart  ext4 /srv')), /something on .*ata-B is mounted/)
  assert.match(with2(disk('ata-B', 'disk  ext4 ')), /ata-B \(serial unknown\) holds ext4/)
})

test('zpool: one that is on the disks is taken over, and only when that is allowed', () => {
  const there: Said = {
    ...absent,
    ...empty,
    [IMPORT]: out('   pool: tank\n     id: 1234\n  state: ONLINE\n action: The pool can be imported.\n'),
  }
  assert.deepEqual(judged(POOL, there).commands, ['zpool import -d /dev/disk/by-id tank'])
  assert.match(
    judged({ ...POOL, spec: { ...POOL.spec, import: false } }, there).held ?? '',
    /is on the disks of this host/,
  )
})

test('zpool: a mirror gets its second disk, properties are set, and other shapes are a matter for a person', () => {
  const alone: Said = { ...empty, [STATUS]: status('ata-A'), [GET]: properties('off') }
  assert.deepEqual(judged(POOL, alone).commands, [
    `wipefs -a -- ${ID('ata-B')}`,
    `zpool attach tank ${ID('ata-A')} ${ID('ata-B')}`,
    'zpool set autotrim=on tank',
  ])
  const whole: Said = { ...empty, [STATUS]: status('ata-A', 'ata-B'), [GET]: properties('on') }
  assert.deepEqual(judged(POOL, whole).paths, [])
  const other = {
    ...POOL,
    spec: { ...POOL.spec, vdevs: [{ type: 'raidz1' as const, devices: [ID('ata-A'), ID('ata-B')] }] },
  }
  assert.match(judged(other, alone).held ?? '', /ata-B is not in the pool tank/)
})

test('zfs: a dataset is made with its properties, and each is set alone later', () => {
  const item: HostItem = {
    type: 'zfs-dataset',
    name: 'tank/a',
    spec: { properties: { compression: 'zstd', quota: '1G' } },
  }
  const ask = said('zfs', 'get', '-H', '-p', '-o', 'property,value', 'all', 'tank/a')
  assert.deepEqual(judged(item, { [ask]: out('', 1) }).commands, [
    'zfs create -p -o compression=zstd -o quota=1G tank/a',
  ])
  assert.deepEqual(judged(item, { [ask]: out('type\tfilesystem\ncompression\toff\nquota\t1G\n') }).commands, [
    'zfs set compression=zstd tank/a',
  ])
})

const BTRFS: HostItemOf<'btrfs'> = {
  type: 'btrfs',
  name: '/srv/data',
  spec: { device: ID('nvme-A'), label: 'data', subvolumes: ['volumes', 'backup'], erase: ['S1'] },
}
const MOUNTED = said('findmnt', '-n', '-o', 'TARGET', '--mountpoint', '/srv/data')
const SUBVOLUMES = said('btrfs', 'subvolume', 'list', '/srv/data')

test('btrfs: made once; what is on it afterwards is never erased', () => {
  const made = judged(BTRFS, { ...disk('nvme-A', 'disk S1 ext4 '), [MOUNTED]: out('', 1) })
  assert.deepEqual(made.commands.slice(0, 4), [
    `wipefs -a -- ${ID('nvme-A')}`,
    `mkfs.btrfs -L data -- ${ID('nvme-A')}`,
    'mkdir -p -- /srv/data',
    `mount -t btrfs -- ${ID('nvme-A')} /srv/data`,
  ])
  const later = judged(BTRFS, {
    ...disk('nvme-A', 'disk S1 btrfs /srv/data'),
    [MOUNTED]: out('/srv/data\n'),
    [SUBVOLUMES]: out('ID 256 gen 9 top level 5 path volumes\n'),
  })
  assert.deepEqual(later.paths, ['subvolumes.backup'])
  assert.ok(!later.commands.some((line) => /wipefs|mkfs/.test(line)), later.commands.join('\n'))
  const unnamed = { ...BTRFS, spec: { ...BTRFS.spec, erase: ['other'] } }
  assert.match(judged(unnamed, disk('nvme-A', 'disk S1 ntfs ')).held ?? '', /holds ntfs, and btrfs would erase it/)
})

test('ceph: only a disk that is named is emptied, and one that Ceph has is left alone for ever', () => {
  const item: HostItem = { type: 'ceph-disk', name: ID('nvme-C'), spec: { erase: ['SC'] } }
  const of = (row: string) => judged(item, disk('nvme-C', row))
  assert.ok(of('disk SC ntfs ').commands.some((line) => line.startsWith('dd if=/dev/zero')))
  for (const taken of ['disk SC ceph_bluestore ', 'disk SC LVM2_member ', 'disk SC  '])
    assert.deepEqual(of(taken).paths, [], taken)
  assert.match(of('disk SX ntfs ').held ?? '', /serial SX/)
  assert.match(of('disk SC  \npart  ext4 /home').held ?? '', /mounted/)
  const nameless = { ...item, spec: { erase: [''] } }
  assert.match(judged(nameless, disk('nvme-C', 'disk  ext4 ')).held ?? '', /serial unknown/, 'nobody can have named it')
  const behind = { [said(...LSBLK, ID('nvme-C'))]: out('disk SX  \n'), [said(...WIPEFS, ID('nvme-C'))]: out('ext4\n') }
  assert.match(judged(item, behind).held ?? '', /holds ext4/, 'what udev does not know is on it all the same')
  const deaf = { ...behind, [said(...WIPEFS, ID('nvme-C'))]: out('', 1) }
  assert.match(judged(item, deaf).held ?? '', /something that cannot be read/)
})

test('mount: fstab gets one line for the place, and a mount that nobody wants any more is taken away', () => {
  const spec = { device: 'LABEL=data', fs: 'btrfs', options: 'noatime', mounted: true }
  const item: HostItem = { type: 'mount', name: '/srv', spec }
  const fstab = (content: string): Answer => ({ kind: 'file', mode: '644', owner: 'root', group: 'root', content })
  const FINDMNT = said('findmnt', '-n', '-o', 'FSTYPE', '--mountpoint', '/srv')
  const look = (text: string, mounted: boolean) => ({
    'file /etc/fstab': fstab(text),
    [FINDMNT]: mounted ? out('btrfs\n') : out('', 1),
  })
  assert.deepEqual(judged(item, look('UUID=1 / ext4 defaults 0 1\n', false)).paths, ['fstab', 'mounted'])
  assert.deepEqual(judged(item, look('LABEL=data  /srv\tbtrfs noatime 0 0\n', true)).paths, [])
  assert.deepEqual(judged(item, look('LABEL=old /srv ext4 defaults 0 0\n', true)).paths, ['fstab'])
  assert.deepEqual(
    judged({ ...item, spec: { ...spec, mounted: false } }, look('LABEL=data /srv btrfs noatime 0 0\n', true)).paths,
    ['mounted'],
  )
})

test('module: loaded now and at every start, or never', () => {
  const loaded = (name: string, is: boolean): Said => ({ [`module ${name}`]: { loaded: is ? '1' : '0' } })
  const wanted: HostItem = { type: 'module', name: 'rbd', spec: { options: 'single_major=Y' } }
  assert.deepEqual(judged(wanted, loaded('rbd', false)).commands, [
    'mkdir -p -- /etc/modules-load.d',
    'write /etc/modules-load.d/croft-rbd.conf',
    'mkdir -p -- /etc/modprobe.d',
    'write /etc/modprobe.d/croft-rbd.conf',
    'modprobe -- rbd',
  ])
  assert.deepEqual(judged(wanted, loaded('rbd', true)).paths, ['kept'])
  const never: HostItem = { type: 'module', name: 'nouveau', spec: { absent: true } }
  assert.deepEqual(judged(never, loaded('nouveau', true)).commands.slice(-2), [
    'write /etc/modprobe.d/croft-no-nouveau.conf',
    'modprobe -r -- nouveau',
  ])
})

test('coral: the rules for the stick and for the card, and the card gets its driver', () => {
  const usb = judged({ type: 'coral', name: 'usb', spec: { bus: 'usb' } }, {})
  assert.ok(usb.commands.some((line) => line.includes('groupadd') && line.includes('plugdev')))
  assert.ok(!usb.commands.includes('modprobe -- apex'))
  const pcie = judged({ type: 'coral', name: 'pcie', spec: { bus: 'pcie' } }, {})
  assert.ok(pcie.commands.some((line) => line.includes('groupadd') && line.includes('apex')))
  assert.equal(pcie.commands.at(-1), 'modprobe -- apex')
})

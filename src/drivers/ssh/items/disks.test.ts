import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HostItem, HostItemOf } from '../../../model/host-item.ts'
import { askKey, type HostAnswer, seenIn } from '../ask.ts'
import { showCommand } from '../command.ts'
import { rulesOf } from './registry.ts'
import { sameProperty } from './zpool.ts'

const ID = (name: string) => `/dev/disk/by-id/${name}`
const out = (text: string, code = 0): HostAnswer => ({ code: String(code), out: text })
const LSBLK = ['lsblk', '-n', '-r', '-o', 'TYPE,SERIAL,FSTYPE,MOUNTPOINT', '--']

/** A program's answer by its command line; programs that are not listed are not installed. */
type Said = Readonly<Record<string, HostAnswer>>
const said = (...argv: readonly string[]) => `run ${JSON.stringify(argv)}`
const WIPEFS = ['wipefs', '--noheadings', '--output', 'TYPE,LABEL', '--']
const PARTS = 'for q in "$1"-part*; do [ ! -e "$q" ] || wipefs --noheadings --output TYPE,LABEL -- "$q" || exit; done'
const partitions = (name: string) => said('sh', '-c', PARTS, 'sh', ID(name))
const disk = (name: string, row: string): Said => ({
  [said(...LSBLK, ID(name))]: out(`${row}\n`),
  [said(...WIPEFS, ID(name))]: out(row.split('\n')[0]?.split(' ')[2] ?? ''),
  [partitions(name)]: out(''),
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
const REAL_STATUS = said('zpool', 'status', '-L', '-P', 'tank')
const LIST = said('zpool', 'list', '-H', '-o', 'name')
const there: Said = { [LIST]: out('rpool\ntank\n') }
const GET = said('zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', 'tank')
const BY_ID = '/dev/disk/by-id'
const IMPORT = said('sh', '-c', 'zpool list -H "$1" >/dev/null 2>&1 || zpool import -d "$2"', 'sh', 'tank', BY_ID)
const properties = (autotrim: string) => out(`size\t1000\nashift\t12\nautotrim\t${autotrim}\nhealth\tONLINE\n`)
const absent: Said = { [LIST]: out('rpool\n'), [STATUS]: out('', 1), [GET]: out('', 1), [IMPORT]: out('') }
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
  const exported: Said = {
    ...absent,
    ...empty,
    [IMPORT]: out('   pool: tank\n     id: 1234\n  state: ONLINE\n action: The pool can be imported.\n'),
  }
  assert.deepEqual(judged(POOL, exported).commands, ['zpool import -d /dev/disk/by-id tank'])
  assert.match(
    judged({ ...POOL, spec: { ...POOL.spec, import: false } }, exported).held ?? '',
    /is on the disks of this host/,
  )
})

test('zpool: a mirror gets its second disk, properties are set, and other shapes are a matter for a person', () => {
  const alone: Said = { ...there, ...empty, [STATUS]: status('ata-A'), [GET]: properties('off') }
  assert.deepEqual(judged(POOL, alone).commands, [
    `wipefs -a -- ${ID('ata-B')}`,
    `zpool attach tank ${ID('ata-A')} ${ID('ata-B')}`,
    'zpool set autotrim=on tank',
  ])
  const whole: Said = { ...there, ...empty, [STATUS]: status('ata-A', 'ata-B'), [GET]: properties('on') }
  assert.deepEqual(judged(POOL, whole).paths, [])
  const other = {
    ...POOL,
    spec: { ...POOL.spec, vdevs: [{ type: 'raidz1' as const, devices: [ID('ata-A'), ID('ata-B')] }] },
  }
  assert.match(judged(other, alone).held ?? '', /ata-B is not in the pool tank/)
})

test('a disk whose partitions cannot be read may hold anything: nothing on it is erased, whatever serial is written down', () => {
  const unreadable = (name: string, row: string): Said => ({ ...disk(name, row), [partitions(name)]: out('', 1) })
  for (const [a, b] of [
    [unreadable('ata-A', 'disk SA  '), disk('ata-B', 'disk SB  ')],
    [disk('ata-A', 'disk SA  '), unreadable('ata-B', 'disk SB  ')],
  ] as const) {
    const { held, commands } = judged(POOL, { ...absent, ...a, ...b })
    assert.match(held ?? '', /ata-[AB] holds something that cannot be read, so nothing on it is erased/)
    assert.deepEqual(commands, [])
  }
})

test('zpool: a pool is never erased for itself: not when ZFS is away, not when its disks cannot be imported', () => {
  const [mine, other] = [out('gpt\nPMBR\n'), out('zfs_member tank\n')]
  const member = (name: string, row: string): Said => ({
    ...disk(name, row),
    [said(...WIPEFS, ID(name))]: mine,
    [partitions(name)]: other,
  })
  const disks: Said = { ...member('ata-A', 'disk SA  '), ...member('ata-B', 'disk SB  ') }
  for (const gone of [out('', 127), out('', 1), out('', 124)]) {
    const away = judged(POOL, { ...absent, ...disks, [LIST]: gone })
    assert.match(away.held ?? '', /ZFS does not answer on this host/)
  }
  const lost = judged(POOL, { ...absent, ...disks })
  assert.match(lost.held ?? '', /ata-A holds a part of a pool tank, which is not erased for a new one/)
  assert.match(lost.allow ?? '', /zpool import tank.*zpool labelclear \/dev\/disk\/by-id\/ata-A/)
  const second = {
    ...there,
    ...empty,
    ...member('ata-B', 'disk SB  '),
    [STATUS]: status('ata-A'),
    [GET]: properties('on'),
  }
  assert.match(judged(POOL, second).held ?? '', /ata-B holds a part of a pool tank/, 'nor to be attached once more')
  const former = { ...absent, ...disks, [partitions('ata-A')]: out('zfs_member old\n'), [partitions('ata-B')]: out('') }
  assert.deepEqual(judged(POOL, former).paths, ['pool'], 'another pool goes, when its disks are named')
})

test('zpool: its disks are known by whatever name it was made with', () => {
  const real = (name: string, path: string): Said => ({ [said('readlink', '-f', '--', ID(name))]: out(`${path}\n`) })
  const rows = (...names: readonly string[]) =>
    out(`config:\n\n\tNAME STATE\n\ttank ONLINE\n${names.map((one) => `\t  ${one}  ONLINE  0  0  0\n`).join('')}`)
  const answers: Said = {
    ...there,
    ...empty,
    ...real('ata-A', '/dev/sda'),
    ...real('ata-B', '/dev/nvme0n1'),
    [GET]: properties('on'),
    [STATUS]: rows('/dev/disk/by-id/wwn-1-part1', '/dev/nvme0n1p1'),
    [REAL_STATUS]: rows('/dev/sda1', '/dev/nvme0n1p1'),
  }
  assert.deepEqual(judged(POOL, answers).paths, [])
  const alone = { ...answers, [STATUS]: rows('/dev/disk/by-id/wwn-1-part1'), [REAL_STATUS]: rows('/dev/sda1') }
  assert.deepEqual(judged(POOL, alone).commands, [
    `wipefs -a -- ${ID('ata-B')}`,
    `zpool attach tank /dev/disk/by-id/wwn-1-part1 ${ID('ata-B')}`,
  ])
})

test('zfs: sizes are compared as ZFS counts them, and what is right is not set again', () => {
  const same: readonly (readonly [seen: string, wanted: string])[] = [
    ['1073741824', '1G'],
    ['1073741824', '1GiB'],
    ['1610612736', '1.5g'],
    ['131072', '128K'],
    ['131072', '128kB'],
    ['0', 'none'],
    ['18446744073709551615', 'none'],
    ['none', 'none'],
    ['12', '12'],
    ['on', 'on'],
  ]
  for (const [seen, wanted] of same) assert.ok(sameProperty(seen, wanted), `${seen} ${wanted}`)
  const other: readonly (readonly [seen: string | undefined, wanted: string])[] = [
    ['1073741824', '1T'],
    ['1000000000', '1G'],
    ['1024', 'none'],
    ['off', 'on'],
    ['0', 'off'],
    [undefined, 'none'],
    ['', '0'],
  ]
  for (const [seen, wanted] of other) assert.ok(!sameProperty(seen, wanted), `${seen} ${wanted}`)
})

test('zfs: a property goes back to where it came from: above, or what was said of the dataset itself', () => {
  const item: HostItem = { type: 'zfs-dataset', name: 'tank/a', spec: { properties: { atime: 'off', quota: '1G' } } }
  const answer = out('type\tfilesystem\t-\natime\ton\tinherited from tank\nquota\t4096\tlocal\n')
  const undo = rulesOf(item).undo?.(item, seenIn(new Map([[DATASET, answer]])))
  assert.deepEqual(undo?.map(showCommand), ['zfs inherit atime tank/a', 'zfs set quota=4096 tank/a'])
})

const DATASET = said('zfs', 'get', '-H', '-p', '-o', 'property,value,source', 'all', 'tank/a')

test('zfs: a dataset is made with its properties, and each is set alone later', () => {
  const item: HostItem = {
    type: 'zfs-dataset',
    name: 'tank/a',
    spec: { properties: { compression: 'zstd', quota: '1G' } },
  }
  assert.deepEqual(judged(item, { [DATASET]: out('', 1) }).commands, [
    'zfs create -p -o compression=zstd -o quota=1G tank/a',
  ])
  assert.deepEqual(
    judged(item, { [DATASET]: out('type\tfilesystem\t-\ncompression\toff\tdefault\nquota\t1073741824\tlocal\n') })
      .commands,
    ['zfs set compression=zstd tank/a'],
  )
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
  const traces = { [said(...WIPEFS, ID('nvme-A'))]: out('PMBR\nbtrfs data\n'), [MOUNTED]: out('', 1) }
  const beside = judged(BTRFS, { ...disk('nvme-A', 'disk S1 btrfs '), ...traces })
  assert.deepEqual(beside.paths, ['subvolumes'], 'an old trace beside it makes no new file system of it')
  const deaf = judged(BTRFS, { ...disk('nvme-A', 'disk S1  '), [said(...WIPEFS, ID('nvme-A'))]: out('', 1) })
  assert.match(deaf.held ?? '', /holds something that cannot be read, so nothing on it is erased/)
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
  const inside = { ...disk('nvme-C', 'disk SC  '), [partitions('nvme-C')]: out('LVM2_member\n') }
  assert.deepEqual(judged(item, inside).paths, [], "on a partition it is as much Ceph's")
  assert.match(of('disk SC crypto_LUKS ').held ?? '', /encrypted, as a disk is that Ceph has already/)
  const nameless = { ...item, spec: { erase: [''] } }
  assert.match(judged(nameless, disk('nvme-C', 'disk  ext4 ')).held ?? '', /serial unknown/, 'nobody can have named it')
  const behind = { ...disk('nvme-C', 'disk SX  '), [said(...WIPEFS, ID('nvme-C'))]: out('ext4\n') }
  assert.match(judged(item, behind).held ?? '', /holds ext4/, 'what udev does not know is on it all the same')
  const deaf = { ...behind, [said(...WIPEFS, ID('nvme-C'))]: out('', 1) }
  assert.match(judged(item, deaf).held ?? '', /something that cannot be read/)
  const broken = { ...disk('nvme-C', 'disk SC  '), [said(...WIPEFS, ID('nvme-C'))]: out('', 1) }
  assert.match(judged(item, broken).held ?? '', /something that cannot be read/, 'a name in Git does not change that')
})

test('mount: fstab gets one line for the place, and a mount that nobody wants any more is taken away', () => {
  const spec = { device: 'LABEL=data', fs: 'btrfs', options: 'noatime', mounted: true }
  const item: HostItem = { type: 'mount', name: '/srv', spec }
  const fstab = (content: string): HostAnswer => ({ kind: 'file', mode: '644', owner: 'root', group: 'root', content })
  const FINDMNT = said('findmnt', '-n', '-o', 'SOURCE,FSTYPE', '--mountpoint', '/srv')
  const FROM = said('findmnt', '-n', '-o', 'SOURCE', '--source', 'LABEL=data', '--mountpoint', '/srv')
  const look = (text: string, mounted: boolean) => ({
    'file /etc/fstab': fstab(text),
    [FINDMNT]: mounted ? out('/dev/sda1 btrfs\n') : out('', 1),
    [FROM]: mounted ? out('/dev/sda1\n') : out('', 1),
  })
  assert.deepEqual(judged(item, look('UUID=1 / ext4 defaults 0 1\n', false)).paths, ['fstab', 'mounted'])
  assert.deepEqual(judged(item, look('LABEL=data  /srv\tbtrfs noatime,nofail 0 0\n', true)).paths, [])
  assert.deepEqual(judged(item, look('LABEL=old /srv ext4 defaults 0 0\n', true)).paths, ['fstab'])
  assert.deepEqual(
    judged({ ...item, spec: { ...spec, mounted: false } }, look('LABEL=data /srv btrfs noatime,nofail 0 0\n', true))
      .paths,
    ['mounted'],
  )
  // Only what could be mounted is written to fstab: otherwise the next start would wait, or end in emergency mode.
  const words = judged(item, look('', false)).commands.map((line) => line.split(' ')[0])
  assert.deepEqual(words, ['mkdir', 'sh', 'write', 'sh'])
  assert.match(judged(item, look('', false)).commands[1] ?? '', /mount -t .* \/srv LABEL=data btrfs noatime,nofail$/)
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

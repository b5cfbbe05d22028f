import assert from 'node:assert/strict'
import { openSync, readSync, writeSync } from 'node:fs'
import { after, test } from 'node:test'
import { disksMissing, type LabDisk, plugIn } from './disks.ts'
import { config, declare, kept, said } from './keep.ts'
import type { Lab } from './lab.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'], disksMissing)
const disks: LabDisk[] = []
after(() => {
  for (const disk of disks) disk.remove()
})

async function plugged(one: Lab, name: string): Promise<LabDisk> {
  const [cow] = one.hosts
  assert.ok(cow)
  const disk = await plugIn(one, cow, name)
  disks.push(disk)
  return disk
}

/** The first sector of a disk with one partition of Linux on it. */
function partitionTable(): Buffer {
  const sector = Buffer.alloc(512)
  sector.writeUInt8(0x83, 446 + 4)
  sector.writeUInt32LE(2048, 446 + 8)
  sector.writeUInt32LE(100_000, 446 + 12)
  sector.writeUInt16BE(0x55aa, 510)
  return sector
}

test(
  'btrfs on a real disk: refused until its serial number is named, made once, and never erased again',
  within,
  async () => {
    const one = await lab()
    const disk = await plugged(one, 'data')
    await said(one, 'mkswap', disk.id)
    const spec = (erase: string) =>
      `  btrfs:\n    - {path: /srv/data, device: ${disk.id}, label: data, subvolumes: [volumes, backup]${erase}}\n  mounts:\n    - {path: /srv/data, device: LABEL=data, fs: btrfs, options: noatime}\n`
    const refused = await kept(one, await declare(one, config('disks', 'cow', spec(''))))
    assert.match(refused.left.join(), /serial SERIAL-data\) holds swap, and btrfs would erase it/)
    assert.equal(await said(one, 'blkid', '-p', '-o', 'value', '-s', 'TYPE', disk.id), 'swap\n', 'nothing was touched')

    const estate = await declare(one, config('disks', 'cow', spec(`, erase: [${disk.serial}]`)))
    assert.deepEqual((await kept(one, estate)).left, [])
    assert.match(await said(one, 'btrfs', 'subvolume', 'list', '/srv/data'), /path volumes\n.*path backup\n/)
    assert.match(await said(one, 'cat', '/etc/fstab'), /^LABEL=data \/srv\/data btrfs noatime,nofail 0 0$/m)
    await said(one, 'sh', '-c', 'echo precious >/srv/data/volumes/file')
    assert.equal((await kept(one, estate)).effects, 0, 'a second time there is nothing to do')
    await said(one, 'umount', '/srv/data')
    assert.deepEqual((await kept(one, estate)).left, [])
    assert.equal(
      await said(one, 'cat', '/srv/data/volumes/file'),
      'precious\n',
      'it is mounted again, with what is on it',
    )

    const base = config('disks', 'cow', '  directories:\n    - {path: /srv}\n')
    assert.deepEqual((await kept(one, await declare(one, base))).left, [])
    assert.equal(await said(one, 'sh', '-c', 'mountpoint -q /srv/data || grep data /etc/fstab'), '', 'unmounted')
    assert.equal(await said(one, 'blkid', '-p', '-o', 'value', '-s', 'TYPE', disk.id), 'btrfs\n', 'a file system stays')
  },
)

test(
  'a disk for Ceph: table and partitions go, its first part is empty, and what Ceph has then is left alone',
  within,
  async () => {
    const one = await lab()
    const disk = await plugged(one, 'ceph')
    writeSync(openSync(disk.image, 'r+'), partitionTable(), 0, 512, 0)
    await said(one, 'blockdev', '--flushbufs', disk.id)
    assert.equal(await said(one, 'wipefs', '--noheadings', '--output', 'TYPE', disk.id), 'dos\n')
    const item = (serial: string) =>
      declare(one, config('ceph', 'cow', `  cephDisks:\n    - {device: ${disk.id}, erase: [${serial}]}\n`))
    assert.match((await kept(one, await item('ANOTHER'))).left.join(), /SERIAL-ceph\) holds dos/)
    const estate = await item(disk.serial)
    assert.deepEqual((await kept(one, estate)).left, [])
    assert.equal(await said(one, 'wipefs', '--noheadings', '--output', 'TYPE', disk.id), '')
    const first = Buffer.alloc(1024 * 1024)
    readSync(openSync(disk.image, 'r'), first, 0, first.length, 0)
    assert.ok(first.every((byte) => byte === 0))
    writeSync(openSync(disk.image, 'r+'), 'bluestore block device\n', 0)
    await said(one, 'blockdev', '--flushbufs', disk.id)
    assert.equal((await kept(one, estate)).effects, 0, 'Ceph has it now')
  },
)

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { disksMissing, type LabDisk, plugIn } from './disks.ts'
import { FAKE_ZFS } from './fake-zfs.ts'
import { config, declare, kept, said } from './keep.ts'
import { type Lab, labMissing, openLab } from './lab.ts'

const skip = labMissing() ?? disksMissing() ?? false
let opened: Promise<Lab> | undefined
const lab = () => (opened ??= openLab(['cow']))
const disks: LabDisk[] = []
after(async () => {
  await (await opened)?.close()
  for (const disk of disks) disk.remove()
})

test('a pool of ZFS as its programs speak: made, imported, given its second disk; datasets and properties', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const [cow] = one.hosts
  assert.ok(cow)
  const [a, b] = [await plugIn(one, cow, 'za', 32), await plugIn(one, cow, 'zb', 32)]
  disks.push(a, b)
  for (const name of ['zpool', 'zfs']) writeFileSync(join(cow.root, 'usr/local/sbin', name), FAKE_ZFS, { mode: 0o755 })
  const pool = (devices: string, properties: string, type = 'mirror') =>
    declare(
      one,
      config(
        'zfs',
        'cow',
        `  zpools:\n    - {name: tank, vdevs: [{type: ${type}, devices: [${devices}]}], properties: {autotrim: "${properties}"}, import: true, erase: [${a.serial}, ${b.serial}]}\n  datasets:\n    - {name: tank/media, properties: {compression: zstd, atime: "off"}}\n`,
      ),
    )
  const alone = await pool(a.id, 'off', 'disk')
  assert.deepEqual((await kept(one, alone)).left, [])
  assert.equal((await kept(one, alone)).effects, 0)
  assert.match(
    await said(one, 'zfs', 'get', '-H', '-p', '-o', 'property,value', 'all', 'tank/media'),
    /compression\tzstd/,
  )
  assert.match(await said(one, 'wipefs', '--noheadings', '--output', 'TYPE', a.id), /^$|zfs_member/)

  const mirror = await pool(`${a.id}, ${b.id}`, 'on')
  assert.deepEqual((await kept(one, mirror)).left, [])
  const status = await said(one, 'zpool', 'status', '-P', 'tank')
  assert.ok(status.includes(`${a.id}-part1`) && status.includes(`${b.id}-part1`), status)
  assert.match(await said(one, 'zpool', 'get', '-H', '-p', '-o', 'property,value', 'all', 'tank'), /autotrim\ton/)
  assert.equal((await kept(one, mirror)).effects, 0)

  await said(one, 'zpool', 'export', 'tank')
  assert.deepEqual((await kept(one, mirror)).left, [])
  const calls = await said(one, 'cat', '/var/lib/fake-zfs/calls')
  assert.equal(calls.match(/^zpool create/gm)?.length, 1, 'one that was exported is imported, never made again')
  assert.match(calls, /^zpool import -d \/dev\/disk\/by-id tank$/m)
})

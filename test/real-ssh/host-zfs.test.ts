import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { disksMissing, type LabDisk, plugIn } from './disks.ts'
import { bringZfs, zfsMissing } from './fuse-zfs.ts'
import { config, declare, kept, said } from './keep.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'], () => disksMissing() ?? zfsMissing())
const disks: LabDisk[] = []
after(() => {
  for (const disk of disks) disk.remove()
})

test(
  'a real pool of ZFS: made, given its second disk, imported; datasets, sizes and properties; never erased',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const [a, b] = [await plugIn(one, cow, 'za', 128), await plugIn(one, cow, 'zb', 128)]
    disks.push(a, b)
    const pool = (devices: string, failmode: string, type = 'mirror', quota = '16M') =>
      declare(
        one,
        config(
          'zfs',
          'cow',
          `  zpools:\n    - {name: tank, vdevs: [{type: ${type}, devices: [${devices}]}], properties: {failmode: ${failmode}, ashift: "12"}, import: true, erase: [${a.serial}, ${b.serial}]}\n  datasets:\n    - {name: tank/media, properties: {compression: gzip, atime: "off", quota: ${quota}, recordsize: 64K, refquota: none, mountpoint: /srv/media}}\n`,
        ),
      )
    const alone = await pool(a.id, 'wait', 'disk')
    await said(one, 'mv', '/sbin/zpool', '/sbin/zpool.away')
    const away = await kept(one, alone)
    assert.match(away.left.join('\n'), /ZFS does not answer on this host/)
    await said(one, 'mv', '/sbin/zpool.away', '/sbin/zpool')
    await bringZfs(one, cow)

    assert.deepEqual((await kept(one, alone)).left, [])
    assert.equal((await kept(one, alone)).effects, 0, 'what ZFS says of sizes is what was asked for')
    const get = (...what: readonly string[]) => said(one, 'zfs', 'get', '-H', '-p', '-o', 'value', ...what)
    assert.equal(await get('compression,quota,recordsize', 'tank/media'), 'gzip\n16777216\n65536\n')
    assert.match(await said(one, 'findmnt', '-n', '-o', 'FSTYPE', '/srv/media'), /zfs/)
    await said(one, 'sh', '-c', 'echo kept >/srv/media/file')

    const mirror = await pool(`${a.id}, ${b.id}`, 'continue', 'mirror', '32M')
    assert.deepEqual((await kept(one, mirror)).left, [])
    const status = await said(one, '/sbin/zpool', 'status', 'tank')
    assert.match(status, /mirror/)
    assert.ok(
      [a, b].every(({ id }) => status.includes(id.slice('/dev/'.length))),
      status,
    )
    assert.match(await said(one, '/sbin/zpool', 'get', 'failmode', 'tank'), /continue/)
    assert.equal(await get('quota', 'tank/media'), '33554432\n')
    assert.equal((await kept(one, mirror)).effects, 0)

    await said(one, 'zpool', 'export', 'tank')
    assert.deepEqual((await kept(one, mirror)).left, [])
    assert.equal(
      await said(one, 'cat', '/srv/media/file'),
      'kept\n',
      'one that was exported is imported, never made again',
    )

    // Its programs see no pool, as when its disks have no id; erase still names them.
    await said(one, 'zpool', 'export', 'tank')
    const blind = `#!/bin/sh\ncase $1 in import) exit 0 ;; *) exec /sbin/zpool "$@" ;; esac\n`
    await said(one, 'sh', '-c', 'printf %s "$1" >/usr/local/sbin/zpool', 'sh', blind)
    const lost = await kept(one, mirror)
    assert.match(lost.left.join('\n'), /holds a part of a pool tank, which is not erased for a new one/)
    await said(one, '/sbin/zpool', 'import', '-d', '/dev/disk/by-id', 'tank')
    assert.equal(await said(one, 'cat', '/srv/media/file'), 'kept\n')
  },
)

import { run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsks, diskIn, eraseObjection } from './disk.ts'

/** An empty disk for Ceph. Once Ceph uses it, it is never changed. */
export const cephDisk: ItemRules<'ceph-disk'> = {
  type: 'ceph-disk',
  queues: ['single/disks'],
  asks: ({ name }) => diskAsks(name),
  diff({ name, spec }, seen) {
    const disk = diskIn(name, seen)
    if (disk.there && (disk.content === '' || /ceph|LVM2_member/i.test(disk.content))) return []
    if (disk.content.includes('crypto_LUKS'))
      return [
        {
          ...change('disk', disk.content, 'empty'),
          blocked: {
            message: `${name} is encrypted, as a disk is that Ceph has already`,
            allow: `if it is not Ceph's, empty it by hand: wipefs -a ${name}`,
          },
        },
      ]
    return [eraseObjection(name, disk, spec.erase, 'preparing it for Ceph') ?? change('disk', disk.content, 'empty')]
  },
  commands: ({ name }) => [
    run('sh', '-c', 'for p in "$1"-part*; do [ -e "$p" ] || continue; wipefs -a -- "$p" || exit; done', 'sh', name),
    // Ceph searches the start for its own signatures: there must be none.
    run('dd', 'if=/dev/zero', `of=${name}`, 'bs=1M', 'count=100', 'conv=fsync,notrunc'),
    // Last, since without a signature the disk looks empty: the copy of the table at its end is wiped too.
    run('wipefs', '-a', '--', name),
    { do: 'run', argv: ['blockdev', '--rereadpt', name], ok: [0, 1] },
  ],
}

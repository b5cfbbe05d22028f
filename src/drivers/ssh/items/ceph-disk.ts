import { run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsks, diskIn, eraseObjection } from './disk.ts'

/** An empty disk for Ceph to take. Once Ceph has it, it is left alone for ever. */
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
    // Ceph looks for its own traces at the beginning: there must be none.
    run('dd', 'if=/dev/zero', `of=${name}`, 'bs=1M', 'count=100', 'conv=fsync,notrunc'),
    // Last, because without a signature the disk looks empty: the copy of the table at its end goes with it.
    run('wipefs', '-a', '--', name),
    { do: 'run', argv: ['blockdev', '--rereadpt', name], ok: [0, 1] },
  ],
}

import { run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsk, diskIn, eraseObjection } from './disk.ts'

/** An empty disk for Ceph to take. Once Ceph has it, it is left alone for ever. */
export const cephDisk: ItemRules<'ceph-disk'> = {
  type: 'ceph-disk',
  queues: ['single/disks'],
  asks: ({ name }) => [diskAsk(name)],
  diff({ name, spec }, seen) {
    const disk = diskIn(name, seen)
    if (disk.there && (disk.content === '' || /ceph|LVM2_member/i.test(disk.content))) return []
    return [eraseObjection(name, disk, spec.erase, 'preparing it for Ceph') ?? change('disk', disk.content, 'empty')]
  },
  commands: ({ name }) => [
    run('sh', '-c', 'for p in "$1"-part*; do [ -e "$p" ] && wipefs -a -- "$p"; done; wipefs -a -- "$1"', 'sh', name),
    run('sgdisk', '--zap-all', '--', name),
    // Ceph looks for its own traces at the beginning: there must be none.
    run('dd', 'if=/dev/zero', `of=${name}`, 'bs=1M', 'count=100', 'oflag=direct,dsync'),
    run('partprobe', name),
  ],
}

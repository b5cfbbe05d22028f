import type { Change } from '../../../model/resource.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { diskAsks, diskIn, eraseObjection } from './disk.ts'

/** A btrfs on a whole disk, with subvolumes. Created once; its content is never erased afterwards. */
export const btrfs: ItemRules<'btrfs'> = {
  type: 'btrfs',
  queues: ['single/disks'],
  asks: ({ name, spec }) => [
    ...diskAsks(spec.device),
    { ask: 'run', argv: ['findmnt', '-n', '-o', 'TARGET', '--mountpoint', name] },
    { ask: 'run', argv: ['btrfs', 'subvolume', 'list', name] },
  ],
  diff({ name, spec }, seen) {
    const disk = diskIn(spec.device, seen)
    // A btrfs beside other signatures is kept too: its content is never recreated.
    if (!disk.own.includes('btrfs')) {
      const objection = eraseObjection(spec.device, disk, spec.erase, 'btrfs')
      return [objection ?? change('filesystem', disk.content || null, 'btrfs')]
    }
    const mounted = seen.run('findmnt', '-n', '-o', 'TARGET', '--mountpoint', name).code === 0
    if (!mounted) return spec.subvolumes.length === 0 ? [] : [change('subvolumes', null, spec.subvolumes)]
    const { out } = seen.run('btrfs', 'subvolume', 'list', name)
    const there = out.split('\n').map((line) => / path (.+)$/.exec(line)?.[1] ?? '')
    return spec.subvolumes
      .filter((one) => !there.includes(one))
      .map((one): Change => change(`subvolumes.${one}`, null, one))
  },
  commands({ name, spec }, seen, changes) {
    const label = spec.label === undefined ? [] : ['-L', spec.label]
    const commands: Command[] = []
    if (changes.some((one) => one.path === 'filesystem'))
      commands.push(run('wipefs', '-a', '--', spec.device), run('mkfs.btrfs', ...label, '--', spec.device))
    const mounted = seen.run('findmnt', '-n', '-o', 'TARGET', '--mountpoint', name).code === 0
    commands.push(run('mkdir', '-p', '--', name))
    if (!mounted) commands.push(run('mount', '-t', 'btrfs', '--', spec.device, name))
    for (const one of spec.subvolumes)
      commands.push(run('sh', '-c', '[ -e "$1" ] || btrfs subvolume create "$1"', 'sh', `${name}/${one}`))
    return commands
  },
}

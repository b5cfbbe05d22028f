import type { HostCommand } from './host-command.ts'
import { deviceOf } from './host-state.ts'

/** Programs that look at disks, or put something on them. */
export const diskCommands: Readonly<Record<string, HostCommand>> = {
  lsblk: ({ state, argv }) => {
    const device = argv.at(-1) ?? ''
    const disk = state.disks.get(device)
    if (disk === undefined) return { code: 32 }
    const [place = ''] = [...state.mounts].find(([, mount]) => mount.device === device) ?? []
    return { out: `disk ${disk.serial} ${disk.content} ${place}\n` }
  },
  findmnt: ({ state, argv }) => {
    const mount = state.mounts.get(argv.at(-1) ?? '')
    const source = argv.includes('--source') ? (argv[argv.indexOf('--source') + 1] ?? '') : undefined
    if (mount === undefined || (source !== undefined && deviceOf(state, source) !== mount.device)) return { code: 1 }
    return { out: `${mount.device} ${mount.fs}\n` }
  },
  btrfs: ({ state, argv }) => {
    const mount = state.mounts.get(argv.at(-1) ?? '')
    const disk = mount === undefined ? undefined : state.disks.get(mount.device)
    if (disk === undefined) return { code: 1 }
    return { out: [...disk.subvolumes].map((name, at) => `ID ${256 + at} gen 8 top level 5 path ${name}\n`).join('') }
  },
  wipefs: ({ state, words, argv }) => {
    const disk = state.disks.get(words.at(-1) ?? '')
    if (disk === undefined) return { code: 1, err: 'probing initialization failed' }
    if (!argv.includes('-a')) return { out: disk.content === '' ? '' : `${disk.content}\n` }
    disk.content = ''
    disk.subvolumes.clear()
    return {}
  },
  'mkfs.btrfs': ({ state, argv }) => {
    const disk = state.disks.get(argv.at(-1) ?? '')
    if (disk === undefined) return { code: 1 }
    if (disk.content !== '') return { code: 1, err: 'ERROR: it appears to contain an existing filesystem' }
    disk.content = 'btrfs'
    disk.label = argv.includes('-L') ? (argv[argv.indexOf('-L') + 1] ?? '') : ''
    return {}
  },
  mount: ({ state, argv }) => {
    const [device = '', place = ''] = argv.slice(-2)
    const disk = state.disks.get(device)
    if (disk === undefined || disk.content === '') return { code: 32, err: `mount: ${place}: wrong fs type` }
    state.mounts.set(place, { device, fs: disk.content })
    return {}
  },
  blockdev: () => ({}),
  dd: () => ({}),
}

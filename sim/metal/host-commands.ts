import { createHash } from 'node:crypto'
import { HOST_PROGRAMS } from '../../src/model/host-item.ts'
import { runProgram } from '../guest/run-program.ts'
import type { Box } from '../world/types.ts'
import { reboot } from './box.ts'
import type { HostCommand, HostOutcome } from './host-command.ts'
import { diskCommands } from './host-disks.ts'
import { editHost } from './host-edit.ts'
import { BOUND_AT_START, hostStateOf, mountLine, textAt } from './host-state.ts'
import { zfsCommands } from './host-zfs.ts'

/** One program on a box. What is not known here may be known to every simulated system. */
export function hostProgram(box: Box, argv: readonly string[]): HostOutcome {
  const state = hostStateOf(box)
  const [program = '', ...rest] = argv
  if (program === 'env') return hostProgram(box, rest.slice(rest.findIndex((word) => !word.includes('='))))
  if (program === 'runuser') return hostProgram(box, rest.slice(rest.indexOf('--') + 1))
  if (program === 'sh' && rest[0] === '-c') {
    const [, script = '', , ...args] = rest
    const known = Object.keys(SCRIPTS).find((part) => script.includes(part))
    if (known !== undefined) return SCRIPTS[known]?.({ box, state, words: args, argv }) ?? {}
  }
  const words = rest.filter((word) => !word.startsWith('-'))
  const command = COMMANDS[program] ?? diskCommands[program] ?? zfsCommands[program]
  if (command !== undefined) return command({ box, state, words, argv })
  const done = runProgram(box.computer, argv, '')
  if (done === undefined) return { code: 127, err: `${program}: not found` }
  return { code: done.exit ?? 128, out: done.out, err: done.err }
}

/** Programs for sh that croft sends, by a part that only they have. */
const SCRIPTS: Readonly<Record<string, HostCommand>> = {
  [HOST_PROGRAMS.edit]: editHost,
  [HOST_PROGRAMS.reboot]: ({ box }) => {
    const { world } = box.computer
    const { life } = box
    world.clock.schedule(world.clock.now() + 2_000, () => {
      if (box.life === life) reboot(world, box)
    })
    return {}
  },
  'mv -fT -- "$t/got" "$folder/$name"': ({ box, words: [folder = '', url = '', sum = '', , , name = ''] }) => {
    const bytes = url.startsWith('file:') ? box.machine.files.read(url.slice('file:'.length)) : undefined
    if (bytes === undefined) return { code: 6, err: `curl: (6) Could not resolve host: ${url}` }
    const is = createHash('sha256').update(bytes).digest('hex')
    if (is !== sum) return { code: 3, out: `what ${url} gives has the checksum ${is}, and ${sum} is declared\n` }
    box.machine.files.write(`${folder}/${name}`, bytes)
    return {}
  },
  'zpool list -H "$1"': () => ({}),
  ifreload: () => ({}),
  'd/iommu_group"': ({ state }) => ({ out: state.cards.map((card) => `${card}\n`).join('') }),
  // What was bound at the last start: vfio-pci takes what it was told to, before any other driver.
  'd/driver"': ({ box, state }) => {
    const ids = /ids=(\S+)/.exec(textAt(box, BOUND_AT_START))?.[1]?.split(',') ?? []
    const mine = state.cards.map((card) => card.split(' ')).filter(([, id = '']) => ids.includes(id))
    return { out: mine.map(([slot]) => `${slot} vfio-pci\n`).join('') }
  },
  // No card of a box is in use by the box itself.
  '/sys/class/net/*': () => ({}),
  'systemctl reload ssh': () => ({}),
  'command -v proxmox-boot-tool': () => ({ code: 1 }),
  // No file of grub here assigns anything but in the one form that croft reads itself.
  'unset GRUB_CMDLINE_LINUX_DEFAULT': () => ({ code: 127 }),
  'systemctl daemon-reload': () => ({}),
  'umount -- "$1"': ({ state, words }) => {
    state.mounts.delete(words[0] ?? '')
    return {}
  },
  'mount -t "$3"': ({ state, words: [place = '', device = '', fs = '', options = ''] }) => {
    if (state.mounts.has(place) || mountLine(state, `${device} ${place} ${fs} ${options}`)) return {}
    return { code: 32, err: `mount: ${place}: can't find ${device}` }
  },
  [HOST_PROGRAMS.home]: ({ box, state, words: [folder = '', name = '', what = '', content = ''] }) => {
    const path = `${folder}/${name}`
    const { owner = 'root', group = 'root' } = state.rights.get(folder) ?? {}
    if (what === 'absent') box.machine.files.remove(path)
    else {
      box.machine.files.write(path, content)
      state.rights.set(path, { mode: '600', owner, group })
      state.rights.set(folder, { mode: '700', owner, group })
    }
    return {}
  },
  [HOST_PROGRAMS.keep]: ({ box, state, words: [folder = '', script = '', ...paths] }) => {
    const { files } = box.machine
    if (files.read(script) === undefined)
      state.copies.set(folder, new Map(paths.map((path) => [path, files.read(path)])))
    return {}
  },
  'btrfs subvolume create "$1"': ({ state, words }) => {
    const path = words[0] ?? ''
    for (const [place, { device }] of state.mounts)
      if (path.startsWith(`${place}/`)) state.disks.get(device)?.subvolumes.add(path.slice(place.length + 1))
    return {}
  },
  // Disks here have no partitions.
  'for q in "$1"-part*': () => ({}),
  'for p in "$1"-part*': () => ({}),
}

const OK: HostCommand = () => ({})

const COMMANDS: Readonly<Record<string, HostCommand>> = {
  getent: ({ state, words: [database, name = ''] }) => {
    if (database === 'group') return { code: state.users.has(name) ? 0 : 2 }
    const user = state.users.get(name)
    return user === undefined ? { code: 2 } : { out: `${name}:x:${user.uid}:${user.uid}::${user.home}:${user.shell}\n` }
  },
  id: ({ state, words: [name = ''] }) => {
    const user = state.users.get(name)
    return user === undefined ? { code: 1 } : { out: `${[...user.groups].join(' ')}\n` }
  },
  useradd: ({ state, words, argv }) => {
    const name = words.at(-1) ?? ''
    if (state.users.has(name)) return { code: 9, err: `user '${name}' already exists` }
    const shell = argv[argv.indexOf('--shell') + 1] ?? '/bin/bash'
    state.users.set(name, { uid: 1000 + state.users.size, home: `/home/${name}`, shell, groups: new Set([name]) })
    return {}
  },
  userdel: ({ state, words: [name = ''] }) => (state.users.delete(name) ? {} : { code: 6 }),
  usermod: ({ state, words, argv }) => {
    const user = state.users.get(words.at(-1) ?? '')
    if (user === undefined) return { code: 6 }
    const after = (option: string) => (argv.includes(option) ? argv[argv.indexOf(option) + 1] : undefined)
    for (const group of after('--groups')?.split(',') ?? []) user.groups.add(group)
    user.shell = after('--shell') ?? user.shell
    return {}
  },
  groupadd: OK,
  visudo: OK,
  'update-grub': OK,
  'update-initramfs': OK,
  udevadm: OK,
  gpasswd: ({ state, argv }) => {
    const [name = '', group = ''] = argv.slice(-2)
    return state.users.get(name)?.groups.delete(group) === true ? {} : { code: 3 }
  },
  nmcli: OK,
  ping: OK,
  netplan: OK,
  test: OK,
  chown: ({ state, words: [who = '', path = ''] }) => {
    const [owner = 'root', group = 'root'] = who.split(':')
    state.rights.set(path, { ...(state.rights.get(path) ?? { mode: '755' }), owner, group: group || owner })
    return {}
  },
  chmod: ({ state, words: [mode = '', path = ''] }) => {
    const before = state.rights.get(path) ?? { owner: 'root', group: 'root' }
    state.rights.set(path, { ...before, mode: mode.replace(/^0+/, '') })
    return {}
  },
  rmdir: ({ box, words: [path = ''] }) => {
    if (box.machine.files.list(path).length > 0) return { code: 0 }
    box.machine.files.remove(path)
    return {}
  },
  ln: ({ state, words: [target = '', path = ''] }) => {
    state.links.set(path, target)
    return {}
  },
  sysctl: ({ state, words: [pair = ''] }) => {
    const [key = '', value = ''] = pair.split('=')
    state.sysctl.set(key, value)
    return {}
  },
  modprobe: ({ state, words: [name = ''], argv }) => {
    if (argv.includes('-r')) state.modules.delete(name)
    else state.modules.add(name)
    return {}
  },
  hostname: ({ box, words: [name] }) => {
    if (name === undefined) return { out: `${box.computer.hostname()}\n` }
    box.machine.system.hostname = name
    return {}
  },
  sshd: ({ box, argv }) => {
    if (argv[1] !== '-T') return {}
    const lines = textAt(box, '/etc/ssh/sshd_config.d/00-croft.conf').split('\n')
    return {
      out: lines.map((line) => line.replace(/^\S+/, (name) => name.toLowerCase())).join('\n'),
    }
  },
  'apt-get': ({ box, state, argv }) => {
    if (box.trouble.noPackages === true) return { code: 100, err: 'E: Unable to fetch some archives' }
    const [name = '', version = '1.0-1'] = (argv.at(-1) ?? '').split('=')
    if (argv.includes('install')) {
      state.packages.set(name, version)
      // The package brings its unit, which runs from then on.
      if (name === 'prometheus-node-exporter')
        for (const units of [box.machine.active, box.machine.enabled]) units.add(name)
    }
    if (argv.includes('remove')) {
      state.packages.delete(name)
      for (const units of [box.machine.active, box.machine.enabled]) units.delete(name)
    }
    return {}
  },
  systemctl: ({ box, words: [verb = '', name = ''] }) => {
    const { active, enabled, files } = box.machine
    if (verb === 'daemon-reload') return {}
    const short = name.replace(/\.service$/, '')
    const known = active.has(short) || enabled.has(short) || files.read(`/etc/systemd/system/${name}`) !== undefined
    if (!known) return verb === 'try-restart' ? {} : { code: 5, err: `Unit ${name} not found.` }
    if (verb === 'enable') enabled.add(short)
    if (verb === 'disable') enabled.delete(short)
    if (verb === 'start' || verb === 'restart') active.add(short)
    if (verb === 'stop') active.delete(short)
    return {}
  },
}

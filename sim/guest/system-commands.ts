import { k3sCommand } from '../k3s/command-line.ts'
import { curl, k3sInstaller } from '../k3s/installer.ts'
import { restartService, startService, stopService } from '../k3s/service.ts'
import type { Computer } from '../world/types.ts'
import { BASIC_COMMANDS, type Command, type Commands, type Outcome, type Session } from './commands.ts'
import { FILE_COMMANDS } from './file-commands.ts'
import { who } from './logins.ts'
import { isBare } from './machine.ts'
import { journalctl, runOneshot } from './units.ts'

/** Programs that ask or change the system as a whole. */
const SYSTEM_COMMANDS: Readonly<Record<string, Command>> = {
  hostname: (_, { computer }) => ({ out: `${computer.hostname()}\n` }),
  hostnamectl: (_, { computer }) => ({ out: ` Static hostname: ${computer.hostname()}\n` }),
  uname: ({ args }) => ({
    out: args.includes('-r') ? '6.8.0-85-generic\n' : args.includes('-m') ? 'x86_64\n' : 'Linux\n',
  }),
  whoami: () => ({ out: 'root\n' }),
  id: ({ args }) => ({ out: args.includes('-u') ? '0\n' : 'uid=0(root) gid=0(root) groups=0(root)\n' }),
  date: (_, { nowMs }) => ({ out: `${new Date(nowMs).toISOString()}\n` }),
  sync: () => ({}),
  chmod: () => ({}),
  chown: () => ({}),
  ip: ({ args }, session) => {
    session.children += 1
    const [, object = '', verb = '', value = '', , card = ''] = args
    if (!/^a(ddr(ess)?)?$/.test(object) || verb !== 'add') return {}
    const before = session.machine.addresses.get(card) ?? []
    if (before.includes(value)) return { err: 'RTNETLINK answers: File exists\n', code: 2 }
    session.machine.addresses.set(card, [...before, value])
    return {}
  },
  curl,
  'k3s-installer': k3sInstaller,
  k3s: ({ args }, session) => k3sCommand(args, session),
  systemctl: ({ args }, session) => systemctl(args, session),
  who: (_, session) => who(session),
  journalctl: ({ args }, session) => journalctl(args, session),
  'cloud-init': ({ args }, { machine }) =>
    args[1] === 'status'
      ? { out: `status: ${machine.system.cloudInit === 'absent' ? 'disabled' : machine.system.cloudInit}\n` }
      : { err: 'usage: cloud-init status\n', code: 2 },
}

/** A unit is known when it runs, when it starts by itself, or when its file is there. */
function systemctl(args: readonly string[], session: Session): Outcome {
  const { computer } = session
  const units = computer.machine
  const words = args.slice(1).filter((arg) => !arg.startsWith('-'))
  const quiet = args.includes('--quiet') || args.includes('-q')
  const [verb = '', ...names] = words
  let [out, err, code] = ['', '', 0]
  if (verb === 'daemon-reload') return {}
  if (verb === 'poweroff') {
    computer.goDown?.()
    return {}
  }
  for (const name of names.flatMap((one) => unitsNamed(one, units.active))) {
    const known =
      units.active.has(name) ||
      units.enabled.has(name) ||
      units.files.read(`/etc/systemd/system/${name}.service`) !== undefined
    if (verb === 'is-active') {
      if (!quiet) out += `${units.active.has(name) ? 'active' : 'inactive'}\n`
      code = units.active.has(name) ? code : 3
    } else if (verb === 'is-enabled') {
      if (!quiet) out += `${units.enabled.has(name) ? 'enabled' : 'disabled'}\n`
      code = units.enabled.has(name) ? code : 1
    } else if (!known) {
      err += `Failed to ${verb} ${name}.service: Unit ${name}.service not found.\n`
      code = 5
    } else {
      const text = units.files.text(`/etc/systemd/system/${name}.service`) ?? ''
      if (verb === 'start' && runOneshot(name, text, session, ALL_COMMANDS)) continue
      change(verb, name, args.includes('--now'), computer)
    }
  }
  return { out, err, code }
}

/** A pattern means the active units that match it, which may be none. */
function unitsNamed(name: string, active: ReadonlySet<string>): readonly string[] {
  const short = name.replace(/\.service$/, '')
  const [before = '', after] = short.split('*')
  if (after === undefined) return [short]
  return [...active].filter((one) => one.startsWith(before) && one.endsWith(after))
}

function change(verb: string, name: string, now: boolean, computer: Computer): void {
  const { active, enabled } = computer.machine
  const starts = verb === 'start' || verb === 'restart' || verb === 'reload' || (verb === 'enable' && now)
  const stops = verb === 'stop' || (verb === 'disable' && now)
  if (verb === 'enable') enabled.add(name)
  if (verb === 'disable') enabled.delete(name)
  if (name === 'k3s' || name === 'k3s-agent') {
    if (verb === 'restart') restartService(computer)
    else if (starts) startService(computer)
    else if (stops) stopService(computer)
    return
  }
  if (starts) active.add(name)
  if (stops) active.delete(name)
}

export const ALL_COMMANDS: Commands = new Map(
  Object.entries({ ...BASIC_COMMANDS, ...FILE_COMMANDS, ...SYSTEM_COMMANDS }),
)

/** A system that is only a kernel and a shell has no services. */
const BARE_COMMANDS: Commands = new Map(
  [...ALL_COMMANDS].filter(([name]) => !/^(systemctl|cloud-init|hostnamectl)$/.test(name)),
)

export function commandsOf(guest: Parameters<typeof isBare>[0]): Commands {
  return isBare(guest) ? BARE_COMMANDS : ALL_COMMANDS
}

import { BASIC_COMMANDS, type Command, type Commands, type Outcome } from './commands.ts'
import { FILE_COMMANDS } from './file-commands.ts'
import { hostName, isBare } from './machine.ts'

/** Programs that ask or change the system as a whole. */
const SYSTEM_COMMANDS: Readonly<Record<string, Command>> = {
  hostname: (_, { guest }) => ({ out: `${hostName(guest)}\n` }),
  hostnamectl: (_, { guest }) => ({ out: ` Static hostname: ${hostName(guest)}\n` }),
  uname: ({ args }) => ({ out: args.includes('-r') ? '6.8.0-85-generic\n' : 'Linux\n' }),
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
  systemctl: ({ args }, { machine }) => systemctl(args, machine),
  'cloud-init': ({ args }, { guest }) =>
    args[1] === 'status'
      ? { out: `status: ${guest.inside === undefined ? 'disabled' : 'done'}\n` }
      : { err: 'usage: cloud-init status\n', code: 2 },
}

interface Units {
  readonly active: Set<string>
  readonly enabled: Set<string>
  readonly files: { read(path: string): Uint8Array | undefined }
}

/** A unit is known when it runs, when it starts by itself, or when its file is there. */
function systemctl(args: readonly string[], units: Units): Outcome {
  const words = args.slice(1).filter((arg) => !arg.startsWith('-'))
  const quiet = args.includes('--quiet') || args.includes('-q')
  const [verb = '', ...names] = words
  let [out, err, code] = ['', '', 0]
  if (verb === 'daemon-reload') return {}
  for (const name of names.map((one) => one.replace(/\.service$/, ''))) {
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
    } else change(verb, name, args.includes('--now'), units)
  }
  return { out, err, code }
}

function change(verb: string, name: string, now: boolean, units: Units): void {
  if (verb === 'start' || verb === 'restart' || verb === 'reload' || (verb === 'enable' && now)) units.active.add(name)
  if (verb === 'stop' || (verb === 'disable' && now)) units.active.delete(name)
  if (verb === 'enable') units.enabled.add(name)
  if (verb === 'disable') units.enabled.delete(name)
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

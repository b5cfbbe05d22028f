import type { Command } from './commands.ts'

/** Programs and parts of the shell that put a file where it belongs. Rights are not simulated. */
export const FILE_COMMANDS: Readonly<Record<string, Command>> = {
  set: () => ({}),
  umask: () => ({}),
  trap: () => ({}),
  base64: ({ args, input }) => {
    if (!args.includes('-d')) return { out: `${Buffer.from(input, 'latin1').toString('base64')}\n` }
    return { out: Buffer.from(input, 'base64').toString('latin1') }
  },
  cp: ({ args }, { machine }) => {
    const [from = '', to = ''] = args.slice(1).filter((arg) => !arg.startsWith('-'))
    const bytes = machine.files.read(from)
    if (bytes === undefined) return { err: `cp: cannot stat '${from}': No such file or directory\n`, code: 1 }
    machine.files.write(to, bytes)
    return {}
  },
  mv: ({ args }, { machine }) => {
    const [from = '', to = ''] = args.slice(1).filter((arg) => !arg.startsWith('-'))
    const bytes = machine.files.read(from)
    if (bytes === undefined) return { err: `mv: cannot stat '${from}': No such file or directory\n`, code: 1 }
    machine.files.remove(from)
    machine.files.write(to, bytes)
    return {}
  },
}

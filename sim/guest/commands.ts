import type { Computer, Machine } from '../world/types.ts'

export interface Io {
  /** The program's name first. */
  readonly args: readonly string[]
  readonly input: string
}

/** One run of a program and all that it starts. */
export interface Session {
  readonly computer: Computer
  readonly machine: Machine
  readonly pid: number
  readonly nowMs: number
  /** How long it takes, and how many child processes it starts. */
  tookMs: number
  children: number
  out: string
  err: string
  exit: number | undefined
  signal: number | undefined
}

export interface Outcome {
  readonly out?: string
  readonly err?: string
  readonly code?: number
}

export type Command = (io: Io, session: Session) => Outcome

/** Commands by program name, without the folder. */
export type Commands = ReadonlyMap<string, Command>

const CODE = (code: number): Outcome => ({ code })

/** Programs that look at text, files and numbers. Those that are part of a shell start no process of their own. */
export const BASIC_COMMANDS: Readonly<Record<string, Command>> = {
  true: () => CODE(0),
  false: () => CODE(1),
  ':': () => CODE(0),
  exit: ({ args }, session) => {
    session.exit = Number(args[1] ?? 0)
    return CODE(session.exit)
  },
  kill: ({ args }, session) => {
    const signal = Number(/^-(\d+)$/.exec(args[1] ?? '')?.[1] ?? 15)
    if (args.at(-1) === `${session.pid}`) session.signal = signal
    return CODE(0)
  },
  sleep: ({ args }, session) => {
    session.tookMs += 1000 * Number(args[1] ?? 0)
    return child(session)
  },
  echo: ({ args }) => {
    const bare = args[1] === '-n'
    return { out: args.slice(bare ? 2 : 1).join(' ') + (bare ? '' : '\n') }
  },
  printf: ({ args }) => {
    let next = 2
    return {
      out: (args[1] ?? '')
        .replace(/\\n/g, '\n')
        .replace(/\\t/g, '\t')
        .replace(/%[sd]/g, () => args[next++] ?? ''),
    }
  },
  '[': ({ args }) => test(args.slice(1, -1)),
  test: ({ args }) => test(args.slice(1)),
  cat: ({ args, input }, { machine }) => {
    const names = args.slice(1).filter((arg) => !arg.startsWith('-'))
    if (names.length === 0) return { out: input }
    return each(names, (name) => {
      const text = machine.files.text(name)
      if (text !== undefined) return { out: text }
      const why = machine.files.isFolder(name) ? 'Is a directory' : 'No such file or directory'
      return { err: `cat: ${name}: ${why}\n`, code: 1 }
    })
  },
  ls: ({ args }, { machine }) =>
    each(
      args.slice(1).filter((arg) => !arg.startsWith('-')),
      (name) => {
        if (machine.files.isFolder(name))
          return {
            out: machine.files
              .list(name)
              .map((one) => `${one}\n`)
              .join(''),
          }
        if (machine.files.read(name) !== undefined) return { out: `${name}\n` }
        return { err: `ls: cannot access '${name}': No such file or directory\n`, code: 2 }
      },
    ),
  mkdir: ({ args }, { machine }) =>
    each(
      args.slice(1).filter((arg) => !arg.startsWith('-')),
      (name) => {
        machine.files.makeFolder(name)
        return CODE(0)
      },
    ),
  touch: ({ args }, { machine }) =>
    each(args.slice(1), (name) => {
      if (machine.files.read(name) === undefined) machine.files.write(name, '')
      return CODE(0)
    }),
  rm: ({ args }, { machine }) => {
    const force = args.some((arg) => /^-\w*f/.test(arg))
    return each(
      args.slice(1).filter((arg) => !arg.startsWith('-')),
      (name) =>
        machine.files.remove(name) || force
          ? CODE(0)
          : { err: `rm: cannot remove '${name}': No such file or directory\n`, code: 1 },
    )
  },
  tee: ({ args, input }, { machine }) => {
    const append = args.includes('-a')
    for (const name of args.slice(1).filter((arg) => !arg.startsWith('-')))
      machine.files.write(name, (append ? (machine.files.text(name) ?? '') : '') + input)
    return { out: input }
  },
  grep: ({ args, input }, { machine }) => {
    const flags = args.filter((arg) => /^-\w+$/.test(arg)).join('')
    const [pattern = '', ...names] = args.slice(1).filter((arg) => !/^-\w+$/.test(arg))
    const text = names.length === 0 ? input : names.map((name) => machine.files.text(name) ?? '').join('')
    const wanted = flags.includes('F') ? (line: string) => line.includes(pattern) : matcher(pattern, flags)
    const lines = text.split('\n').filter((line) => line !== '' && wanted(line) !== flags.includes('v'))
    if (flags.includes('c')) return { out: `${lines.length}\n`, code: lines.length > 0 ? 0 : 1 }
    return { out: flags.includes('q') ? '' : lines.map((line) => `${line}\n`).join(''), code: lines.length > 0 ? 0 : 1 }
  },
  wc: ({ input }) => ({ out: `${input.split('\n').length - 1}\n` }),
  head: ({ args, input }) => ({ out: firstLines(input, Number(args.join(' ').match(/\d+/)?.[0] ?? 10)) }),
}

function matcher(pattern: string, flags: string): (line: string) => boolean {
  const expression = new RegExp(pattern, flags.includes('i') ? 'i' : '')
  return (line) => expression.test(line)
}

function firstLines(text: string, count: number): string {
  return text
    .split(/(?<=\n)/)
    .slice(0, count)
    .join('')
}

function child(session: Session): Outcome {
  session.children += 1
  return { code: 0 }
}

function each(names: readonly string[], deed: (name: string) => Outcome): Outcome {
  let [out, err, code] = ['', '', 0]
  for (const name of names) {
    const done = deed(name)
    out += done.out ?? ''
    err += done.err ?? ''
    code = done.code ?? code
  }
  return { out, err, code }
}

/** `-f path` and friends are answered by the files; here numbers and texts are compared. */
function test(args: readonly string[]): Outcome {
  const [a = '', how = '', b = ''] = args
  if (args.length === 2) return CODE((a === '-n') === (how !== '') ? 0 : 1)
  const numbers: Readonly<Record<string, boolean>> = {
    '-eq': Number(a) === Number(b),
    '-ne': Number(a) !== Number(b),
    '-lt': Number(a) < Number(b),
    '-le': Number(a) <= Number(b),
    '-gt': Number(a) > Number(b),
    '-ge': Number(a) >= Number(b),
    '=': a === b,
    '!=': a !== b,
  }
  return CODE(numbers[how] ? 0 : 1)
}

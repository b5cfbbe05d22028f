import { NODE_CHECK_MARK } from '../../src/k3s/node-check.ts'
import { NODE_PROGRAM } from '../../src/k3s/node-program.ts'
import { NODE_PROGRAM_TEXT } from '../../src/k3s/programs.ts'
import { programVersion } from '../k3s/disk.ts'
import type { Computer } from '../world/types.ts'
import type { Commands, Outcome, Session } from './commands.ts'
import { nodeCheck } from './node-check.ts'
import { nodeProgram } from './node-program.ts'
import { runScript } from './shell.ts'
import { ALL_COMMANDS } from './system-commands.ts'

export interface Ended {
  readonly out: string
  readonly err: string
  readonly exit: number | undefined
  readonly signal: number | undefined
  readonly tookMs: number
  readonly children: number
}

/** Runs a program to its end on a computer. Undefined: there is no such program. */
export function runProgram(
  computer: Computer,
  argv: readonly string[],
  input: string | undefined,
  pid = 0,
  commands: Commands = ALL_COMMANDS,
): Ended | undefined {
  const { machine, world } = computer
  const session: Session = {
    computer,
    machine,
    pid,
    nowMs: world.clock.now(),
    tookMs: 0,
    children: 0,
    out: '',
    err: '',
    exit: undefined,
    signal: undefined,
  }
  const path = argv[0] ?? ''
  const program = path.replace(/^.*\//, '')
  // What is set for a program changes nothing about what these do.
  if (program === 'env') {
    const first = argv.findIndex((word, at) => at > 0 && word !== '--' && !word.includes('='))
    return first < 0 ? session : runProgram(computer, argv.slice(first), input, pid, commands)
  }
  // The program of a node, sent with the question where it is not installed.
  if (program === 'sh' && argv[1] === '-s' && input === NODE_PROGRAM_TEXT) {
    return ended(session, nodeProgram(computer, argv.slice(argv.indexOf('--') + 1), ''))
  }
  if (program === 'sh' || program === 'bash') {
    const flag = argv.findIndex((arg) => /^-\w*c$/.test(arg))
    if (argv[flag + 1]?.startsWith(NODE_CHECK_MARK) === true)
      return ended(session, nodeCheck(computer, argv.slice(flag + 3)))
    const script = flag >= 0 ? (argv[flag + 1] ?? '') : (machine.files.text(argv[1] ?? '') ?? input ?? '')
    runScript(script, session, commands, input ?? '', flag >= 0 ? argv.slice(flag + 2) : argv.slice(1))
    return session
  }
  // K3s is K3s under any name.
  const isK3s = path.startsWith('/') && programVersion(machine.files, path) !== undefined
  const name = isK3s ? 'k3s' : program
  const run = path === NODE_PROGRAM ? nodeCommand(computer) : commands.get(name)
  if (run === undefined) return undefined
  return ended(session, run({ args: argv, input: input ?? '' }, session))
}

function ended(session: Session, { out = '', err = '', code = 0 }: Outcome): Session {
  session.out = out
  session.err = err
  session.exit = code
  return session
}

/** Returns the program if its file was installed. */
function nodeCommand(computer: Computer): ReturnType<Commands['get']> {
  if (computer.machine.files.read(NODE_PROGRAM) === undefined) return undefined
  return ({ args, input }) => nodeProgram(computer, args.slice(1), input)
}

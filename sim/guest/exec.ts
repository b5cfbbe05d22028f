import type { Guest, World } from '../world/types.ts'
import { computerOf } from './life.ts'
import { machineOf, takePid } from './machine.ts'
import { type Ended, runProgram } from './run-program.ts'
import { commandsOf } from './system-commands.ts'
import type { Process } from './types.ts'

/** More than this the agent does not fetch in one go. */
const MUCH_OUTPUT = 4096
/** After this the agent has long caught up, asked or not. */
const CAUGHT_UP_MS = 1000

const NOTHING: Ended = { out: '', err: '', exit: undefined, signal: undefined, tookMs: 0, children: 0 }

/** Starts a program and answers its process id. Undefined: there is no such program. */
export function startProgram(
  world: World,
  guest: Guest,
  words: readonly string[],
  input: string | undefined,
): number | undefined {
  // `env` starts what it is given, and says so itself when there is no such program.
  const byEnv = /(^|\/)env$/.test(words[0] ?? '')
  const argv = byEnv ? words.slice(words[1] === '--' ? 2 : 1) : words
  const machine = machineOf(world, guest)
  const commands = commandsOf(guest)
  const program = (argv[0] ?? '').replace(/^.*\//, '')
  const shell = program === 'sh' || program === 'bash'
  const pid = takePid(machine)
  takePid(machine)
  const ran = runProgram(computerOf(world, guest), argv, input, pid, commands)
  if (ran === undefined && !byEnv) return undefined
  const session = ran ?? { ...NOTHING, err: `env: '${argv[0]}': No such file or directory\n`, exit: 127 }
  // The last program of a script takes the place of the shell.
  const last = shell && /(^|[;&|]\s*)(\/\S*\/)?(ip|sleep)\s[^;&|]*$/.test(argv.at(-1) ?? '') ? 1 : 0
  for (let left = session.children - last; left > 0; left--) takePid(machine)
  // Where every time is cut short, what sleeps is seen at work once.
  const hurried = !world.statusDaemon && session.tookMs > 0
  const busy = input !== undefined || session.out.length > MUCH_OUTPUT || hurried
  machine.processes.set(pid, ended(hurried ? { ...session, tookMs: 0 } : session, world.clock.now(), busy))
  return pid
}

function ended(session: Ended, nowMs: number, busy: boolean): Process {
  const { out, err, signal } = session
  return {
    endsAtMs: nowMs + session.tookMs,
    busy,
    out,
    err,
    signal,
    exit: signal === undefined ? (session.exit ?? 0) : undefined,
  }
}

/** What became of a program. One that has ended is told of once and then forgotten. Undefined: no such process. */
export function programStatus(world: World, guest: Guest, pid: number): Record<string, unknown> | undefined {
  const machine = machineOf(world, guest)
  const process = machine.processes.get(pid)
  if (process === undefined) return undefined
  const nowMs = world.clock.now()
  const busy = process.busy && nowMs < process.endsAtMs + CAUGHT_UP_MS
  process.busy = false
  if (busy || process.endsAtMs > nowMs) return { exited: 0 }
  machine.processes.delete(pid)
  return {
    exited: 1,
    ...(process.signal === undefined ? { exitcode: process.exit } : { signal: process.signal }),
    ...(process.out === '' ? {} : { 'out-data': process.out, 'out-truncated': 0 }),
    ...(process.err === '' ? {} : { 'err-data': process.err, 'err-truncated': 0 }),
  }
}

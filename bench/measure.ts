import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** What a command used: all of its processes together, and the largest of them. */
export interface Usage {
  readonly cpuSeconds: number
  readonly rssMb: number
  readonly output: string
}

export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Anything else is an error of the benchmark. */
  readonly exitCode?: number
  /** Not a program of Node: bash tells the processor time of it and of all it started, nobody its memory. */
  readonly foreign?: true
}

const METER = join(import.meta.dirname, 'meter.cjs')

/** Runs a command once and reads what the meter inside its processes wrote. */
export async function measure(command: Command, scratch: string): Promise<Usage> {
  if (command.foreign === true) return measureForeign(command)
  const file = join(scratch, 'meter.jsonl')
  rmSync(file, { force: true })
  const output = await run({
    ...command,
    env: { ...command.env, NODE_OPTIONS: `--require ${METER}`, METER_FILE: file },
  })
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { cpuSeconds: number; rssMb: number })
  return {
    cpuSeconds: lines.reduce((sum, line) => sum + line.cpuSeconds, 0),
    rssMb: Math.max(...lines.map((line) => line.rssMb)),
    output,
  }
}

async function measureForeign({ program, args, ...rest }: Command): Promise<Usage> {
  const script = '"$@"; code=$?; times; exit $code'
  const output = await run({ ...rest, program: 'bash', args: ['-c', script, 'bash', program, ...args] })
  // Its last line is about the children: `0m1.234s 0m0.567s`.
  const [user = 0, system = 0] = (output.trim().split('\n').at(-1) ?? '').split(' ').map((text) => {
    const [, minutes = '0', seconds = '0'] = /^(\d+)m([\d.]+)s$/.exec(text) ?? []
    return Number(minutes) * 60 + Number(seconds)
  })
  return { cpuSeconds: user + system, rssMb: 0, output }
}

/** The least processor time of two runs: everything above it is what else the machine was doing. */
export function better(best: Usage | undefined, usage: Usage): Usage {
  if (best === undefined) return usage
  return {
    cpuSeconds: Math.min(best.cpuSeconds, usage.cpuSeconds),
    // Of memory the worst counts.
    rssMb: Math.max(best.rssMb, usage.rssMb),
    output: usage.output,
  }
}

/** Runs a command several times. */
export async function least(command: Command, scratch: string, runs: number): Promise<Usage> {
  let best = await measure(command, scratch)
  for (let i = 1; i < runs; i++) best = better(best, await measure(command, scratch))
  return best
}

/** Runs a command to its end and gives what it printed. */
export async function run(command: Command): Promise<string> {
  const chunks: string[] = []
  const child = spawn(command.program, command.args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...command.env },
  })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const output = chunks.join('')
  if (code !== (command.exitCode ?? 0)) {
    const shown = [command.program, ...command.args].join(' ')
    throw new Error(`${shown} ended with ${code}:\n${output.slice(-2_000)}`)
  }
  return output
}

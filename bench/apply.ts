import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lowerBoundMs } from './bound.ts'
import { installed } from './installed.ts'
import { approvedConnection, machine } from './machines.ts'
import { type Command, measure, type Usage } from './measure.ts'
import { SCENARIOS, type Scenario, scenarioOf } from './scenarios.ts'
import { scheduled } from './schedule.ts'
import { type Simulator, startDaemonSimulator } from './simulator.ts'
import { showTable } from './table.ts'
import { tofuCommands, tofuFrom } from './tofu.ts'

/**
 * What it costs to make, look at, change and destroy many stopped machines: `npm run bench:apply`, or with
 * `-- --sizes 100 --scenarios zfs,directory`. The installed program over real HTTPS, on a simulated daemon with three
 * workers and one lock for each storage. STORAGE BUSY is for how long the lock of the busiest storage was held, and
 * BOUND the least time that the daemon needs for these calls and disks: no program can be faster than that. With
 * CROFT_BENCH_TOFU (the program) and CROFT_BENCH_BPG (the directory of the provider) OpenTofu does the same beside it, on
 * a daemon of its own. First the same day in simulated time, which the load of this machine does not change.
 */
const { values: options } = parseArgs({
  options: {
    sizes: { type: 'string', default: '100,500' },
    scenarios: { type: 'string', default: Object.keys(SCENARIOS).join(',') },
  },
})
const sizes = options.sizes.split(',').map(Number)
if (!sizes.every((size) => size >= 1 && size <= 1000)) throw new Error('--sizes takes numbers from 1 to 1000')

const ROOT = join(import.meta.dirname, '..')
let CROFT = ''
const HEAD = [
  'SCENARIO',
  'MACHINES',
  'PROGRAM',
  'STEP',
  'CALLS',
  'PER MACHINE',
  'WALL',
  'STORAGE BUSY',
  'BOUND',
  'CPU',
  'PEAK RSS',
]

const SCHEDULE_HEAD = ['SCENARIO', 'MACHINES', 'STEP', 'CALLS', 'TOOK', 'BOUND', 'OF BOUND']

/** One step of a program's day. */
export interface BenchStep {
  readonly name: string
  readonly prepare?: () => void
  readonly command: Command
}

async function main(): Promise<void> {
  const rows: string[][] = []
  // Both programs as people install them.
  CROFT = await installed(join(scratch, 'built'))
  print(`In simulated time:\n${showTable(SCHEDULE_HEAD, await inSimulatedTime())}\n`)
  const tofu = tofuFrom(process.env)
  if (tofu === undefined) print('OpenTofu is not measured: CROFT_BENCH_TOFU and CROFT_BENCH_BPG name no programs.')
  for (const name of options.scenarios.split(',')) {
    const scenario = scenarioOf(name)
    for (const size of sizes.filter((one) => one <= scenario.most)) {
      rows.push(
        ...(await day(name, size, 'croft', (simulator, directory) =>
          croftCommands(size, scenario, simulator, directory),
        )),
      )
      if (tofu !== undefined)
        rows.push(
          ...(await day(name, size, 'OpenTofu', (simulator, directory) =>
            tofuCommands(tofu, size, scenario, simulator, directory),
          )),
        )
    }
  }
  print(showTable(HEAD, rows))
}

/** croft alone: how close its order of calls comes to what the daemon allows. */
async function inSimulatedTime(): Promise<string[][]> {
  const rows: string[][] = []
  for (const name of options.scenarios.split(',')) {
    const scenario = scenarioOf(name)
    for (const size of sizes.filter((one) => one <= scenario.most))
      for (const { name: step, calls, tookMs, boundMs } of await scheduled(size, scenario, 1)) {
        const share = `${((tookMs / boundMs) * 100).toFixed(0)} %`
        rows.push([name, String(size), step, String(calls), seconds(tookMs), seconds(boundMs), share])
      }
  }
  return rows
}

async function day(
  scenario: string,
  size: number,
  program: string,
  commands: (simulator: Simulator, directory: string) => readonly BenchStep[],
): Promise<string[][]> {
  const simulator = await startDaemonSimulator(ROOT, scenario)
  const directory = join(scratch, `${program}-${scenario.replace(' ', '-')}-${size}`)
  mkdirSync(directory)
  try {
    const rows: string[][] = []
    for (const { name, prepare, command } of commands(simulator, directory)) {
      prepare?.()
      await simulator.reset()
      const begun = performance.now()
      const usage: Usage = await measure(command, scratch)
      const wall = (performance.now() - begun) / 1000
      const stats = await simulator.stats()
      const busy = seconds(Math.max(0, ...Object.values(stats.storageBusyMs)))
      const bound = seconds(lowerBoundMs(stats, scenarioOf(scenario).timing))
      const { calls } = stats
      print(`${scenario} ${size} ${program} ${name}: ${calls} calls, ${wall.toFixed(1)} s, bound ${bound}`)
      rows.push([
        scenario,
        String(size),
        program,
        name,
        String(calls),
        (calls / size).toFixed(1),
        `${wall.toFixed(1)} s`,
        busy,
        bound,
        `${usage.cpuSeconds.toFixed(1)} s`,
        usage.rssMb === 0 ? '' : `${usage.rssMb.toFixed(0)} MB`,
      ])
    }
    return rows
  } finally {
    await simulator.stop()
  }
}

function croftCommands(
  size: number,
  scenario: Scenario,
  simulator: Simulator,
  directory: string,
): readonly BenchStep[] {
  const env = { HOME: join(directory, '.home'), XDG_CACHE_HOME: '', XDG_STATE_HOME: '', CROFT_STATE: '' }
  mkdirSync(env.HOME)
  const run = (args: readonly string[]): Command => ({
    program: CROFT,
    args: [...args.slice(0, 1), directory, ...args.slice(1)],
    env: { ...env, PROXMOX_TOKEN: simulator.token },
  })
  const machines = (memory: number | undefined) => () => {
    writeFileSync(join(directory, 'connection.yaml'), approvedConnection(simulator, size))
    for (let at = 0; at < size; at++) {
      const file = join(directory, `vm-${at}.yaml`)
      if (memory === undefined) rmSync(file)
      else writeFileSync(file, machine(at, memory, scenario))
    }
  }
  const apply = run(['apply', '--yes', '--progress', 'quiet'])
  return [
    { name: 'create', prepare: machines(512), command: apply },
    { name: 'no change', command: run(['plan']) },
    { name: 'memory of all', prepare: machines(1024), command: apply },
    { name: 'destroy', prepare: machines(undefined), command: apply },
  ]
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const scratch = mkdtempSync(join(tmpdir(), 'croft-bench-'))
try {
  await main()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

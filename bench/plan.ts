import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeEstate } from './estate.ts'
import { installed } from './installed.ts'
import { better, type Command, least, measure, run, type Usage } from './measure.ts'
import { type SimulatorStats, startSimulator } from './simulator.ts'
import { showTable } from './table.ts'

/**
 * What a plan of an estate without changes costs: `npm run bench`, or `npm run bench -- --runs 3 --sizes 100,1000`.
 * The real program, over real HTTPS, against the simulated datacentre in a process of its own. The figure is processor
 * time: the clock on the wall says more about the machine, and about the simulator, than about croft.
 */
const { values: options } = parseArgs({
  options: { sizes: { type: 'string', default: '100,1000,5000' }, runs: { type: 'string', default: '5' } },
})
const sizes = options.sizes.split(',').map(Number)
const runs = Number(options.runs)
if (!sizes.every((size) => size >= 1 && size <= 5000) || !(runs >= 1)) {
  throw new Error('--sizes takes numbers from 1 to 5000 with commas between them, --runs a number from 1 on')
}

/** What people install, not the sources: stripping types from a thousand files says nothing about croft. */
let CROFT = ''
/** What a connection reads at once unless it is declared otherwise; the floor does the same. */
const READS = 4
const TARGET = { machines: 1000, beyondStartSeconds: 0.6, timesFloor: 3, rssMb: 140, helpSeconds: 0.25 }

interface Row {
  readonly machines: number
  readonly cold: Usage
  readonly warm: Usage
  readonly floor: Usage
  readonly stats: SimulatorStats
  readonly floorStats: SimulatorStats
}

async function main(): Promise<void> {
  const home = { HOME: join(scratch, 'home'), XDG_CACHE_HOME: '', XDG_STATE_HOME: '', CROFT_STATE: '' }
  mkdirSync(home.HOME)
  CROFT = await installed(join(scratch, 'built'))
  const help: Command = { program: CROFT, args: ['--help'], env: home }
  // Once for the compile cache, which every run but the first has.
  await run(help)
  const start = await least(help, scratch, runs)
  const bare = await least({ program: process.execPath, args: ['-e', '0'] }, scratch, runs)
  print(`Processor time of all processes of a command, least of ${runs} runs, on ${cpus().length} cores.`)
  print(`Node ${process.version} alone ${seconds(bare.cpuSeconds)}, croft --help ${seconds(start.cpuSeconds)}.\n`)
  const rows: Row[] = []
  for (const machines of sizes) {
    print(`${machines} machines…`)
    rows.push(await measureSize(machines, home))
  }
  print('')
  print(
    showTable(
      HEAD,
      rows.map((row) => cells(row, start)),
    ),
  )
  print('')
  for (const line of judged(rows, start)) print(line)
}

async function measureSize(machines: number, home: Readonly<Record<string, string>>): Promise<Row> {
  const simulator = await startSimulator(CROFT, machines)
  try {
    const directory = join(scratch, `estate-${machines}`)
    writeEstate(directory, machines, simulator)
    const env = { ...home, PROXMOX_TOKEN: simulator.token }
    // The simulator's guests carry no mark yet: they are taken over first, as a person would.
    await run({ program: CROFT, args: ['apply', directory, '--yes', '--progress', 'quiet'], env })
    const plan: Command = { program: CROFT, args: ['plan', directory], env }
    const args = [join(import.meta.dirname, 'floor.ts'), simulator.endpoint, String(READS)]
    // With compiled code kept between runs, as croft has it.
    const code = { NODE_COMPILE_CACHE: join(scratch, 'floor-code') }
    const bare: Command = { program: process.execPath, args, env: { ...env, ...code } }
    // In turn, so that a busy moment of the machine does not fall on one of them alone.
    let row: Row | undefined
    for (let i = 0; i < runs; i++) {
      forgetJudged(home.HOME ?? '')
      const cold = await measure(plan, scratch)
      await simulator.reset()
      const warm = await measure(plan, scratch)
      const stats = await simulator.stats()
      await simulator.reset()
      const floor = await measure(bare, scratch)
      const floorStats = await simulator.stats()
      if (!warm.output.startsWith('No changes.'))
        throw new Error(`the plan is not empty:\n${warm.output.slice(0, 1_000)}`)
      row = {
        machines,
        cold: better(row?.cold, cold),
        warm: better(row?.warm, warm),
        floor: better(row?.floor, floor),
        stats,
        floorStats,
      }
    }
    if (row === undefined) throw new Error('nothing was run')
    return row
  } finally {
    await simulator.stop()
  }
}

/** What was read from the manifests in earlier runs; the compile cache stays. */
function forgetJudged(home: string): void {
  const cache = join(home, '.cache', 'croft')
  for (const name of readdirSync(cache)) if (name.startsWith('judged-')) rmSync(join(cache, name))
}

const HEAD = [
  'MACHINES',
  'CALLS',
  'WRITES',
  'MB READ',
  'COLD CPU',
  'WARM CPU',
  'BEYOND START',
  'PER MACHINE',
  'PEAK RSS COLD',
  'WARM',
  'FLOOR CALLS',
  'FLOOR CPU',
  'TIMES FLOOR',
]

function cells(row: Row, start: Usage): readonly string[] {
  const beyond = row.warm.cpuSeconds - start.cpuSeconds
  return [
    String(row.machines),
    String(row.stats.calls),
    String(row.stats.writes),
    (row.stats.bytes / 1e6).toFixed(2),
    seconds(row.cold.cpuSeconds),
    seconds(row.warm.cpuSeconds),
    seconds(beyond),
    `${((beyond / row.machines) * 1000).toFixed(2)} ms`,
    `${row.cold.rssMb.toFixed(0)} MB`,
    `${row.warm.rssMb.toFixed(0)} MB`,
    String(row.floorStats.calls),
    seconds(row.floor.cpuSeconds),
    (row.warm.cpuSeconds / row.floor.cpuSeconds).toFixed(2),
  ]
}

/** The aims, held against what was measured. Said, never enforced: another machine is another number. */
function judged(rows: readonly Row[], start: Usage): readonly string[] {
  const lines = [aim('croft --help', start.cpuSeconds, TARGET.helpSeconds, 's of CPU')]
  const row = rows.find(({ machines }) => machines === TARGET.machines)
  if (row === undefined) return lines
  const name = `plan of ${row.machines} machines`
  const { byPath } = row.stats
  const survey = Object.entries(byPath).reduce(
    (sum, [path, calls]) => sum + (path.includes('/cluster/') ? calls : 0),
    0,
  )
  return [
    ...lines,
    aim(`${name}, calls for existence and power`, survey, 2, 'calls'),
    aim(`${name}, other calls`, row.stats.calls - survey, row.machines, 'calls'),
    aim(`${name}, beyond start`, row.warm.cpuSeconds - start.cpuSeconds, TARGET.beyondStartSeconds, 's of CPU'),
    aim(
      `${name}, without the parse cache`,
      row.cold.cpuSeconds - start.cpuSeconds,
      TARGET.beyondStartSeconds,
      's of CPU',
    ),
    aim(`${name}, against the floor`, row.warm.cpuSeconds / row.floor.cpuSeconds, TARGET.timesFloor, 'times'),
    aim(`${name}, peak RSS`, Math.max(row.warm.rssMb, row.cold.rssMb), TARGET.rssMb, 'MB'),
  ]
}

function aim(what: string, measured: number, most: number, unit: string): string {
  const shown = Number.isInteger(measured) ? String(measured) : measured.toFixed(measured < 10 ? 2 : 0)
  return `${measured <= most ? 'reached' : 'MISSED '}  ${what}: ${shown}, at most ${most} ${unit}`
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`
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

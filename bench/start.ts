import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeEstate } from './estate.ts'
import { installed } from './installed.ts'
import { type Command, least, run } from './measure.ts'
import { startSimulator } from './simulator.ts'
import { showTable } from './table.ts'

/**
 * What short commands cost before they do anything: `npm run bench:start`. The same commands from the sources of a clone,
 * and from what is packed; started by the Node in PATH, and by the Node that the Debian package and the tarball bring.
 */
const RUNS = 8
const ROOT = dirname(import.meta.dirname)
const scratch = mkdtempSync(join(tmpdir(), 'croft-start-'))
const built = join(scratch, 'built')

async function main(): Promise<void> {
  const home = { HOME: join(scratch, 'home'), XDG_CACHE_HOME: '', XDG_STATE_HOME: '', CROFT_STATE: '' }
  mkdirSync(home.HOME)
  await installed(built)
  const simulator = await startSimulator(join(ROOT, 'bin', 'croft'), 5)
  try {
    const estate = join(scratch, 'estate')
    writeEstate(estate, 5, simulator)
    const env = { ...home, PROXMOX_TOKEN: simulator.token }
    await run({ program: join(ROOT, 'bin', 'croft'), args: ['apply', estate, '--yes', '--progress', 'quiet'], env })
    const rows: string[][] = []
    for (const [name, program, before] of [
      ['sources, Node in PATH', join(ROOT, 'bin', 'croft'), []],
      ['package, Node in PATH', join(built, 'bin', 'croft'), []],
      ['package, own Node', process.execPath, [join(built, 'bin', 'croft')]],
    ] as const) {
      const cpu = async (args: readonly string[]) => {
        const command: Command = { program, args: [...before, ...args], env }
        // Once for the compile cache, which every run but the first has.
        await run(command)
        return `${(await least(command, scratch, RUNS)).cpuSeconds.toFixed(2)} s`
      }
      rows.push([name, await cpu(['--help']), await cpu(['plan', estate])])
    }
    process.stdout.write(`Processor time of all processes, least of ${RUNS} runs, on ${cpus().length} cores.\n`)
    process.stdout.write(`${showTable(['STARTED FROM', '--HELP', 'PLAN OF 5 MACHINES'], rows)}\n`)
  } finally {
    await simulator.stop()
  }
}

try {
  await main()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

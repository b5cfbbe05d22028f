import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { installed } from './installed.ts'
import { cpuSeconds, residentMb } from './process-usage.ts'
import { showTable } from './table.ts'

/**
 * What replicas of `croft operator` cost: machines that Crossplane made, on many connections, taken over by three replicas.
 * npm run bench:operator; smaller: -- --sizes 500,1000 --connections 10 --replicas 3 --minutes 1 --changes 10.
 */
const option = (name: string, usual: string) => {
  const at = process.argv.indexOf(name)
  return at < 0 ? usual : (process.argv[at + 1] ?? usual)
}
const sizes = option('--sizes', '500,1000,2000').split(',').map(Number)
const connections = Number(option('--connections', '20'))
const replicas = Number(option('--replicas', '3'))
const minutes = Number(option('--minutes', '1'))
const changes = Number(option('--changes', '10'))
/** Where each replica leaves its CPU profile: `--profile DIRECTORY`. */
const profiles = process.argv.includes('--profile') ? option('--profile', '.') : undefined
/** Most that settling may take before the benchmark gives up. */
const PATIENCE_MS = 1_800_000
/** Longer than a shard rests before it confirms its first pass: that, too, is part of settling. */
const CALM_MS = 15_000
const LONG_CALM_MS = 60_000
const ROOT = join(import.meta.dirname, '..')

interface Replica {
  readonly child: ChildProcess
  /** Machines of which it has said that they are ready. */
  readonly ready: Set<string>
}

interface Totals {
  readonly proxmoxWrites: number
  readonly proxmoxCalls: number
  readonly written: Readonly<Record<string, number>>
}

const scratch = mkdtempSync(join(tmpdir(), 'croft-bench-operator-'))
try {
  const croft = process.argv.includes('--sources') ? join(ROOT, 'bin', 'croft') : await installed(scratch)
  const rows: string[][] = []
  for (const size of sizes) rows.push(await measured(size, croft))
  const head = [
    'machines',
    'settled after s',
    'CPU s most',
    'CPU s all',
    'RSS peak MB',
    'idle % most',
    'RSS idle MB',
    'change to act ms',
    'worst ms',
    'Proxmox calls',
    'Proxmox writes',
    'idle writes',
  ]
  process.stdout.write(`${showTable(head, rows)}\n`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function measured(size: number, croft: string): Promise<string[]> {
  const kubeconfig = join(scratch, `kubeconfig-${size}`)
  const simulator = spawn(
    process.execPath,
    [join(ROOT, 'bin', 'run'), join(ROOT, 'bench', 'operator-simulator.ts'), `${size}`, `${connections}`, kubeconfig],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: simulator.stdout })
  const running: Replica[] = []
  try {
    const { proxy } = (await nextLine(lines, simulator)) as { readonly proxy: string }
    const ask = async <T>(what: string): Promise<T> => {
      simulator.stdin.write(`${what}\n`)
      return (await nextLine(lines, simulator)) as T
    }
    const startMs = performance.now()
    for (let index = 0; index < replicas; index++) running.push(start(`replica-${index}`, kubeconfig, proxy, croft))
    const peaks = running.map(() => 0)
    const note = () => {
      for (const [index, { child }] of running.entries())
        peaks[index] = Math.max(peaks[index] ?? 0, residentMb(child.pid ?? 0))
    }
    const ready = () => running.reduce((sum, one) => sum + one.ready.size, 0)
    // What it still has to write down and to tell belongs to settling. A shard that moves in the middle is told of by nobody
    // once more: then a longer calm says that all is done.
    let [before, calmMs] = ['', performance.now()]
    const calmFor = () => performance.now() - calmMs
    while (calmFor() < CALM_MS || (ready() < size && (ready() === 0 || calmFor() < LONG_CALM_MS))) {
      if (performance.now() - startMs > PATIENCE_MS) throw new Error(`${ready()} of ${size} machines were looked at`)
      await sleep(500)
      note()
      const { written } = await ask<Totals>('stats')
      const now = JSON.stringify([withoutLeases(written), ready()])
      if (now === before) continue
      before = now
      calmMs = performance.now()
    }
    const settledMs = calmMs
    if (ready() < size) process.stderr.write(`Of ${size} machines ${ready()} were told of: some shards moved.\n`)
    const settling = running.map(({ child }) => cpuSeconds(child.pid ?? 0))
    const from = await ask<Totals>('stats')
    const idleMs = performance.now()
    while (performance.now() - idleMs < minutes * 60_000) {
      await sleep(1_000)
      note()
    }
    const seconds = (performance.now() - idleMs) / 1000
    const idle = running.map(({ child }, index) => (cpuSeconds(child.pid ?? 0) - (settling[index] ?? 0)) / seconds)
    const to = await ask<Totals>('stats')
    const resident = running.map(({ child }) => residentMb(child.pid ?? 0))
    const took: number[] = []
    for (let index = 0; index < changes; index++) {
      took.push((await ask<{ readonly ms: number }>('change')).ms)
      await sleep(500)
    }
    took.sort((a, b) => a - b)
    return [
      `${size}`,
      ((settledMs - startMs) / 1000).toFixed(0),
      Math.max(...settling).toFixed(1),
      settling.reduce((sum, one) => sum + one, 0).toFixed(1),
      Math.max(...peaks).toFixed(0),
      (Math.max(...idle) * 100).toFixed(2),
      Math.max(...resident).toFixed(0),
      (took[Math.floor(took.length / 2)] ?? Number.NaN).toFixed(0),
      (took.at(-1) ?? Number.NaN).toFixed(0),
      `${from.proxmoxCalls}`,
      `${from.proxmoxWrites}`,
      `${sum(withoutLeases(to.written)) - sum(withoutLeases(from.written))}`,
    ]
  } finally {
    for (const { child } of running) {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    }
    const ended = once(simulator, 'exit')
    simulator.stdin.end()
    await ended
  }
}

function start(name: string, kubeconfig: string, proxy: string, croft: string): Replica {
  const words = ['operator', '--kubeconfig', kubeconfig, '--namespace', 'croft-system', '--name', name]
  const env = { ...process.env, HOME: scratch, XDG_STATE_HOME: join(scratch, name), HTTPS_PROXY: proxy }
  const profile = profiles === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profiles]
  const child = spawn(process.execPath, [...profile, croft, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ready = new Set<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    const machine = /EnvironmentVM\/(\S+) Ready/.exec(line)?.[1]
    if (machine !== undefined) ready.add(machine)
  })
  return { child, ready }
}

async function nextLine(lines: Interface, child: ChildProcess): Promise<unknown> {
  const over = new AbortController()
  try {
    const [line] = (await Promise.race([
      once(lines, 'line', { signal: over.signal }),
      once(child, 'exit', { signal: over.signal }).then(() => {
        throw new Error('the simulator ended')
      }),
    ])) as [string]
    return JSON.parse(line)
  } finally {
    over.abort()
  }
}

function withoutLeases(written: Totals['written']): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(written).filter(([resource]) => !resource.endsWith('leases')))
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, one) => all + one, 0)
}

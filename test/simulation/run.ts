import { createHash } from 'node:crypto'
import { createDatacentre, type Datacentre } from '../../sim/datacentre.ts'
import { createVirtualClock, type VirtualClock } from '../../sim/virtual-clock.ts'
import { simWire } from '../../sim/wire.ts'
import type { PassReport } from '../../src/engine/engine.ts'
import { seededRandom } from '../../src/lib/random.ts'
import type { Estate } from '../../src/model/estate.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import {
  type ClusterWays,
  type Process,
  type ProcessOptions,
  type Sabotage,
  type Strike,
  startProcess,
} from './process.ts'

const START_MS = 1_760_000_000_000
/** No run takes longer than this in simulated time; one that does is stuck. */
const LONGEST_MS = 6 * 3_600_000

export interface SimulationOptions {
  readonly seed: number
  readonly estate: Estate
  /** Speeds: quick unless a test is about slowness. */
  readonly timing?: Parameters<typeof createDatacentre>[0]['timing']
  readonly sabotage?: Sabotage
  /** Instead of the store in memory. */
  readonly openStore?: ProcessOptions['openStore']
  /** Which simulated datacentre to begin with. */
  readonly preset?: 'homelab' | 'hosts' | 'empty'
  /** Further connections, each to a separate datacentre. */
  readonly sites?: readonly string[]
  /** Makes the ways to clusters in the simulated world; they outlive every process. */
  readonly clusters?: (datacentre: Datacentre) => ClusterWays
}

/** One run of the whole: a datacentre, a store, and controllers that come and go on it, all under one seed. */
export interface Simulation {
  readonly clock: VirtualClock
  readonly datacentre: Datacentre
  /** The datacentres of further connections, by name. */
  readonly sites: ReadonlyMap<string, Datacentre>
  /** The store's data. Replace it to lose it. */
  disk: MemoryDisk
  estate: Estate
  /** Passes that wrote, or in which nothing was under way: waiting for a slow disk is not reconciling. */
  reconciles: number
  effects: number
  /** Starts a controller; `crashAt` kills it at that effect point. */
  start(options?: {
    readonly crashAt?: number
    readonly pauseAt?: number
    /** How wrong the controller's wall clock is; durations and timers stay right. */
    readonly wallOffMs?: () => number
    readonly strike?: Strike
    /** As `croft apply` does: what stalled gets another try. */
    readonly retryStalled?: boolean
  }): Process
  /** Lets it run until the estate is settled or it is killed. */
  untilSettled(
    process: Process,
    options?: { readonly mostMs?: number; readonly onPass?: (report: PassReport) => void; readonly givesUp?: true },
  ): Promise<'settled' | 'killed' | 'deadline'>
  passes(process: Process, count: number): Promise<readonly PassReport[]>
  /** Everything that went over the wire and was remembered, as one hash: same seed, same hash. */
  trace(): string
  readonly requests: string[]
}

const QUICK = {
  callMs: [1, 8],
  allocateMs: [50, 200],
  importBytesPerSecond: 4_000_000_000,
  downloadBytesPerSecond: 4_000_000_000,
  startMs: [100, 400],
  bootMs: [2_000, 6_000],
  shutdownMs: [500, 2_000],
} as const

export function simulate(options: SimulationOptions): Simulation {
  const clock = createVirtualClock(START_MS)
  // The same seed gives each the same token.
  const build = () =>
    createDatacentre({
      clock,
      random: seededRandom(options.seed),
      preset: options.preset ?? 'homelab',
      timing: { ...QUICK, ...options.timing },
    })
  const datacentre = build()
  const sites = new Map((options.sites ?? []).map((name) => [name, build()]))
  const random = seededRandom(options.seed ^ 0x5bd1e995)
  const hash = createHash('sha256')
  const requests: string[] = []
  const clusters = options.clusters?.(datacentre)

  const simulation: Simulation = {
    clock,
    datacentre,
    sites,
    disk: createMemoryStore().disk,
    estate: options.estate,
    reconciles: 0,
    effects: 0,
    requests,
    start: ({ crashAt, pauseAt, wallOffMs, strike, retryStalled } = {}) =>
      startProcess({
        clock: wallOffMs === undefined ? clock : { ...clock, now: () => clock.now() + wallOffMs() },
        random,
        disk: simulation.disk,
        wire: simWire(datacentre),
        wires: new Map([...sites].map(([name, site]) => [name, simWire(site)])),
        token: datacentre.token,
        onRequest: (request) => {
          const line = `${clock.now()} ${request.method} ${request.path} ${String(request.body ?? '')}`
          hash.update(line)
          if (request.method !== 'GET') requests.push(line)
        },
        ...(clusters === undefined ? {} : { clusters }),
        ...(options.openStore === undefined ? {} : { openStore: options.openStore }),
        ...(crashAt === undefined ? {} : { crashAt }),
        ...(pauseAt === undefined ? {} : { pauseAt }),
        ...(strike === undefined ? {} : { strike }),
        ...(retryStalled === undefined ? {} : { retryStalled }),
        ...(options.sabotage === undefined ? {} : { sabotage: options.sabotage }),
      }),
    async untilSettled(process, { mostMs = LONGEST_MS, onPass, givesUp } = {}) {
      const stop = new AbortController()
      const work = process.engine.settle(simulation.estate, {
        signal: stop.signal,
        deadlineMs: mostMs,
        ...(givesUp === undefined ? {} : { givesUp }),
        onPass: (report) => {
          note(report)
          onPass?.(report)
        },
      })
      const outcome = await clock.runUntil(Promise.race([work, process.death]), { maxMs: mostMs + 600_000 })
      if ('killed' in outcome) return 'killed'
      return outcome.outcome === 'settled' ? 'settled' : 'deadline'
    },
    async passes(process, count) {
      const reports: PassReport[] = []
      const signal = new AbortController().signal
      for (let i = 0; i < count; i++) {
        const report = await clock.runUntil(process.engine.pass(simulation.estate, signal), { maxMs: LONGEST_MS })
        note(report)
        reports.push(report)
        await clock.advanceTo(clock.now() + report.lookAgainMs)
      }
      return reports
    },
    trace: () =>
      hash.copy().update(JSON.stringify(datacentre.state())).update(storedText(simulation.disk)).digest('hex'),
  }

  const note = (report: PassReport) => {
    simulation.effects += report.effects
    const waiting = report.plan.entries.some((entry) => entry.action.do === 'wait')
    if (report.effects > 0 || !waiting) simulation.reconciles++
  }
  return simulation
}

/** Everything the store holds, as text: what a thief of the disk would read. */
export function storedText(disk: MemoryDisk): string {
  return JSON.stringify({
    epoch: disk.epoch,
    records: [...disk.records.values()],
    intentions: [...disk.intentions.values()],
    values: [...disk.values],
    events: disk.events,
  })
}

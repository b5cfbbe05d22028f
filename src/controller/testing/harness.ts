import { createDatacentre, type Datacentre } from '../../../sim/datacentre.ts'
import { createVirtualClock, type VirtualClock } from '../../../sim/virtual-clock.ts'
import { simWire } from '../../../sim/wire.ts'
import { filesOf, type Wanted } from '../../../test/simulation/manifests.ts'
import type { Driver } from '../../drivers/port.ts'
import { proxmoxDriver } from '../../drivers/proxmox/driver.ts'
import { createEngine } from '../../engine/create.ts'
import type { Engine } from '../../engine/engine.ts'
import { findKind } from '../../kinds/registry.ts'
import { seededRandom } from '../../lib/random.ts'
import type { CroftEvent } from '../../model/record.ts'
import { Secret } from '../../model/secret.ts'
import { linking } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import { factsOf, judgeRevision, type RevisionFacts } from '../../source/git/follow.ts'
import type { RepositoryFollower } from '../../source/git/repository.ts'
import { createMemoryStore, type MemoryDisk } from '../../store/memory.ts'
import type { Store } from '../../store/port.ts'
import { type ControllerOptions, createController, type RunningController } from '../controller.ts'

export const START_MS = 1_760_000_000_000

/** A controller on a simulated datacentre in virtual time, with a source that a test pushes to. */
export interface Harness {
  readonly clock: VirtualClock
  readonly datacentre: Datacentre
  readonly store: Store
  readonly disk: MemoryDisk
  readonly controller: RunningController
  /** Its methods may be replaced to observe calls. */
  readonly engine: { -readonly [K in keyof Engine]: Engine[K] }
  readonly heard: CroftEvent[]
  /** Calls that changed something, with the moment. */
  readonly writes: { readonly atMs: number; readonly line: string }[]
  /** Reads and writes since the last call of this. */
  calls(): number
  push(files: Readonly<Record<string, string>>, commit?: string): void
  /** Reports whether the controller runs. False after an error that must stop it. */
  alive(): boolean
  /** Lets virtual time pass. */
  pass(ms: number): Promise<void>
  /** Lets time pass until this holds. */
  until(holds: () => boolean, maxMs?: number): Promise<void>
  stop(): Promise<void>
}

export interface HarnessOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly machines?: readonly Wanted[]
  readonly pollMs?: number
  readonly keepGoing?: boolean
  readonly manual?: boolean
  /** The commit that the branch is at in the beginning. */
  readonly commit?: string
  readonly disk?: MemoryDisk
  readonly options?: Partial<ControllerOptions> | ((clock: VirtualClock) => Partial<ControllerOptions>)
  readonly seed?: number
  readonly wrap?: (store: Store) => Store
  readonly driver?: Driver
  /** Error of the wall clock on the controller's computer. */
  readonly wallOffMs?: () => number
  /** An existing world, in which an earlier controller has worked. */
  readonly on?: Pick<Harness, 'clock' | 'datacentre'>
}

export async function startHarness(given: HarnessOptions = {}): Promise<Harness> {
  const clock = given.on?.clock ?? createVirtualClock(START_MS)
  const seed = given.seed ?? 1
  const datacentre =
    given.on?.datacentre ??
    createDatacentre({
      clock,
      random: seededRandom(seed),
      preset: 'homelab',
      timing: {
        callMs: [1, 8],
        allocateMs: [50, 200],
        importBytesPerSecond: 4_000_000_000,
        downloadBytesPerSecond: 4_000_000_000,
        startMs: [100, 400],
        bootMs: [2_000, 6_000],
        shutdownMs: [500, 2_000],
      },
    })
  const memory = createMemoryStore(given.disk)
  const store = given.wrap?.(memory) ?? memory
  const writes: { atMs: number; line: string }[] = []
  let calls = 0
  const wire = simWire(datacentre)
  const random = seededRandom(seed ^ 0x5bd1e995)
  const epoch = await store.beginEpoch()
  const { wallOffMs } = given
  const own = wallOffMs === undefined ? clock : { ...clock, now: () => clock.now() + wallOffMs() }
  const engine = createEngine({
    clock: own,
    random,
    store,
    epoch,
    drivers: [given.driver ?? proxmoxDriver],
    driverDeps: {
      clock: own,
      random,
      openWire: () => ({
        send(request, signal) {
          calls++
          if (request.method !== 'GET') writes.push({ atMs: clock.now(), line: `${request.method} ${request.path}` })
          return wire.send(request, signal)
        },
        close: () => wire.close(),
      }),
      resolveSecret: async () => new Secret(datacentre.token),
    },
  })
  let pushed = given.files ?? (given.machines === undefined ? {} : filesOf(given.machines))
  let commit: string | undefined = given.commit ?? 'c'.repeat(40)
  const source = inMemory(() => ({ files: pushed, commit }))
  const controller = await createController({
    clock: own,
    store,
    epoch,
    engine,
    sources: [
      {
        name: 'main',
        remote: 'memory',
        ref: 'main',
        pollMs: given.pollMs ?? 60_000,
        keepGoing: given.keepGoing === true,
        manual: given.manual === true,
        open: () => source,
      },
    ],
    link: (revision) => linking(revision, { findKind, problemAt: revision.problemAt }),
    ...(typeof given.options === 'function' ? given.options(clock) : given.options),
  })
  const heard: CroftEvent[] = []
  controller.subscribe((_view, events) => void heard.push(...events))
  const stop = new AbortController()
  const running = controller.run(stop.signal)
  let ended = false
  void running
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  return {
    clock,
    datacentre,
    store,
    disk: memory.disk,
    controller,
    engine,
    heard,
    writes,
    calls() {
      const made = calls
      calls = 0
      return made
    },
    push(files, next = `${Object.keys(files).length}${Math.floor(clock.now())}`.padStart(40, 'd')) {
      pushed = files
      commit = next
    },
    alive: () => !ended,
    pass: (ms) => clock.advanceTo(clock.now() + ms),
    until: (holds, maxMs = 600_000) => clock.runUntil(holds, { maxMs }),
    async stop() {
      stop.abort()
      await clock.runUntil(running)
    },
  }
}

/** A repository in memory, judged as a real one is. */
export function inMemory(
  now: () => { readonly files: Readonly<Record<string, string>>; readonly commit: string | undefined },
): RepositoryFollower {
  let lastGood: RevisionFacts | undefined
  const encoder = new TextEncoder()
  return {
    async look() {
      const { files, commit } = now()
      const revision = readFiles({
        files: Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) })),
        links: [],
        ...(commit === undefined ? {} : { commit }),
      })
      const facts = factsOf(revision)
      if (facts.id === lastGood?.id) return { is: 'same' }
      const judged = judgeRevision(lastGood, { saw: 'revision', revision: facts })
      if (judged.follow !== 'new')
        return { is: 'kept', reason: judged.reason, message: judged.message, problems: revision.problems }
      lastGood = facts
      return {
        is: 'new',
        revision,
        facts: { commit: revision.id, subject: 'a change', author: 'anna', committedMs: 0 },
      }
    },
  }
}

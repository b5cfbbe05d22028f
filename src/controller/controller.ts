import { createHash } from 'node:crypto'
import type { Engine, PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { causeOf, FAILED, isFinal } from '../lib/failed-on.ts'
import { atOnce, inTurns, type Steps, turnsOf } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Problem } from '../model/declaration.ts'
import { changedEstate, type Estate } from '../model/estate.ts'
import type { EstateView } from '../model/estate-view.ts'
import { maskEvent } from '../model/masked/masked-event.ts'
import type { CroftEvent, NewEvent } from '../model/record.ts'
import type { Workloads } from '../model/workload.ts'
import type { Actor, Consoles, Controller, Granted, Kubeconfigs, Wish } from '../server/port.ts'
import type { Revision } from '../source/git/revision.ts'
import { type Store, watched } from '../store/port.ts'
import { createBackground } from './background.ts'
import type { Checks } from './checks/checks.ts'
import type { KeptHistory } from './history/history.ts'
import type { Notifier, NotifierMemory } from './notices/notifier.ts'
import type { Previews } from './previews/previews.ts'
import { type ResourceCount, restAfter, sweepReads } from './rest.ts'
import { type InForce, merging } from './sources/merge.ts'
import { inForceOf, keptProblems, type Source, type SourceState, sourceView } from './sources/source-state.ts'
import { openSourceStates } from './sources/sources.ts'
import { changeOfCommit, commitDiff } from './view/commit-diff.ts'
import { driftsOf } from './view/drifts.ts'
import { createReading } from './view/reading.ts'
import { viewOf } from './view/view.ts'
import { createWaker } from './waker.ts'
import { createAsking } from './wishes/ask.ts'
import { createManualApply, type ManualApplyDeps } from './wishes/manual-apply.ts'
import { type ActiveWishes, currentWishes, opened, readWishes, withWishes } from './wishes/wishes.ts'
import { createWorkQueue } from './work-queue.ts'

/** What a rest follows: effects, or looks without changes. */
export type Calm = 'work' | 'looks'

export interface ControllerOptions {
  readonly clock: Clock
  readonly store: Store
  /** The epoch that this process holds on the store; the engine shares it. */
  readonly epoch: number
  readonly engine: Engine
  readonly sources: readonly Source[]
  link(revision: Revision): Steps<Estate>
  /** Checks that all inputs of the estate are available (its secrets), before anything is written. */
  prepare?(estate: Estate, revision: Revision): Promise<Estate>
  /** Resources of the process's other controllers: the more there are, the longer the interval between looks. */
  otherResources?(): number
  /** From 0 to 1, different for each controller of a process, so that they look at different moments. */
  readonly phase?: number
  /** The plan of a commit that waits for a person. A source with `apply: manual` needs it. */
  planWaiting?: ManualApplyDeps['plan']
  /** Reports secrets that have changed behind their references, at every look at the sources. Undefined: none. */
  refresh?(estate: Estate): Promise<Estate | undefined>
  /** Makes Git agree with the world: a commit on a branch, or why not. */
  adopt?(wish: Extract<Wish, { readonly wish: 'adopt-drift' }>, state: AdoptState): Promise<Granted>
  /** Takes requests for clusters and Powers. */
  request?(wish: Extract<Wish, { readonly wish: 'cluster' | 'power' }>, actor: Actor): Promise<Granted>
  /** Health checks that run in parallel with the passes. */
  checks?: Checks
  /** Plans for pull requests, written between passes. */
  previews?: Previews
  /** Tells people of trouble. */
  notifier?(memory: NotifierMemory): Notifier
  /** History over days. */
  history?: KeptHistory
  /** The workloads of clusters, for lookups. */
  workloads?: Workloads
  /** Access to a cluster for a person, where croft holds its CA. */
  kubeconfigs?: Kubeconfigs
  /** Serial consoles of machines. */
  consoles?: Consoles
  /** Called when all work is done, or nothing was found for a while: a moment to free memory. */
  onCalm?(after: Calm): void
  /** There is no page: make no view, and call listeners for events alone. */
  readonly headless?: true
}

/** The state that adopting a drift needs. */
export interface AdoptState {
  readonly view: EstateView
  readonly report: PassReport
  readonly revision: Revision
  readonly sources: readonly SourceState[]
}

/** Numbers for the metrics. They only ever grow. */
export interface Counters {
  passes: number
  effects: number
  passMs: number
  sourceLooks: number
  sourceTroubles: number
  pokes: number
}

export interface RunningController extends Controller {
  /** Runs the loop until the signal. Rejects if it must stop: another controller, a full disk. */
  run(signal: AbortSignal): Promise<void>
  counters(): Readonly<Counters>
  /** Runs work that must not overlap with a pass. Rejects if the controller stops first. */
  betweenPasses<T>(work: () => Promise<T>): Promise<T>
  /** The input and the observations of the last pass. Undefined before the first one. */
  seen(): { readonly estate: Estate; readonly revision: Revision; readonly report: PassReport } | undefined
}

/** Revisions together, linked as they would be once followed. */
interface Tried {
  readonly parts: readonly InForce[]
  readonly revision: Revision
  readonly linked: Estate
}

const WISHES = 'controller/wishes'
const NOTIFIED = 'controller/told'

/** Creates the controller: one loop that wakes by a push, a poll or a timer, makes a pass, and publishes the result. */
export async function createController(options: ControllerOptions): Promise<RunningController> {
  const { clock, epoch, engine } = options
  const store = watched(options.store)
  const waker = createWaker(clock)
  const others = createWorkQueue(() => waker.wake())
  const counters: Counters = { passes: 0, effects: 0, passMs: 0, sourceLooks: 0, sourceTroubles: 0, pokes: 0 }
  const listeners = new Set<(view: EstateView, events: readonly CroftEvent[]) => void>()
  let lastSeq = (await store.events({ limit: 1 })).at(-1)?.seq ?? 0
  /** The newest written event; the next view shows it. */
  let newestSeq = lastSeq

  const tell = async (events: readonly NewEvent[]): Promise<void> => {
    const written = await store.appendEvents(epoch, events)
    newestSeq = written.at(-1)?.seq ?? newestSeq
  }

  const followed = await openSourceStates({ clock, store, epoch, sources: options.sources, counters, tell })
  const sources = followed.states
  let revision: Revision | undefined
  let estate: Estate | undefined
  /** The linked estate, without additions that are not in Git. */
  let declared: Estate | undefined
  let report: PassReport | undefined
  /** The last report in the history: each report counts once, however often the loop wakes. */
  let notedReport: PassReport | undefined
  let pass: EstateView['pass']
  /** Due times use the monotonic clock: setting the wall clock must not stop or race the loop. */
  let passDueMs = Number.POSITIVE_INFINITY
  let alive = false
  let calmMs = 0
  let incomplete = false
  /** Set if the current estate could not be prepared yet. */
  let unprepared = false
  let shownText = ''
  /** Parts of the loop that failed the last time, and why. */
  const failures = new Map<string, Problem>()
  let view: EstateView = {
    ...atOnce(viewOf({ sources: sources.map(sourceView), drifts: [], checks: [] })),
    version: 0,
    atMs: clock.now(),
  }
  let wishes: ActiveWishes = readWishes(await store.getValue(WISHES))
  const notifier = options.notifier?.({
    remembered: await store.getValue(NOTIFIED),
    save: (text) => store.keepValue(epoch, NOTIFIED, text),
  })

  /** Publishes the view to listeners. If nothing changed, calls none and keeps the version. */
  const publish = async (): Promise<void> => {
    const fresh = lastSeq === newestSeq ? [] : (await store.events({ afterSeq: lastSeq })).map(maskEvent)
    lastSeq = fresh.at(-1)?.seq ?? lastSeq
    newestSeq = lastSeq
    if (options.headless === true) {
      if (fresh.length > 0) for (const listener of listeners) listener(view, fresh)
      return
    }
    const turns = turnsOf(clock)
    const next = await turns.perform(
      viewOf({
        sources: sources.map(sourceView),
        kept: [...failures.values(), ...keptProblems(sources)],
        drifts: report === undefined ? [] : driftsOf(report),
        checks: options.checks?.views() ?? [],
        commits: followed.commits(),
        nowMs: clock.now(),
        ...(estate === undefined ? {} : { estate: effective(estate) }),
        ...(report === undefined ? {} : { report }),
      }),
    )
    const text = await turns.perform(printOf(next))
    if (text === shownText && fresh.length === 0) {
      view = { ...view, ...(pass === undefined ? {} : { pass }) }
      return
    }
    shownText = text
    view = { ...next, ...(pass === undefined ? {} : { pass }), version: view.version + 1, atMs: clock.now() }
    for (const listener of listeners) listener(view, fresh)
  }

  const effective = (given: Estate): Estate => {
    return withWishes(withUnread(given, sources), wishes, clock.now())
  }

  const keepWishes = async (next: ActiveWishes): Promise<void> => {
    if (next === wishes) return
    wishes = next
    await store.putValue(epoch, WISHES, JSON.stringify(next))
  }

  const tryOut = async (parts: readonly InForce[]): Promise<Tried> => {
    const merged = await inTurns(merging(parts), clock)
    return { parts, revision: merged, linked: await inTurns(options.link(merged), clock) }
  }

  const { planWaiting } = options
  const manual =
    planWaiting === undefined
      ? undefined
      : createManualApply({
          clock,
          states: sources,
          tryOut,
          plan: planWaiting,
          approve: (name, commit) => followed.approve(name, commit),
          tell,
        })

  const lookAtSources = async (signal: AbortSignal): Promise<void> => {
    await enforceSources(signal)
    // A commit without changes, or approved in Git, is followed at once.
    if (!signal.aborted && (await manual?.look(signal)) === true) await enforceSources(signal)
  }

  const enforceSources = async (signal: AbortSignal): Promise<void> => {
    const tried: Tried[] = []
    const changed = await followed.look(signal, async (parts) => {
      const made = await tryOut(inOrderOf(sources, parts))
      tried.push(made)
      return made.linked.problems.filter(({ severity }) => severity === 'error')
    })
    if (changed === undefined && !unprepared) return
    if (changed !== true && !incomplete && !unprepared) {
      const fresh = declared === undefined ? undefined : await options.refresh?.(declared)
      if (fresh === undefined) return
      estate = fresh
      passDueMs = clock.monotonicMs()
      return
    }
    unprepared = true
    const now = inForceOf(sources)
    const made = tried.find(({ parts }) => sameRevisions(parts, now)) ?? (await tryOut(now))
    const { linked } = made
    revision = made.revision
    const prepared = (await options.prepare?.(linked, revision)) ?? linked
    // Retry missing inputs at the next look, without waiting for a commit.
    const stillIncomplete = prepared.problems.length > linked.problems.length
    const still = incomplete && stillIncomplete && changed !== true
    incomplete = stillIncomplete
    unprepared = false
    if (still) return
    declared = linked
    estate = prepared
    passDueMs = clock.monotonicMs()
  }

  const load = ({ resources: { length: own } }: Estate): ResourceCount => ({
    own,
    all: own + (options.otherResources?.() ?? 0),
  })

  const makePass = async (signal: AbortSignal): Promise<void> => {
    if (estate === undefined || passDueMs > clock.monotonicMs()) return
    const startedMs = clock.monotonicMs()
    const sweep = report?.settled === true ? sweepReads(load(estate)) : 0
    const wasBusy = report?.settled !== true
    const made = await engine.pass(effective(estate), signal, {
      sweep,
      opens: (used) => keepWishes(opened(wishes, used)),
    })
    // An interrupted pass saw only half: keep the old view.
    if (signal.aborted) return
    report = made
    const tookMs = Math.round(clock.monotonicMs() - startedMs)
    counters.passes++
    counters.effects += made.effects
    counters.passMs += tookMs
    if (made.events.length > 0) newestSeq = -1
    const endedMs = clock.now()
    const restedMs = restAfter(made, load(estate), options.phase)
    passDueMs = clock.monotonicMs() + restedMs
    if (made.settled && (wasBusy || clock.monotonicMs() - calmMs >= LIMITS.longestRestMs)) {
      calmMs = clock.monotonicMs()
      options.onCalm?.(wasBusy ? 'work' : 'looks')
    }
    pass = { endedMs, tookMs, effects: made.effects, nextMs: endedMs + restedMs }
    await keepWishes(currentWishes(wishes, made, endedMs))
  }

  const remember = async (): Promise<void> => {
    if (report === undefined) return
    const { surveys = [], clusters = report.plan.clusters ?? [], powers = [] } = report
    const fresh = notedReport === report ? undefined : { surveys, clusters, powers }
    notedReport = report
    await options.history?.note(view, fresh)
  }

  /** Runs one part of the loop. Errors are shown, and the loop goes on: only a broken store or lock ends it. */
  const survived = async (part: string, signal: AbortSignal, work: () => Promise<void> | void): Promise<boolean> => {
    try {
      await work()
      failures.delete(part)
      return true
    } catch (error) {
      if (isFinal(error) || signal.aborted) throw error
      const origin = { file: `croft, ${part}`, line: 1, column: 1 }
      const message = `croft failed in this part of its work and tries it again: ${causeOf(error)}`
      if (failures.get(part)?.message !== message)
        await tell([{ atMs: clock.now(), type: 'Warning', reason: 'Failed', message: `${part}: ${message}` }])
      const hint = 'report this as a defect of croft; everything else goes on'
      failures.set(part, { code: FAILED, origin, message, hint, severity: 'error' })
      return false
    }
  }

  /** Shows the failures when the view itself cannot be made. */
  const publishFailures = () => {
    view = { ...view, problems: [...failures.values()], version: view.version + 1, atMs: clock.now() }
    for (const listener of listeners) listener(view, [])
  }

  /** Checks, notices and plans for pull requests: started when due, never awaited. */
  const background = createBackground({
    clock,
    wake: () => waker.wake(),
    checks: options.checks,
    notifier,
    previews: options.previews,
    tell,
  })

  const askNow = createAsking({
    clock,
    store,
    epoch,
    wishes: () => wishes,
    keepWishes,
    report: () => report,
    allowReturn: (name) => followed.allowReturn(name),
    approvePlan: async (name, hash, note) => manual?.approve(name, hash, note),
    troubles: () => sources,
    adopt: async (wish) => {
      if (options.adopt === undefined || report === undefined || revision === undefined)
        return { ok: false, reason: 'refused', message: 'this controller cannot write to Git' }
      return options.adopt(wish, { view, report, revision, sources })
    },
    ...(options.request === undefined ? {} : { request: options.request }),
    passNow: () => {
      passDueMs = clock.monotonicMs()
      waker.wake()
    },
  })

  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    ...createReading(store, clock, () => ({ revision, estate, report })),
    ...defined({
      past: options.history,
      kubeconfigs: options.kubeconfigs,
      workloads: options.workloads,
      consoles: options.consoles,
    }),
    async commitDiff(name, commit) {
      const state = sources.find(({ source }) => source.name === name)
      const change = state === undefined ? undefined : changeOfCommit(state, followed.commits(), commit)
      if (change === undefined) return undefined
      const changed = await state?.followed.changes?.([change.before, change.commit])
      return changed === undefined ? undefined : commitDiff(change, changed)
    },
    ask: askNow,
    poke(name) {
      if (!followed.hurry(name)) return
      counters.pokes++
      options.previews?.poke(name)
      waker.wake()
    },
    ready: () => alive && pass !== undefined,
    counters: () => counters,
    betweenPasses: (work) => others.do(work),
    seen: () =>
      estate === undefined || revision === undefined || report === undefined
        ? undefined
        : { estate: effective(estate), revision, report },
    async run(signal) {
      alive = true
      try {
        while (!signal.aborted) {
          await survived('the background', signal, () => background.check())
          await others.turn()
          await survived('the sources', signal, () => lookAtSources(signal))
          if (signal.aborted) break
          if (!(await survived('the pass', signal, () => makePass(signal))))
            passDueMs = clock.monotonicMs() + LIMITS.failedPassMs
          if (signal.aborted) break
          // A large pass has blocked for long: serve waiting requests before building the view.
          await clock.sleep(0, signal)
          if (!(await survived('the view', signal, publish))) publishFailures()
          await survived('the history', signal, remember)
          background.begin({ view, revision, estate, declared, report, inForce: inForceOf(sources) }, signal)
          const nextMs = Math.min(passDueMs, background.dueMs(), followed.dueMs())
          await waker.sleepUntil(nextMs, signal)
        }
      } finally {
        alive = false
        others.end()
        await background.rest()
        if (signal.aborted) await options.history?.save()
      }
    },
  }
}

/** Returns a hash of the view: for a thousand machines the text itself is megabytes. */
function* printOf({ resources, ...rest }: Omit<EstateView, 'version' | 'atMs'>): Steps<string> {
  const hash = createHash('sha256').update(JSON.stringify(rest))
  for (const resource of resources) {
    hash.update(JSON.stringify(resource))
    yield
  }
  return hash.digest('base64')
}

/** Marks what an unread source may declare as unknown: everything, or what its grant allows. */
export function withUnread(given: Estate, states: readonly Pick<SourceState, 'source' | 'revision'>[]): Estate {
  const unread = states.filter(({ revision }) => revision === undefined).map(({ source }) => source)
  if (unread.length === 0) return given
  const bounded = unread.flatMap(({ grant }) => (grant === undefined ? [] : [grant]))
  return changedEstate(given, (estate) => ({
    ...estate,
    incomplete: estate.incomplete || bounded.length < unread.length,
    partlyRead: [...(estate.partlyRead ?? []), ...bounded.map(({ source, names }) => ({ source, names }))],
  }))
}

function inOrderOf(states: readonly SourceState[], parts: readonly InForce[]): readonly InForce[] {
  return states.flatMap(({ source: { name } }) => parts.find(({ source }) => source === name) ?? [])
}

function sameRevisions(some: readonly InForce[], others: readonly InForce[]): boolean {
  return some.length === others.length && some.every(({ revision }, at) => revision === others[at]?.revision)
}

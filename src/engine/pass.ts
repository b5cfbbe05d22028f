import { isDeepStrictEqual } from 'node:util'
import { eachInSteps, type Turns, turnsOf } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Problem, ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import { type ClusterPlan, isUnderWay } from '../model/observed-cluster.ts'
import type { Plan } from '../model/plan.ts'
import type { NewEvent, ResourceRecord } from '../model/record.ts'
import { admit } from '../plan/admit.ts'
import { nextTaskLookMs } from '../plan/pace.ts'
import { goingOff } from '../plan/power/machines.ts'
import { undeclaredMarks } from '../plan/things/removals.ts'
import { settledUnread } from '../plan/things/unread.ts'
import type { Attempt } from './act.ts'
import { actOn, gather, trafficOf } from './act-on-plan.ts'
import { blame } from './blame.ts'
import { departedClusters } from './clusters/departed.ts'
import { isClusterSettled } from './clusters/judge.ts'
import { keepClusters } from './clusters/keep.ts'
import { nextClusterLookMs } from './clusters/pace.ts'
import { noteOrders, noteRemediationsOver } from './clusters/remembered.ts'
import type { PassOptions, PassReport } from './engine.ts'
import { judge } from './judge.ts'
import { asSeenSoon, seenOf } from './late.ts'
import { UNREAD, writeFindings } from './ledger.ts'
import { readLater } from './observation.ts'
import { lookOver, type Observed, type ObserveOptions, observe } from './observe.ts'
import type { PassDeps } from './pass-deps.ts'
import { isPowerSettled } from './power/judge.ts'
import { type KeptPowers, keepPowers } from './power/keep.ts'
import { quietPass, rememberQuiet } from './quiet-pass.ts'
import { lookForReadiness } from './readiness.ts'
import { departed, leftBehind, report } from './report-pass.ts'
import type { ResourcePass } from './resource-pass.ts'
import { casesOf, withReadyWhen } from './resource-passes.ts'
import { failure } from './set-aside.ts'
import { isSettled, nextLookMs } from './settled.ts'
import { learnWidths, notePace } from './widths.ts'

/** The inputs of a pass in addition to the estate. */
export interface PassRequest
  extends Pick<ObserveOptions, 'retryStalled' | 'tried' | 'sweep' | 'unforeseen'>,
    Pick<PassOptions, 'opens'> {
  readonly only?: ReadonlySet<ResourceKey>
  /** An observation and plan of a moment ago, to be performed as it is. */
  readonly observed?: Observed
  /** Connections that the pass no longer waits for. */
  readonly givenUp?: ReadonlySet<string>
}

/** The state of one pass through its phases. */
interface Pass {
  readonly inGit: Estate
  readonly deps: PassDeps
  readonly options: PassRequest
  /** When it looked and when it started to act, on the monotonic clock. */
  readonly lookedMs: number
  readonly actedMs: number
  readonly observed: Observed
  /** The part of the plan that this pass may change. */
  readonly chosen: Plan
  readonly turns: Turns
  readonly signal: AbortSignal
}

interface Acted {
  readonly blamed: Awaited<ReturnType<typeof blame>>
  readonly attempts: readonly Attempt[]
  readonly clusters: Awaited<ReturnType<typeof keepClusters>>
  readonly power: KeptPowers
}

interface PassResults {
  readonly records: readonly ResourceRecord[]
  readonly events: readonly NewEvent[]
  /** Objects on which croft itself failed. */
  readonly problems: readonly Problem[]
}

/** Runs one pass: observe, act, judge, report. Every failure is in the report. */
export async function runPass(
  inGit: Estate,
  deps: PassDeps,
  options: PassRequest,
  signal: AbortSignal,
): Promise<PassReport> {
  const lookedMs = deps.clock.monotonicMs()
  const begins: ObserveOptions['begins'] = (plan, ground) =>
    admit(chosenOf(plan, options).entries, trafficIn(plan, ground, deps)).map(({ entry }) => entry)
  const glance = options.observed === undefined ? await lookOver(inGit, deps, options, signal) : undefined
  if (glance !== undefined) {
    const unchanged = await quietPass(inGit, deps, options, glance, signal)
    if (unchanged !== undefined) return unchanged
  }
  const observed = options.observed ?? (await observe(inGit, deps, { ...options, begins }, signal, glance))
  const actedMs = deps.clock.monotonicMs()
  const turns = turnsOf(deps.clock)
  const chosen = chosenOf(observed.observation.plan, options)
  const pass: Pass = { inGit, deps, options, lookedMs, actedMs, observed, chosen, turns, signal }
  await noteFindings(pass)
  await turns.pause()
  const acted = await act(pass)
  await turns.pause()
  const judged = await judgeAll(pass, acted)
  await turns.pause()
  await writeReport(pass, judged)
  await turns.pause()
  const made = (await isMoreKnown(inGit, pass, judged))
    ? lookSoon(reportOf(pass, acted, judged))
    : reportOf(pass, acted, judged)
  rememberQuiet(inGit, deps, observed, made)
  return made
}

/** Reports whether the end of this pass showed a value that completes another declaration. */
async function isMoreKnown(
  inGit: Estate,
  { deps: { late }, observed }: Pass,
  { records }: PassResults,
): Promise<boolean> {
  if (inGit.later === undefined) return false
  const { estate, observation } = observed
  const seen = seenOf(estate, observation, new Map(records.map((record) => [record.key, record])))
  const next = await asSeenSoon(inGit, { ...late, known: new Map([...late.known, ...seen]) })
  return next.later?.stamp !== estate.later?.stamp
}

function lookSoon(report: PassReport): PassReport {
  return { ...report, settled: false, lookAgainMs: Math.min(report.lookAgainMs, LIMITS.readinessPollMs) }
}

/** Stores the findings about intentions and about replacements of dead nodes, before any effect. */
async function noteFindings({ deps: { store, epoch }, observed }: Pass): Promise<void> {
  const { changed, dropped } = observed.findings
  await writeFindings(observed.findings, store, epoch)
  if (changed.length > 0) await store.putRecords(epoch, changed)
  for (const key of dropped) await store.dropRecord(epoch, key)
  for (const { look, surroundings } of observed.clusters) {
    const { name } = look.declaration
    await noteRemediationsOver(store, epoch, name, surroundings.remediations, look.observed)
    if (look.observed.requests.replace.length > 0) await noteOrders(store, name, look.observed)
  }
}

async function act({ deps, options, observed, chosen, actedMs, signal }: Pass): Promise<Acted> {
  const { estate, observation, ledger, startedMs } = observed
  const blamed = await blame(observation, ledger.records, startedMs, signal)
  // Ended effects free their queues: adapt the widths before filling them again.
  learnFrom(gather(observed.ended, []), [], observed, deps)
  deps.windows.full.clear()
  const traffic = trafficIn(observation.plan, observed, deps)
  // Until the effects are sent and their tasks due, use the time for reads.
  let dueMs: number | undefined
  const hasTime = () => dueMs === undefined || deps.clock.monotonicMs() < dueMs
  const acting = signal.aborted
    ? Promise.resolve([])
    : actOn(estate, observation, chosen, ledger.records, deps, traffic, startedMs, signal, options.opens).then(
        (all) => {
          const pace = { ...deps.windows.pace, passMs: 0 }
          dueMs = actedMs + nextTaskLookMs(pace, ledger.intentions.size + all.length)
          return all
        },
      )
  const [begun, read] = await Promise.allSettled([acting, readLater(observation, hasTime, signal)])
  if (begun.status === 'rejected') throw begun.reason
  if (read.status === 'rejected') throw read.reason
  const attempts = begun.value
  const doing = { ...deps, unsure: observed.unsure }
  const clusters = await keepClusters(observed.clusters, ledger.records, doing, options.only, signal)
  const power = await keepPowers(
    observed.powers,
    observed.surveyed.factsByConnection,
    ledger.records,
    doing,
    options.only,
    signal,
  )
  return { blamed, attempts, clusters, power }
}

async function judgeAll({ deps, observed, turns, signal }: Pass, acted: Acted): Promise<PassResults> {
  const { estate, observation, ledger, startedMs } = observed
  const { clock, random, rules, connections } = deps
  const happenings = gather(observed.ended, acted.attempts)
  learnFrom(gather(new Map(), acted.attempts), acted.attempts, observed, deps)
  const worlds = await lookForReadiness(estate, observation, ledger.records, happenings, startedMs, signal)
  const seen = { ...observation, worlds }
  const laidOut = await turns.perform(
    casesOf(observation.estate, seen, ledger, rules, happenings, connections, startedMs),
  )
  const cases = await withReadyWhen(laidOut, deps.expressions)
  const problems: Problem[] = []
  const verdicts = await turns.perform(
    eachInSteps(cases, (one) => {
      try {
        if ('failed' in one) throw one.failed
        return [judge(withBlame(one, acted.blamed), clock.now(), random)]
      } catch (error) {
        problems.push(failure(one.entry.key, error, estate))
        const record = ledger.records.get(one.entry.key)
        return record === undefined ? [] : [{ record, events: [] }]
      }
    }),
  )
  const all = [...verdicts.flat(), ...acted.clusters, ...acted.power.verdicts]
  return { records: all.map(({ record }) => record), events: all.flatMap(({ events }) => events), problems }
}

function learnFrom(
  happenings: ReturnType<typeof gather>,
  attempts: readonly Attempt[],
  { estate, ledger, surveyed }: Observed,
  { windows }: PassDeps,
): void {
  learnWidths(windows, happenings, attempts, estate, ledger.records, surveyed.factsByConnection)
}

async function writeReport(pass: Pass, { records, events }: PassResults): Promise<void> {
  const { deps, observed, turns } = pass
  const { estate, observation, ledger, surveyed } = observed
  const complete = surveyed.unseen.size === 0 && isComplete(observation.plan)
  const gone = departed(estate, observation, ledger.records, records)
  const { leaving, over } = departedClusters(gone, new Map(records.map((record) => [record.key, record])))
  // Recorded before it is forgotten: after a crash in between it is recorded again.
  for (const { key } of over) await deps.sessions.end(key)
  const stay = new Set(leaving.map(({ key }) => key))
  const dropped = gone.filter(({ key }) => !stay.has(key))
  const left = [...records, ...leaving]
  const { store, epoch, clock } = deps
  const nowMs = clock.now()
  const told = [...events, ...leftBehind(dropped, observed.ended, nowMs)]
  await report(store, epoch, ledger.records, left, told, dropped, complete && observed.fresh, nowMs, turns)
  await noteSettledUnread(pass, left, dropped, complete)
}

/** Stores the unread paths that proved no key absent. An incomplete store knows only what was surveyed. */
async function noteSettledUnread(
  { inGit, deps: { store, epoch }, observed: { estate, ledger, worlds, fresh } }: Pass,
  records: readonly ResourceRecord[],
  dropped: readonly ResourceRecord[],
  complete: boolean,
): Promise<void> {
  const { unread = [] } = inGit
  if (estate.incomplete || (fresh && !complete)) return
  if (unread.length === 0 && Object.keys(ledger.unread).length === 0) return
  const over = new Set([...estate.resources, ...dropped].map(({ key }) => key))
  const marked = [...worlds.values()].flatMap((world) => undeclaredMarks(estate, world))
  const known = [...ledger.records.keys(), ...records.map(({ key }) => key), ...marked]
  const settled = settledUnread(
    unread,
    estate,
    known.filter((key) => !over.has(key)),
  )
  if (isDeepStrictEqual(settled, ledger.unread)) return
  await store.putValue(epoch, UNREAD, JSON.stringify(settled))
}

function reportOf(pass: Pass, acted: Acted, judged: PassResults): PassReport {
  const { deps, options, lookedMs, actedMs, observed, chosen } = pass
  const { estate, observation, ledger, surveyed } = observed
  const { attempts, clusters, power } = acted
  const { clock } = deps
  const looks = observed.clusters.map(({ look }) => look)
  const powers = observed.powers.map(({ look }) => look)
  const inFlight = ledger.intentions.size + observed.unsure.length + attempts.filter(leavesWork).length
  const times = { lookedMs, actedMs, endedMs: clock.monotonicMs() }
  notePace(deps.windows, observed.ended.size, ledger.intentions.size, inFlight, times)
  const effects =
    power.effects +
    attempts.length +
    clusters.reduce((sum, { attempts: steps, drilled }) => sum + steps.length + drilled, 0)
  const drilling = clusters.some((verdict) => verdict.drilling)
  const watched = options.only === undefined ? looks : looks.filter((look) => options.only?.has(look.declaration.key))
  const { givenUp = new Set() } = options
  const withAddons = new Set(
    estate.resources.flatMap(({ desired }) => (desired.type === 'object' ? [desired.object.cluster] : [])),
  )
  const settled =
    powers.every(isPowerSettled) &&
    !drilling &&
    watched.every(
      (look) => isClusterSettled(look, withAddons.has(look.declaration.name)) || isOutOfReach(look, estate, givenUp),
    ) &&
    isSettled(chosen, judged.records, inFlight, effects, estate.resources, givenUp)
  const operated = looks.some(({ observed: { requests } }) => isUnderWay(requests.hold?.operation, clock.now()))
  const begunNow = {
    all: attempts.length,
    started: attempts.filter(({ outcome }) => outcome.result === 'started').length,
  }
  const nextMs = () =>
    Math.min(
      power.lookAgainMs,
      nextLookMs(chosen, judged.records, inFlight, begunNow, deps.windows.pace),
      nextClusterLookMs(clusters, deps.clusterWaits, deps.stepFailures, {
        nowMs: clock.now(),
        steadyMs: clock.monotonicMs(),
      }),
      drilling ? LIMITS.operationPollMs : LIMITS.sweepIntervalMs,
    )
  return {
    plan: { ...observation.plan, problems: [...observation.plan.problems, ...judged.problems] },
    records: judged.records,
    events: judged.events,
    clusters: looks,
    powers,
    effects,
    begun: attempts.map(({ admitted }) => admitted.entry.key),
    settled,
    operated,
    surveys: [...surveyed.factsByConnection.values()].map(({ survey }) => survey),
    looks: new Map([...surveyed.factsByConnection].map(([name, { looks: close }]) => [name, close])),
    lookAgainMs: operated
      ? LIMITS.operationPollMs
      : settled
        ? Math.min(LIMITS.sweepIntervalMs, power.lookAgainMs)
        : nextMs(),
  }
}

/** Returns the limits on new effects of a plan. */
function trafficIn(
  plan: Plan,
  { estate, ledger, ended }: Pick<Observed, 'estate' | 'ledger' | 'ended'>,
  deps: PassDeps,
) {
  const more = { intentions: [...ledger.intentions.values()], together: goingOff(plan.powers ?? []) }
  return trafficOf(estate, ledger.records, deps, more, ended)
}

function chosenOf(plan: Plan, { only }: PassRequest): Plan {
  return only === undefined ? plan : { ...plan, entries: plan.entries.filter((entry) => only.has(entry.key)) }
}

function withBlame(one: ResourcePass, blamed: Awaited<ReturnType<typeof blame>>): ResourcePass {
  const driftBy = blamed.get(one.entry.key)
  return driftBy === undefined ? one : { ...one, driftBy }
}

/** Reports whether a cluster has a node on an abandoned connection and no step left. */
function isOutOfReach({ declaration, decision }: ClusterPlan, { resources }: Estate, givenUp: ReadonlySet<string>) {
  if (givenUp.size === 0 || decision.steps.length > 0) return false
  const away = new Set(resources.filter(({ connection }) => givenUp.has(connection)).map(({ key }) => key))
  const { servers, agents } = declaration.spec
  return [...servers, ...agents].some(({ machine }) => 'key' in machine && away.has(machine.key))
}

/** Reports whether the store now knows all our things: nothing was hidden, unread or under creation. */
function isComplete(plan: Plan): boolean {
  if (plan.notes.length > 0) return false
  return !plan.entries.some(
    ({ action }) =>
      action.do === 'wait' &&
      (action.missing !== undefined || action.reason === 'UnfinishedCreation' || action.reason === 'BeingCreated'),
  )
}

function leavesWork(attempt: Attempt): boolean {
  return attempt.outcome.result === 'started' || attempt.outcome.result === 'unclear'
}

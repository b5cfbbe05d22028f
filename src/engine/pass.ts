import type { PowerDriver } from '../drivers/power-port.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import type { ClusterStep } from '../model/cluster-decision.ts'
import type { Estate } from '../model/estate.ts'
import type { NewEvent } from '../model/event.ts'
import type { ResourceKey } from '../model/key.ts'
import type { Plan } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import { isGuest } from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'
import { admit, type Traffic } from '../plan/admit.ts'
import { backupCondition } from '../plan/cluster/backup-condition.ts'
import type { Store } from '../store/port.ts'
import { type Attempt, act } from './act.ts'
import { blame } from './blame.ts'
import type { Case, Happening } from './case.ts'
import { casesOf } from './cases.ts'
import { forgetForSweep } from './close-looks.ts'
import { actOnCluster, type ClusterFailures, stepName } from './clusters/act.ts'
import { noteBackups } from './clusters/backups.ts'
import { departedClusters } from './clusters/departed.ts'
import { type DrillPass, keepDrill, readDrills, withDrills } from './clusters/drills.ts'
import { isClusterSettled, judgeCluster } from './clusters/judge.ts'
import { type LookedAt, lookAtClusters } from './clusters/look.ts'
import { type Kept, type KnownWaits, nextClusterLookMs } from './clusters/pace.ts'
import { noteRemediationsOver } from './clusters/remembered.ts'
import type { ClusterSessions } from './clusters/sessions.ts'
import { isTrue } from './conditions.ts'
import type { Connections } from './connections.ts'
import type { PassReport } from './engine.ts'
import { withFormerHosts } from './former-hosts.ts'
import type { AskCheck } from './health-check.ts'
import { judge } from './judge.ts'
import { bringUpToDate, readLedger } from './ledger.ts'
import { type Observation, observeAndPlan, readAllUndeclared, surveyAll, worldsOf } from './observation.ts'
import { placeAll } from './placing.ts'
import { goingOff, heldByPower, withPower } from './power/apply.ts'
import { isPowerSettled } from './power/judge.ts'
import { keepPowers } from './power/keep.ts'
import { lookAtPowers } from './power/look.ts'
import type { PowerMemory } from './power/memory.ts'
import { lookForReadiness } from './readiness.ts'
import { isSettled, nextLookMs } from './settled.ts'

export interface PassDeps {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly epoch: number
  readonly rules: ReadonlyMap<string, Rules>
  readonly connections: Connections
  readonly sessions: ClusterSessions
  readonly clusterFailures: ClusterFailures
  readonly clusterWaits: KnownWaits
  readonly power: (() => Promise<PowerDriver>) | undefined
  readonly powerMemory: PowerMemory
  readonly askCheck: AskCheck
  nextIntentionId(): string
}

/** One pass: look, plan, act, judge, report. One way in, one way out; whatever went wrong is in the report. */
export async function runPass(
  inGit: Estate,
  deps: PassDeps,
  options: { readonly retryStalled: boolean; readonly only?: ReadonlySet<ResourceKey>; readonly sweep?: number },
  signal: AbortSignal,
): Promise<PassReport> {
  const { clock, random, store, epoch, rules, connections } = deps
  const startedMs = clock.now()

  const declared = await withFormerHosts(await withDrills(inGit, store), store)
  const surveyed = await surveyAll(declared, connections, startedMs, signal)
  for (const looking of surveyed.lookings.values()) forgetForSweep(looking, options.sweep ?? 0)
  const remembered = await readLedger(store, options.retryStalled)
  const { ledger, ended } = await bringUpToDate(remembered, store, epoch, surveyed.lookings, clock, signal)
  await readAllUndeclared(declared, surveyed.lookings, signal)
  const seen = { worlds: worldsOf(declared, surveyed.lookings, surveyed.unseen), lookings: surveyed.lookings }
  const placed = await placeAll(declared, seen, ledger, startedMs, signal)
  const looked = await lookAtClusters(placed, seen, ledger, rules, deps, startedMs, signal)
  for (const { look, surroundings } of looked)
    await noteRemediationsOver(store, epoch, look.declaration.name, surroundings.remediations, look.observed)
  const powers = await lookAtPowers(placed, seen, ledger, rules, looked, deps, signal)
  const powerLooks = powers.map(({ look }) => look)
  const clusters = heldByPower(looked, powerLooks, startedMs)
  const estate = withPower(placed, powerLooks)
  const looks = clusters.map(({ look }) => look)
  const observation = await observeAndPlan(estate, surveyed, ledger, rules, looks, startedMs, signal)
  const chosen = options.only === undefined ? observation.plan : only(observation.plan, options.only)

  const blamed = await blame(observation, ledger.records, startedMs, signal)
  const attempts = signal.aborted
    ? []
    : await actOn(
        estate,
        observation,
        chosen,
        ledger.records,
        deps,
        { intentions: [...ledger.intentions.values()], together: goingOff(powerLooks) },
        signal,
      )

  const clusterVerdicts = await keepClusters(clusters, ledger.records, deps, options.only, signal)
  const power = await keepPowers(powers, surveyed.lookings, ledger.records, deps, options.only, signal)

  const happenings = gather(ended, attempts)
  const worlds = await lookForReadiness(estate, observation, ledger.records, happenings, startedMs, signal)
  const verdicts = casesOf(estate, { ...observation, worlds }, ledger, rules, happenings, connections, startedMs).map(
    (one) => judge(withBlame(one, blamed), clock.now(), random),
  )

  const known = surveyed.unseen.size === 0 && isComplete(observation.plan)
  const judged = [...verdicts, ...clusterVerdicts, ...power.verdicts]
  const records = judged.map((verdict) => verdict.record)
  const events = judged.flatMap((verdict) => verdict.events)
  const gone = departed(estate, observation, ledger.records, records)
  const { leaving, over } = departedClusters(gone, new Map(records.map((record) => [record.key, record])))
  // Noted before it is forgotten: a crash in between notes it once more.
  for (const { key } of over) await deps.sessions.end(key)
  const stay = new Set(leaving.map(({ key }) => key))
  const dropped = gone.filter(({ key }) => !stay.has(key))
  const left = [...records, ...leaving]
  await report(store, epoch, ledger.records, left, events, dropped, known && remembered.fresh, clock.now())

  const inFlight = ledger.intentions.size + attempts.filter(leavesWork).length
  const effects =
    power.effects +
    attempts.length +
    clusterVerdicts.reduce((sum, { attempts, drilled }) => sum + attempts.length + drilled, 0)
  const drilling = clusterVerdicts.some((verdict) => verdict.drilling)
  const watched = options.only === undefined ? looks : looks.filter((look) => options.only?.has(look.declaration.key))
  const still = powerLooks.every(isPowerSettled)
  const withAddons = new Set(
    estate.resources.flatMap(({ desired }) => (desired.type === 'object' ? [desired.object.cluster] : [])),
  )
  const settled =
    still &&
    !drilling &&
    watched.every((look) => isClusterSettled(look, withAddons.has(look.declaration.name))) &&
    isSettled(chosen, records, inFlight, effects, estate.resources)
  return {
    plan: observation.plan,
    records,
    events,
    clusters: looks,
    powers: powerLooks,
    effects,
    settled,
    surveys: [...surveyed.lookings.values()].map(({ survey }) => survey),
    looks: new Map([...surveyed.lookings].map(([name, { looks }]) => [name, looks])),
    lookAgainMs: settled
      ? Math.min(LIMITS.sweepIntervalMs, power.lookAgainMs)
      : Math.min(
          power.lookAgainMs,
          nextLookMs(chosen, records, inFlight, attempts.length),
          nextClusterLookMs(clusterVerdicts, deps.clusterWaits, deps.clusterFailures, {
            nowMs: clock.now(),
            steadyMs: clock.monotonicMs(),
          }),
          drilling ? LIMITS.operationPollMs : LIMITS.sweepIntervalMs,
        ),
  }
}

/** Takes each cluster one step further and says what came of it. */
async function keepClusters(
  clusters: readonly LookedAt[],
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PassDeps,
  only: ReadonlySet<ResourceKey> | undefined,
  signal: AbortSignal,
): Promise<
  readonly (ReturnType<typeof judgeCluster> & Kept & { readonly drilled: number; readonly drilling: boolean })[]
> {
  return Promise.all(
    clusters.map(async (looked) => {
      const { declaration } = looked.look
      const idle = signal.aborted || declaration.policy.paused || (only !== undefined && !only.has(declaration.key))
      const attempts = idle ? [] : await actOnCluster(looked, { ...deps, failures: deps.clusterFailures }, signal)
      const goesOn = (step: ClusterStep) => deps.clusterWaits.has(stepName(declaration.key, step))
      const drills = idle ? undefined : await keepDrillOf(looked, deps, signal)
      const state = drills?.state ?? (await readDrills(deps.store, declaration.name))
      const backedUp = backupCondition(declaration.spec, looked.look.observed, state, deps.clock.now())
      const before = records.get(declaration.key)
      const verdict = judgeCluster(looked.look, attempts, before, goesOn, deps.clock.now(), backedUp)
      await noteBackups(deps.store, deps.epoch, looked.look)
      return {
        ...verdict,
        events: [...verdict.events, ...(drills?.events ?? [])],
        look: looked.look,
        attempts,
        drilled: drills?.effects ?? 0,
        drilling: state.run !== undefined,
      }
    }),
  )
}

async function keepDrillOf(looked: LookedAt, deps: PassDeps, signal: AbortSignal): Promise<DrillPass | undefined> {
  const { declaration } = looked.look
  if (declaration.drill === undefined) return undefined
  return keepDrill(looked, { ...deps, operator: await deps.sessions.operatorOf(declaration) }, signal)
}

function withBlame(one: Case, blamed: Awaited<ReturnType<typeof blame>>): Case {
  const driftBy = blamed.get(one.entry.key)
  return driftBy === undefined ? one : { ...one, driftBy }
}

function only(plan: Plan, keys: ReadonlySet<ResourceKey>): Plan {
  return { ...plan, entries: plan.entries.filter((entry) => keys.has(entry.key)) }
}

/** From here on the store knows everything of ours that is there: nothing was hidden, unread or still forming. */
function isComplete(plan: Plan): boolean {
  if (plan.notes.length > 0) return false
  return !plan.entries.some(
    ({ action }) =>
      action.do === 'wait' &&
      (action.lack !== undefined || action.reason === 'UnfinishedCreation' || action.reason === 'BeingCreated'),
  )
}

function leavesWork(attempt: Attempt): boolean {
  return attempt.outcome.result === 'started' || attempt.outcome.result === 'unclear'
}

async function actOn(
  estate: Estate,
  observation: Observation,
  chosen: Plan,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  deps: PassDeps,
  traffic: Pick<Traffic, 'intentions' | 'together'>,
  signal: AbortSignal,
): Promise<readonly Attempt[]> {
  const generations = new Map(estate.resources.map((resource) => [resource.key, resource.generation]))
  const admitted = admit(chosen.entries, {
    ...traffic,
    connections: new Map(estate.connections.map((connection) => [connection.name, connection])),
    unready: restarting(records, deps.clock.now()),
  })
  const attempts = await Promise.all(
    admitted.map((one) =>
      act(
        one,
        {
          clock: deps.clock,
          store: deps.store,
          epoch: deps.epoch,
          nextIntentionId: deps.nextIntentionId,
          generationOf: (key) => generations.get(key) ?? records.get(key)?.generation ?? '',
          sessionOf: (name) => {
            const looking = observation.lookings.get(name)
            if (looking === undefined) throw new Error(`an effect was admitted on ${name}, which was not seen`)
            return looking.session
          },
        },
        signal,
      ),
    ),
  )
  for (const { admitted: one, outcome } of attempts) {
    observation.lookings.get(one.entry.connection)?.looks.delete(one.doing.externalId)
    if (outcome.result === 'refused' && outcome.refusal.connectionWide === true) {
      deps.connections.troubled(one.entry.connection, outcome.refusal, deps.clock.now())
    }
    if (outcome.result === 'not-sent') {
      const refusal = {
        reason: 'Unreachable',
        meaning: 'backoff',
        message: outcome.message,
        connectionWide: true,
      } as const
      deps.connections.troubled(one.entry.connection, refusal, deps.clock.now())
    }
  }
  return attempts
}

/** A machine whose seed is renewed is down while it is put in: between its shutdown and the start that counts as reboot. */
const RESTARTING: ReadonlySet<string> = new Set(['reboot', 'shutdown', 'insert'])

/** Machines that we restarted and that are not back yet. */
function restarting(records: ReadonlyMap<ResourceKey, ResourceRecord>, nowMs: number): number {
  let count = 0
  for (const record of records.values()) {
    const effect = record.lastEffect
    if (effect === undefined || !RESTARTING.has(effect.verb) || isTrue(record.conditions, 'Ready')) continue
    if (nowMs - effect.atMs < LIMITS.restartGraceMs) count++
  }
  return count
}

function gather(
  ended: ReadonlyMap<ResourceKey, Happening>,
  attempts: readonly Attempt[],
): ReadonlyMap<ResourceKey, readonly Happening[]> {
  const all = new Map<ResourceKey, Happening[]>([...ended].map(([key, happening]) => [key, [happening]]))
  for (const { admitted, outcome } of attempts) {
    const step = admitted.step
    const list = all.get(admitted.entry.key) ?? []
    switch (outcome.result) {
      case 'done':
        list.push({ what: 'succeeded', step })
        break
      case 'started':
        list.push({ what: 'started', step })
        break
      case 'unclear':
        list.push({ what: 'unclear', step, message: outcome.message })
        break
      case 'refused':
        if (outcome.refusal.connectionWide !== true) list.push({ what: 'failed', step, refusal: outcome.refusal })
        break
      case 'not-sent':
        break
    }
    all.set(admitted.entry.key, list)
  }
  return all
}

/**
 * Records of things that are neither declared nor there any more. What could not be seen is not "not there"; but of a
 * cluster that Git names no more nothing is asked, and its objects are nobody's concern with it.
 */
function departed(
  estate: Estate,
  observation: Observation,
  before: ReadonlyMap<ResourceKey, ResourceRecord>,
  now: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const kept = new Set(now.map((record) => record.key))
  const connections = new Set(estate.connections.map(({ name }) => name))
  const isUnreadable = (key: ResourceKey) =>
    estate.unreadable.some((broken) => key === broken || key.startsWith(`${broken}@`))
  const isForsaken = ({ type, connection }: ResourceRecord) =>
    type === 'object' && !estate.incomplete && !connections.has(connection)
  return [...before.values()].filter(
    (record) =>
      !kept.has(record.key) &&
      !isUnreadable(record.key) &&
      (record.type === 'cluster' ||
        isForsaken(record) ||
        observation.worlds.get(record.connection)?.survey !== undefined) &&
      !observation.plan.notes.some((note) => note.connection === record.connection && note.code === 'suspect'),
  )
}

/** Writes what changed, and nothing when nothing did. */
async function report(
  store: Store,
  epoch: number,
  before: ReadonlyMap<ResourceKey, ResourceRecord>,
  records: readonly ResourceRecord[],
  events: readonly NewEvent[],
  dropped: readonly ResourceRecord[],
  completes: boolean,
  nowMs: number,
): Promise<void> {
  const changed = records.filter((record) => JSON.stringify(before.get(record.key)) !== JSON.stringify(record))
  if (changed.length > 0) await store.putRecords(epoch, changed)
  for (const record of dropped) await store.dropRecord(epoch, record.key)
  const gone = dropped
    .filter((record) => isGuest(record.type))
    .map(
      (record): NewEvent => ({
        atMs: nowMs,
        key: record.key,
        type: 'Normal',
        ...farewell(record, records),
      }),
    )
  if (events.length + gone.length > 0) await store.appendEvents(epoch, [...events, ...gone])
  if (completes) await store.markComplete(epoch)
}

/** A guest that is kept under another name has not gone. */
function farewell(record: ResourceRecord, now: readonly ResourceRecord[]): Pick<NewEvent, 'reason' | 'message'> {
  const id = record.externalId
  const heir = now.find(
    (one) => id !== undefined && one.externalId === id && one.connection === record.connection && isGuest(one.type),
  )
  if (heir !== undefined) return { reason: 'Renamed', message: `id ${id ?? '?'} is ${heir.key} now` }
  return { reason: 'Gone', message: `id ${id ?? '?'} is no longer there` }
}

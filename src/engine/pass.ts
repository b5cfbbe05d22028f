import { LIMITS } from '../lib/limits.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceKey } from '../model/key.ts'
import type { Plan } from '../model/plan.ts'
import { admit } from '../plan/admit.ts'
import type { Attempt } from './act.ts'
import { actOn, gather, trafficOf } from './act-on-plan.ts'
import { blame } from './blame.ts'
import type { Case } from './case.ts'
import { casesOf } from './cases.ts'
import { forgetForSweep } from './close-looks.ts'
import { departedClusters } from './clusters/departed.ts'
import { withDrills } from './clusters/drills.ts'
import { isClusterSettled } from './clusters/judge.ts'
import { keepClusters } from './clusters/keep.ts'
import { lookAtClusters } from './clusters/look.ts'
import { nextClusterLookMs } from './clusters/pace.ts'
import { noteRemediationsOver } from './clusters/remembered.ts'
import type { PassReport } from './engine.ts'
import { withFormerHosts } from './former-hosts.ts'
import { withHistory } from './history.ts'
import { judge } from './judge.ts'
import { bringUpToDate, readLedger } from './ledger.ts'
import { observeAndPlan, readAllUndeclared, surveyAll, worldsOf } from './observation.ts'
import type { PassDeps } from './pass-deps.ts'
import { placeAll } from './placing.ts'
import { goingOff, heldByPower, withPower } from './power/apply.ts'
import { isPowerSettled } from './power/judge.ts'
import { keepPowers } from './power/keep.ts'
import { lookAtPowers } from './power/look.ts'
import { lookForReadiness } from './readiness.ts'
import { departed, report } from './report-pass.ts'
import { isSettled, nextLookMs } from './settled.ts'
import { learnWidths } from './widths.ts'

/** One pass: look, plan, act, judge, report. One way in, one way out; whatever went wrong is in the report. */
export async function runPass(
  inGit: Estate,
  deps: PassDeps,
  options: {
    readonly retryStalled: boolean
    readonly tried?: ReadonlySet<ResourceKey>
    readonly only?: ReadonlySet<ResourceKey>
    readonly sweep?: number
  },
  signal: AbortSignal,
): Promise<PassReport> {
  const { clock, random, store, epoch, rules, connections } = deps
  const startedMs = clock.now()

  const declared = await withFormerHosts(await withDrills(inGit, store), store)
  const surveyed = await surveyAll(declared, connections, startedMs, signal)
  for (const looking of surveyed.lookings.values()) forgetForSweep(looking, options.sweep ?? 0)
  const remembered = await readLedger(store, options.retryStalled, options.tried)
  const { ledger, ended } = await bringUpToDate(remembered, store, epoch, surveyed.lookings, clock, signal)
  await readAllUndeclared(declared, surveyed.lookings, signal)
  const seen = { worlds: worldsOf(declared, surveyed.lookings, surveyed.unseen), lookings: surveyed.lookings }
  const known = await withHistory(declared, seen.worlds, ledger, startedMs, signal)
  const placed = await placeAll(known, seen, ledger, startedMs, signal)
  const looked = await lookAtClusters(placed, seen, ledger, rules, deps, startedMs, signal)
  for (const { look, surroundings } of looked)
    await noteRemediationsOver(store, epoch, look.declaration.name, surroundings.remediations, look.observed)
  const powers = await lookAtPowers(placed, seen, ledger, rules, looked, deps, signal)
  const powerLooks = powers.map(({ look }) => look)
  const clusters = heldByPower(looked, powerLooks, startedMs)
  const estate = withPower(placed, powerLooks)
  const looks = clusters.map(({ look }) => look)
  const traffic = trafficOf(estate, ledger.records, deps, {
    intentions: [...ledger.intentions.values()],
    together: goingOff(powerLooks),
  })
  const observation = await observeAndPlan(estate, surveyed, ledger, rules, looks, startedMs, signal, (plan) =>
    admit(options.only === undefined ? plan.entries : only(plan, options.only).entries, traffic).map(
      ({ entry }) => entry,
    ),
  )
  const chosen = options.only === undefined ? observation.plan : only(observation.plan, options.only)

  const blamed = await blame(observation, ledger.records, startedMs, signal)
  const attempts = signal.aborted
    ? []
    : await actOn(estate, observation, chosen, ledger.records, deps, traffic, startedMs, signal)

  const clusterVerdicts = await keepClusters(clusters, ledger.records, deps, options.only, signal)
  const power = await keepPowers(powers, surveyed.lookings, ledger.records, deps, options.only, signal)

  const happenings = gather(ended, attempts)
  learnWidths(deps.windows, happenings, attempts, estate, surveyed.lookings)
  const worlds = await lookForReadiness(estate, observation, ledger.records, happenings, startedMs, signal)
  const verdicts = casesOf(
    observation.estate,
    { ...observation, worlds },
    ledger,
    rules,
    happenings,
    connections,
    startedMs,
  ).map((one) => judge(withBlame(one, blamed), clock.now(), random))

  const complete = surveyed.unseen.size === 0 && isComplete(observation.plan)
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
  await report(store, epoch, ledger.records, left, events, dropped, complete && remembered.fresh, clock.now())

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
    begun: attempts.map(({ admitted }) => admitted.entry.key),
    settled,
    surveys: [...surveyed.lookings.values()].map(({ survey }) => survey),
    looks: new Map([...surveyed.lookings].map(([name, { looks }]) => [name, looks])),
    lookAgainMs: settled
      ? Math.min(LIMITS.sweepIntervalMs, power.lookAgainMs)
      : Math.min(
          power.lookAgainMs,
          nextLookMs(chosen, records, inFlight, {
            all: attempts.length,
            started: attempts.filter(({ outcome }) => outcome.result === 'started').length,
          }),
          nextClusterLookMs(clusterVerdicts, deps.clusterWaits, deps.clusterFailures, {
            nowMs: clock.now(),
            steadyMs: clock.monotonicMs(),
          }),
          drilling ? LIMITS.operationPollMs : LIMITS.sweepIntervalMs,
        ),
  }
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

import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Plan } from '../model/plan.ts'
import type { Rules } from '../model/rules.ts'
import { unforeseenIn } from '../plan/clusters/as-shown.ts'
import { watched } from '../store/port.ts'
import type { KnownWaits } from './clusters/pace.ts'
import { type ClusterTools, createClusterSessions } from './clusters/sessions.ts'
import { createConnections } from './connections.ts'
import type { Engine, EngineDeps, PassOptions, PassReport, Settlement } from './engine.ts'
import { createExistingClusters } from './existing-clusters.ts'
import { type CheckWays, checkAsker, nobodyAsks, probeAsker } from './health-check.ts'
import { nothingSeen } from './late.ts'
import type { KnownFor } from './ledger.ts'
import { type ObserveDeps, type Observed, observe, observeSurroundings } from './observe.ts'
import { runPass } from './pass.ts'
import type { PassDeps, QuietMemory } from './pass-deps.ts'
import { emptyPowerMemory } from './power/memory.ts'
import { withPreviews } from './previews.ts'
import { QUIET_RULES } from './quiet.ts'
import { blamingRules, surviving } from './set-aside.ts'
import { countUnreached, countUnread, givenUpOn, type Unreached, type Unread } from './settled.ts'
import type { StepFailures } from './steps.ts'
import { nothingLearnt } from './widths.ts'

/** Creates an engine on a store. Its epoch starts with the first pass; planning alone writes nothing. */
export function createEngine(deps: EngineDeps): Engine {
  const { clock, drivers, driverDeps, random } = deps
  const store = watched(deps.store)
  const rules: ReadonlyMap<string, Rules> = new Map(drivers.map(({ name, rules: own }) => [name, blamingRules(own)]))
  const connections = createConnections(drivers, driverDeps, random)
  const existing = createExistingClusters(driverDeps)
  const resolveSecret: ObserveDeps['resolveSecret'] =
    deps.untriedSecrets === true ? async () => undefined : driverDeps.resolveSecret
  const ways: CheckWays = { clock, drivers, deps: driverDeps, network: deps.network ?? nobodyAsks, existing }
  const askCheck = checkAsker(ways)
  /** The estate for an upgrade's checks beyond the cluster's own nodes. */
  let current: Estate | undefined
  const sessions = createClusterSessions(
    deps.clusters === undefined
      ? undefined
      : withChecks(
          deps.clusters,
          probeAsker(ways, () => current),
        ),
  )
  const stepFailures: StepFailures = new Map()
  const clusterWaits: KnownWaits = new Map()
  const powerMemory = emptyPowerMemory()
  const windows = nothingLearnt()
  const late = nothingSeen()
  const quiet: QuietMemory = { rules: deps.quietRules ?? QUIET_RULES }
  let powerDriver: ReturnType<NonNullable<EngineDeps['power']>> | undefined
  const openPower = deps.power
  const power =
    openPower === undefined
      ? undefined
      : () => {
          powerDriver ??= openPower()
          return powerDriver
        }
  let epoch: number | undefined
  let intentions = 0
  /** Keys that this engine has retried. */
  const tried = new Set<ResourceKey>()
  let suspicious = 0

  /** When this process first saw each effect of another one, on the monotonic clock. */
  const firstSeen = new Map<string, number>()
  const knownFor: KnownFor = (intention) => {
    if (intention.epoch === epoch) return undefined
    const now = clock.monotonicMs()
    const since = firstSeen.get(intention.id) ?? now
    firstSeen.set(intention.id, since)
    return now - since
  }
  const others = defined({ knownFor: deps.otherClocks === true ? knownFor : undefined })

  const passDeps = async (): Promise<PassDeps> => {
    epoch ??= deps.epoch ?? (await store.beginEpoch())
    const begun = epoch
    return {
      clock,
      random,
      store,
      epoch: begun,
      rules,
      connections,
      sessions,
      existing,
      stepFailures,
      clusterWaits,
      power,
      powerMemory,
      askCheck,
      expressions: driverDeps.expressions,
      resolveSecret,
      ...others,
      windows,
      quiet,
      late,
      nextIntentionId: () => `${begun}-${++intentions}`,
    }
  }

  /** The inputs of each plan. */
  const shown = new WeakMap<Plan, { readonly estate: Estate; readonly observed: Observed; readonly atMs: number }>()

  const runOne = async (
    estate: Estate,
    signal: AbortSignal,
    { only, sweep, givenUp, opens }: PassOptions,
    observed?: Observed,
    unforeseen?: ReturnType<typeof unforeseenIn>,
  ): Promise<PassReport> => {
    current = estate
    let shownBefore = observed
    const report = await surviving(estate, async (whole) => {
      const request = {
        retryStalled: deps.retryStalled === true,
        tried,
        ...defined({ only, sweep, observed: shownBefore, givenUp, opens, unforeseen }),
      }
      // After any effect an observation is outdated.
      shownBefore = undefined
      return runPass(whole, await passDeps(), request, signal)
    })
    for (const key of report.begun ?? []) tried.add(key)
    suspicious = report.plan.notes.some((note) => note.code === 'suspect') ? suspicious + 1 : 0
    // An object may have appeared between the survey and the check of its id: look again first.
    const hasty = suspicious > 0 && suspicious < LIMITS.suspiciousPasses
    return hasty ? { ...report, settled: false, lookAgainMs: LIMITS.readinessPollMs } : report
  }

  /** Returns a plan's inputs if they are of this estate, equal to those of a pass, and young enough. */
  const youngEnough = (plan: Plan | undefined, estate: Estate): Observed | undefined => {
    const known = plan === undefined ? undefined : shown.get(plan)
    if (known?.estate !== estate || deps.retryStalled !== true || tried.size > 0) return undefined
    return clock.monotonicMs() - known.atMs < LIMITS.shownPlanMs ? known.observed : undefined
  }

  const asking: ObserveDeps = {
    clock,
    store,
    rules,
    connections,
    sessions,
    existing,
    power,
    powerMemory,
    askCheck,
    resolveSecret,
    late,
    ...others,
  }
  const engine: Engine = {
    async plan(inGit, signal) {
      current = inGit
      const observed = await surviving(inGit, (whole) => observe(whole, asking, { retryStalled: true }, signal))
      const { observation, worlds } = observed
      const atMs = clock.monotonicMs()
      const previewed = await withPreviews(observation, signal)
      const hosts = [...worlds.values()].flatMap(({ survey }) =>
        (survey?.hosts ?? []).map((host) => ({ ...host, connection: survey?.connection ?? '' })),
      )
      const plan = { ...previewed, hosts }
      shown.set(plan, { estate: inGit, observed, atMs })
      return plan
    },
    pass: (estate, signal, options = {}) => runOne(estate, signal, options),
    async settle(estate, { signal, deadlineMs, onPass, only, shown: plan, agreed, givesUp }): Promise<Settlement> {
      const startedMs = clock.monotonicMs()
      let passes = 0
      let effects = 0
      let last: PassReport
      let unreached: Unreached = new Map()
      let unread: Unread = new Map()
      const unforeseen = agreed === undefined ? new Map() : unforeseenIn(agreed)
      for (;;) {
        const observed = passes === 0 ? youngEnough(plan, estate) : undefined
        const chosen = only === undefined ? {} : { only }
        const without = givesUp === true ? { givenUp: givenUpOn(unreached, unread) } : {}
        last = await runOne(estate, signal, { ...chosen, ...without }, observed, unforeseen)
        unreached = countUnreached(unreached, last.plan, passes === 0)
        unread = countUnread(unread, last.plan)
        passes++
        effects += last.effects
        onPass?.(last)
        if (signal.aborted) return { outcome: 'aborted', last, passes, effects }
        if (last.settled) return { outcome: 'settled', last, passes, effects }
        const left =
          deadlineMs === undefined ? Number.POSITIVE_INFINITY : deadlineMs - (clock.monotonicMs() - startedMs)
        if (left <= 0) return { outcome: 'deadline', last, passes, effects }
        await clock.sleep(Math.min(last.lookAgainMs, left), signal)
      }
    },
    async surroundings(inGit, cluster, signal) {
      current = inGit
      return observeSurroundings(inGit, cluster, asking, signal)
    },
    askCheck,
    ...defined({ kubernetes: driverDeps.kubernetes }),
    async close() {
      await sessions.close()
      await existing.close()
      await connections.close()
    },
  }
  return engine
}

/** An upgrade's checks use all ways of the estate, not only the network. */
function withChecks(load: () => Promise<ClusterTools>, ask: CheckWays['network']): () => Promise<ClusterTools> {
  return async () => {
    const tools = await load()
    return { ...tools, deps: { ...tools.deps, ask } }
  }
}

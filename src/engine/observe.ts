import type { ClusterSurroundings } from '../drivers/cluster-port.ts'
import { ifObserved } from '../drivers/port.ts'
import { cleanText } from '../lib/clean-text.ts'
import { defined } from '../lib/defined.ts'
import { turnsOf } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { ResourceKey } from '../model/declaration.ts'
import { nameOfReference } from '../model/desired-secrets.ts'
import type { Estate } from '../model/estate.ts'
import type { ConnectionNote, Plan, PlanEntry } from '../model/plan.ts'
import type { LoadSample } from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'
import type { SecretReference } from '../model/secret.ts'
import type { PlanInput } from '../plan/planner.ts'
import { type Holdings, holdings } from '../plan/things/holdings.ts'
import { isKept, keptIn } from '../plan/things/kept.ts'
import { place, unplaced } from '../plan/things/placement/place.ts'
import { withUnproven } from '../plan/things/unread.ts'
import { refuseUnread, secretsOf } from '../plan/things/unread-secrets.ts'
import type { Ledger, World } from '../plan/things/world.ts'
import type { Store } from '../store/port.ts'
import { askForKept } from './ask-for-kept.ts'
import { withDrills } from './clusters/drills.ts'
import { observeClusters, type ReachedCluster, surroundingsOfAll } from './clusters/observe.ts'
import type { ClusterSessions } from './clusters/sessions.ts'
import type { FactsByConnection } from './connection-facts.ts'
import type { Connections } from './connections.ts'
import { forgetForSweep } from './detail-cache.ts'
import { withHistory } from './history.ts'
import { asSeenSoon, type LateMemory, readForeign, seenOf } from './late.ts'
import { bringUpToDate, type Findings, type KnownFor, readLedger, type StoredLedger, type UpToDate } from './ledger.ts'
import {
  type Observation,
  observeAndPlan,
  readAllUndeclared,
  type Surveyed,
  surveyAll,
  worldsOf,
} from './observation.ts'
import type { PowerObserveDeps } from './power/deps.ts'
import { observePowers, type ReachedPower } from './power/observe.ts'
import type { Happening } from './resource-pass.ts'

/** The dependencies of an observation: it reads the world and the store, and writes to neither. */
export interface ObserveDeps extends PowerObserveDeps {
  readonly store: Pick<Store, 'records' | 'intentions' | 'isFresh' | 'getValue'>
  readonly rules: ReadonlyMap<string, Rules>
  readonly connections: Connections
  readonly sessions: ClusterSessions
  resolveSecret(reference: SecretReference): Promise<unknown>
  readonly knownFor?: KnownFor | undefined
  readonly late: LateMemory
}

export interface ObserveOptions {
  /** A person asked to retry what stalled; these were retried. */
  readonly retryStalled: boolean
  readonly tried?: ReadonlySet<ResourceKey>
  /** How many of the oldest close looks of each connection to read again. */
  readonly sweep?: number
  /** What the plan that a person agreed to did not show about clusters. */
  readonly unforeseen?: PlanInput['unforeseen']
  /** Returns the part of a plan that starts now: only that needs fresh looks. By default everything. */
  begins?(plan: Plan, ground: Pick<Ground, 'estate' | 'ledger' | 'ended'>): readonly PlanEntry[]
}

/** What the surveys and the store show at the start of a pass. */
export interface Glance {
  readonly startedMs: number
  /** Includes drills and former hosts. */
  readonly declared: Estate
  readonly surveyed: Surveyed
  readonly remembered: StoredLedger
  /** Close looks that were dropped to be read again, by connection. */
  readonly swept: ReadonlyMap<string, readonly string[]>
}

/** The machines of an estate as observed, before any decision. */
interface Ground {
  readonly startedMs: number
  readonly surveyed: Surveyed
  readonly worlds: ReadonlyMap<string, World>
  /** No pass has completed on this store yet. */
  readonly fresh: boolean
  readonly ledger: Ledger
  /** Results of effects that started in earlier passes. */
  readonly ended: ReadonlyMap<ResourceKey, Happening>
  /** Steps on clusters, of Powers and of operations that started earlier and may still arrive. */
  readonly unsure: UpToDate['unsure']
  /** Findings about intentions, for a caller that may write them to the store. */
  readonly findings: Findings & Omit<Holdings, 'ledger'>
  /** Includes drills, former hosts, the history of undeclared things, and a host for every machine. */
  readonly estate: Estate
}

/** All that was observed and decided at one moment: `plan` prints it and a pass performs it. */
export interface Observed extends Ground {
  /** As far as power permits. */
  readonly clusters: readonly ReachedCluster[]
  readonly powers: readonly ReachedPower[]
  readonly observation: Observation
}

/** Values from one look may lead to further ones: the limit of such rounds before planning. */
const LATE_ROUNDS = 4

/**
 * The one sequence from declared to planned. `plan`, `apply`, `run` and `rehearse` all use it, so that one shows what
 * another does. It writes nothing: its result holds what must be recorded.
 */
export async function observe(
  inGit: Estate,
  deps: ObserveDeps,
  options: ObserveOptions,
  signal: AbortSignal,
  glance?: Glance,
): Promise<Observed> {
  let observed = await observeOnce(inGit, deps, options, signal, glance)
  let notes: readonly ConnectionNote[] = []
  for (let round = 0; round < LATE_ROUNDS && inGit.later !== undefined && !signal.aborted; round++) {
    const { estate, observation, ledger } = observed
    const seen = seenOf(estate, observation, ledger.records)
    const read = await readForeign(estate, deps.existing, signal)
    notes = read.notes
    deps.late.known = new Map([...seen, ...read.known])
    if ((await asSeenSoon(inGit, deps.late)).later?.stamp === estate.later?.stamp) break
    observed = await observeOnce(inGit, deps, options, signal)
  }
  if (!signal.aborted && showsMore(inGit, observed, deps.late))
    observed = await observeOnce(inGit, deps, options, signal)
  if (notes.length === 0) return observed
  const { observation } = observed
  const plan = { ...observation.plan, notes: [...observation.plan.notes, ...notes] }
  return { ...observed, observation: { ...observation, plan } }
}

/**
 * Reports whether close looks showed a machine of ours with another address than declared, without a record, as after a
 * loss of the store.
 */
function showsMore({ keeping }: Estate, { estate, observation, ledger }: Observed, late: LateMemory): boolean {
  if (keeping === undefined) return false
  const kept = keptIn(estate, observation.worlds, ledger)
  const before = late.kept
  late.kept = kept
  const isNew = [...kept].some(([key, { addresses }]) => addresses.join() !== (before.get(key)?.addresses ?? []).join())
  return isNew && !isKept(estate, kept)
}

async function observeOnce(
  inGit: Estate,
  deps: ObserveDeps,
  options: ObserveOptions,
  signal: AbortSignal,
  glance?: Glance,
): Promise<Observed> {
  const turns = turnsOf(deps.clock)
  const { begins } = options
  const seen = glance ?? (await lookOver(inGit, deps, options, signal))
  const ground = await observeMachines(seen, deps, signal, begins === undefined ? 'now' : 'in turn')
  await turns.pause()
  const { surveyed, ledger, estate: placed } = ground
  const input = inputOf(ground, deps)
  const looked = await observeClusters(input, surveyed.factsByConnection, deps, signal)
  const switched = await observePowers(input, surveyed.factsByConnection, looked, deps, signal)
  await turns.pause()
  const observation = await observeAndPlan(
    {
      ...input,
      clusters: looked.map(({ look }) => look),
      powers: switched.map(({ look }) => look),
      ...defined({ unforeseen: options.unforeseen }),
    },
    surveyed,
    turns,
    signal,
    begins === undefined ? undefined : (plan) => begins(plan, { estate: placed, ledger, ended: ground.ended }),
  )
  const { waiting = [] } = placed.later ?? {}
  const read = await withoutUnread(observation.plan, deps.resolveSecret)
  const plan = waiting.length === 0 ? read : { ...read, waiting }
  const estate = { ...placed, resources: observation.estate.resources }
  for (const look of plan.powers ?? []) deps.powerMemory.looks.set(look.declaration.key, look)
  const clusters = withDecisions(looked, plan.clusters ?? [])
  return {
    ...ground,
    estate,
    clusters,
    powers: withDecisions(switched, plan.powers ?? []),
    observation: { ...observation, plan },
  }
}

/** Resolves every secret that the plan would use: a missing one must show in the plan, not first in `apply`. */
async function withoutUnread(plan: Plan, resolve: ObserveDeps['resolveSecret']): Promise<Plan> {
  const unread = new Map<string, string>()
  await inParallel(secretsOf(plan), LIMITS.nodesAskedAtOnce, async (reference) => {
    try {
      await resolve(reference)
    } catch (error) {
      unread.set(nameOfReference(reference), cleanText(error instanceof Error ? error.message : 'unknown'))
    }
  })
  return refuseUnread(plan, unread)
}

/** Adds the plan's decisions to the observations. */
function withDecisions<One extends { readonly look: object }, Look>(
  looked: readonly One[],
  planned: readonly Look[],
): readonly (Omit<One, 'look'> & { readonly look: Look })[] {
  return planned.flatMap((look, index) => {
    const one = looked[index]
    return one === undefined ? [] : [{ ...one, look }]
  })
}

/** Returns the machines and shells of one cluster, as a pass sees them. Undefined if it is not declared. */
export async function observeSurroundings(
  inGit: Estate,
  cluster: string,
  deps: ObserveDeps,
  signal: AbortSignal,
): Promise<ClusterSurroundings | undefined> {
  const ground = await observeMachines(await lookOver(inGit, deps, { retryStalled: true }, signal), deps, signal)
  const all = await surroundingsOfAll(inputOf(ground, deps), ground.surveyed.factsByConnection, deps, signal)
  return all.find(({ declaration }) => declaration.name === cluster)?.surroundings
}

function inputOf({ estate, worlds, ledger, startedMs }: Ground, { rules }: ObserveDeps): PlanInput {
  return { estate, worlds, ledger, rules, nowMs: startedMs }
}

/** Surveys every connection and reads the store: the start of each pass, and all of a quiet one. */
export async function lookOver(
  inGit: Estate,
  { clock, store, connections, rules, late }: ObserveDeps,
  options: ObserveOptions,
  signal: AbortSignal,
): Promise<Glance> {
  const startedMs = clock.now()
  const whole = async (estate: Estate) => withFormerHosts(await withDrills(estate, store), store)
  const linked = await asSeenSoon(inGit, late)
  const first = await whole(linked)
  const surveyed = await surveyAll(first, connections, rules, signal)
  const swept = new Map<string, readonly string[]>()
  for (const [name, facts] of surveyed.factsByConnection) {
    swept.set(name, forgetForSweep(facts, options.sweep ?? 0))
    // All is settled: there is time to read guests that were assumed to match.
    if (options.sweep !== undefined && options.sweep > 0) facts.memory.made.clear()
  }
  const remembered = await readLedger(store, options.retryStalled, options.tried)
  const { records, unread } = remembered.ledger
  let declared = first
  if (linked.keeping !== undefined) {
    const { factsByConnection, unseen } = surveyed
    const look = () => keptIn(first, worldsOf(first, factsByConnection, unseen), remembered.ledger, late.kept)
    const before = look()
    const kept = (await askForKept(first, factsByConnection, before, startedMs, signal)) ? look() : before
    if (!isKept(first, kept)) declared = await whole(linked.keeping(kept))
  }
  return { startedMs, declared: withUnproven(declared, unread, records, startedMs), surveyed, remembered, swept }
}

async function observeMachines(
  { startedMs, declared, surveyed, remembered }: Glance,
  { clock, knownFor, rules }: ObserveDeps,
  signal: AbortSignal,
  leaving: 'now' | 'in turn' = 'now',
): Promise<Ground> {
  const upToDate = await bringUpToDate(remembered, surveyed.factsByConnection, clock, signal, knownFor)
  const { ended, unsure } = upToDate
  const seen = worldsOf(declared, surveyed.factsByConnection, surveyed.unseen)
  const { ledger, ...held } = holdings(declared, seen, upToDate.ledger, rules, startedMs)
  const findings = { ...upToDate.findings, ...held }
  const inTurn = leaving === 'now' ? undefined : { ledger, nowMs: startedMs }
  await readAllUndeclared(declared, surveyed.factsByConnection, signal, inTurn)
  const worlds = worldsOf(declared, surveyed.factsByConnection, surveyed.unseen)
  const known = await withHistory(declared, worlds, ledger, startedMs, signal)
  const estate = await placeAll(known, worlds, surveyed.factsByConnection, ledger, startedMs, signal)
  return { startedMs, surveyed, worlds, fresh: remembered.ledger.fresh, ledger, ended, findings, unsure, estate }
}

/**
 * Adds hosts that Git no longer uses and that still hold croft's changes: those are reverted, then the hosts are left
 * alone.
 */
async function withFormerHosts(estate: Estate, store: Pick<Store, 'records'>): Promise<Estate> {
  const idle = estate.idleHosts ?? []
  if (idle.length === 0) return estate
  const records = await store.records()
  const former = idle.filter(({ name }) => records.some((one) => one.type === 'item' && one.connection === name))
  return former.length === 0 ? estate : { ...estate, connections: [...estate.connections, ...former] }
}

/** The estate with a host for every machine that leaves it to croft. Reads how busy hosts are only before a choice. */
async function placeAll(
  estate: Estate,
  worlds: PlanInput['worlds'],
  factsByConnection: FactsByConnection,
  ledger: Ledger,
  nowMs: number,
  signal: AbortSignal,
): Promise<Estate> {
  const loads = new Map<string, readonly LoadSample[]>()
  for (const [connection, facts] of factsByConnection) {
    const open = unplaced(estate, { worlds, ledger }).filter((one) => one.connection === connection)
    const nodes = new Set(open.flatMap(({ placement }) => placement?.candidates.map(({ node }) => node) ?? []))
    const { session, survey } = facts
    const here = survey.hosts.filter(({ name, online }) => online && nodes.has(name))
    await inParallel(here, facts.connection.limits.reads, async ({ name }) => {
      // Without the right to read it the load is unknown, which does not exclude the host.
      const samples = await ifObserved(async () => session.hosts?.load(name, signal))
      if (samples !== undefined) loads.set(`${connection}/${name}`, samples)
    })
  }
  return place(estate, { worlds, ledger, loads, nowMs })
}

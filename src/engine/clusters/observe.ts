import type { ClusterSurroundings, NodeReach } from '../../drivers/cluster-port.ts'
import { ifObserved } from '../../drivers/port.ts'
import { defined } from '../../lib/defined.ts'
import { about } from '../../lib/failed-on.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import type {
  ClusterInput,
  ClusterPlan,
  KeptMachine,
  ObservedCluster,
  ObservedNode,
} from '../../model/observed-cluster.ts'
import type { Action, Plan } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { guestIn, isGuest, type Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { validApprovals } from '../../plan/approvals.ts'
import { plan } from '../../plan/plan.ts'
import type { PlanInput } from '../../plan/planner.ts'
import { claimsIn } from '../../plan/things/holdings.ts'
import { type Identified, identifyAll } from '../../plan/things/identify-all.ts'
import { claimantOf } from '../../plan/things/left-key.ts'
import { isDeclaredHere } from '../../plan/things/proof.ts'
import { type Removal, removals } from '../../plan/things/removals.ts'
import { suspect } from '../../plan/things/suspicion.ts'
import type { Ledger } from '../../plan/things/world.ts'
import type { Store } from '../../store/port.ts'
import { type FactsByConnection, readDetails, worldsSince } from '../connection-facts.ts'
import { boxesIn, MEMBERS } from './departed.ts'
import { hostReadiness, readHostItems } from './host-readiness.ts'
import { readRemediations, readRequests } from './remembered.ts'
import type { ClusterSessions } from './sessions.ts'
import { drillReach, type ObservedMachines, surroundingsOf, type Ways } from './surroundings.ts'

/** An observed cluster with the open shells of its nodes. */
export interface ReachedCluster<Look extends ClusterInput = ClusterPlan> {
  readonly look: Look
  readonly surroundings: ClusterSurroundings
  /** The shell of the drill's machine. */
  readonly drill?: NodeReach
}

interface ClusterObserveDeps {
  readonly store: Pick<Store, 'getValue'>
  readonly sessions: ClusterSessions
}

/** Observes all declared clusters in parallel. */
export async function observeClusters(
  input: PlanInput,
  factsByConnection: FactsByConnection,
  deps: ClusterObserveDeps,
  signal: AbortSignal,
): Promise<readonly ReachedCluster<ClusterInput>[]> {
  const { estate, ledger, nowMs } = input
  const around = await surroundingsOfAll(input, factsByConnection, deps, signal)
  return Promise.all(
    around.map(async ({ declaration, surroundings, drill, removed }) => {
      const all = await about([declaration.key], async () =>
        (await deps.sessions.of(declaration)).observe(surroundings, signal),
      )
      const claimed = claimedNodes(estate, removed, declaration, ledger, nowMs)
      const former = formerBoxes(estate, declaration, ledger)
      const observed = {
        ...all,
        nodes: all.nodes
          .filter((node) => belongs(node.name, all, declaration, ledger) || holdsOurs(node, former, all))
          .map((node) => (claimed(node) ? node : { ...node, unclaimed: true as const })),
      }
      const cleared = all.nodes.filter((node) => former.has(node.name) && isCleared(node, all)).map(({ name }) => name)
      return defined({ look: { declaration, observed, cleared }, surroundings, drill })
    }),
  )
}

/** Returns the machines and shells of each cluster, for a pass and for operations by command. */
export async function surroundingsOfAll(
  input: PlanInput,
  factsByConnection: FactsByConnection,
  deps: ClusterObserveDeps,
  signal: AbortSignal,
): Promise<
  readonly {
    readonly declaration: ClusterDeclaration
    readonly surroundings: ClusterSurroundings
    readonly drill?: NodeReach
    /** All undeclared things of ours. */
    readonly removed: readonly Removal[]
  }[]
> {
  const { estate, ledger } = input
  const clusters = estate.clusters ?? []
  if (clusters.length === 0) return []
  const before = removedIn(input)
  const read = await observeMembers(input, factsByConnection, before, signal)
  await readHostItems(input, factsByConnection, signal)
  const now = { ...input, worlds: worldsSince(input.worlds, factsByConnection) }
  const removed = read ? removedIn(now) : before
  const machines = machinesSeen(now, removed)
  return Promise.all(
    clusters.map(async (declaration) => {
      const former = formerBoxes(estate, declaration, ledger)
      const [requests, remediated, hosts] = await Promise.all([
        readRequests(deps.store, declaration.name),
        readRemediations(deps.store, declaration.name),
        deps.sessions.shellsOf(declaration, [...former.values()]),
      ])
      const ways: Ways = {
        intoGuest: (observed) => factsByConnection.get(observed.connection)?.session.agent?.shell(observed),
        hosts,
        former,
      }
      const drill = declaration.drill?.key
      return {
        declaration,
        removed,
        surroundings: surroundingsOf(declaration, machines, ways, requests, remediated),
        ...(drill === undefined ? {} : { drill: drillReach(drill, machines, ways) }),
      }
    }),
  )
}

/** Returns boxes that were nodes of the cluster here, and that Git still declares, but not as nodes of it. */
function formerBoxes(
  { sources }: Estate,
  { key, spec, otherHosts }: ClusterDeclaration,
  ledger: Ledger,
): ReadonlyMap<string, string> {
  const record = ledger.records.get(key)
  if (record === undefined || !isDeclaredHere(record, sources)) return new Map()
  const declared = new Set([...spec.servers, ...spec.agents].map(({ name }) => name))
  return new Map([...boxesIn(record)].filter(([name, box]) => !declared.has(name) && otherHosts?.has(box) === true))
}

/** Reports whether the K3s of this cluster is still on a former node's box. Another cluster's K3s is not ours. */
function holdsOurs(node: ObservedNode, former: ReadonlyMap<string, string>, { identity }: ObservedCluster): boolean {
  return former.has(node.name) && node.k3s !== 'unknown' && node.k3s.data === identity?.caHash
}

/** Reports whether the box answered and holds nothing of the cluster. */
function isCleared({ k3s }: ObservedNode, { identity }: ObservedCluster): boolean {
  return k3s !== 'unknown' && k3s.data !== identity?.caHash
}

/**
 * Reports whether an undeclared machine is a node of this cluster: the cluster shows its name, or its record does.
 * Otherwise it is an ordinary machine, outside the coordinator.
 */
function belongs(name: string, observed: ObservedCluster, { spec, key }: ClusterDeclaration, ledger: Ledger): boolean {
  if ([...spec.servers, ...spec.agents].some((node) => node.name === name)) return true
  const node = observed.nodes.find((one) => one.name === name)
  if (typeof node?.kube === 'object' || node?.passwordSecret === 'yes') return true
  if (observed.members !== 'unknown' && observed.members.some((member) => member.node === name)) return true
  return [...ledger.records.values()].some((record) => wasNode(record, name, key))
}

/**
 * Returns which nodes this directory declares, or provably declared: by a record, by the commit that removed the
 * machine, by a person, or by the mark of work that was started on it.
 */
function claimedNodes(
  estate: Estate,
  removed: readonly Removal[],
  { spec, key }: ClusterDeclaration,
  ledger: Ledger,
  nowMs: number,
): (node: ObservedNode) => boolean {
  const declared = new Set([...spec.servers, ...spec.agents].map(({ name }) => name))
  const before = ledger.records.get(key)
  const known = before !== undefined && isDeclaredHere(before, estate.sources)
  const noted = before?.details?.[MEMBERS]
  const proven = new Set([
    ...(known && noted !== undefined ? noted.split(' ') : []),
    ...[...ledger.records.values()].flatMap((record) =>
      record.details?.cluster === key && isDeclaredHere(record, estate.sources) ? [nameIn(record.key)] : [],
    ),
    ...removed.flatMap(({ proof, key: machine }) => (proof === undefined ? [] : [nameIn(machine)])),
    ...validApprovals(estate, nowMs)
      .flatMap(({ deletes }) => deletes)
      .flatMap((one) => (one.startsWith(`${key}@`) ? [one.slice(key.length + 1)] : [])),
  ])
  return ({ name, kube }) => {
    if (declared.has(name) || proven.has(name) || typeof kube !== 'object') return true
    // Older records lack the nodes: a node that croft has started carries its configuration's hash.
    if (known && noted === undefined && kube.configHash !== undefined) return true
    return kube.work !== undefined && ['remove', 'replace', 'remediate'].includes(kube.work.purpose)
  }
}

function nameIn(key: ResourceKey): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** Reports whether the record of a machine names this node. */
function wasNode(record: ResourceRecord, name: string, cluster: string): boolean {
  return record.details?.cluster === cluster && record.key.endsWith(`/${name}`)
}

/** A machine that moves to another connection does not leave its cluster. */
function removedIn(input: PlanInput): readonly Removal[] {
  const claims = claimsIn(input.estate.resources, input.rules)
  const declared = new Set(input.estate.resources.map(({ key }) => key))
  return [...input.worlds.values()]
    .flatMap((world) => removals(input, world, claims))
    .filter(({ key }) => !declared.has(claimantOf(key)))
}

function machinesSeen(input: PlanInput, removed: readonly Removal[]): ObservedMachines {
  const { estate, worlds, ledger, rules, nowMs } = input
  const identities = identifyAll(input)
  const believed = new Set(validApprovals(estate, nowMs).flatMap(({ absence = [] }) => absence))
  const suspicious = [...worlds].filter(
    ([name, world]) =>
      !believed.has(name) && suspect(estate.resources, (one) => rules.get(one.driver), world, ledger) !== undefined,
  )
  const restarts = new Map<ResourceKey, string>()
  for (const resource of estate.resources) {
    const wants = restartFor(resource, identities.get(resource.key), rules.get(resource.driver), ledger)
    if (wants !== undefined) restarts.set(resource.key, wants)
  }
  const leaving = removed.filter(({ type }) => isGuest(type))
  return {
    restarts,
    kept: leaving.length === 0 ? new Map() : keptOf(leaving, plan(input)),
    hosts: hostReadiness(input, identities),
    resources: new Map(estate.resources.map((resource) => [resource.key, resource])),
    identities: new Map([...identities].map(([key, identified]) => [key, identified.identity])),
    leaving,
    ledger,
    nowMs,
    suspect: new Set(suspicious.map(([name]) => name)),
  }
}

/**
 * Returns which undeclared machines stay. Computed before the cluster's decision: a node must not leave etcd for a
 * machine that then stays.
 */
function keptOf(leaving: readonly Removal[], { entries }: Plan): ObservedMachines['kept'] {
  const going = new Set(leaving.map(({ key }) => key))
  return new Map(
    entries.flatMap(({ key, action }) =>
      going.has(key) && (action.do === 'hold' || action.do === 'refuse')
        ? [[key, keptMachine(key, action)] as const]
        : [],
    ),
  )
}

function keptMachine(key: ResourceKey, action: Extract<Action, { do: 'hold' | 'refuse' }>): KeptMachine {
  const { guard, reason, allow } = action
  return { key, guard, reason, allow, ...defined({ shows: action.do === 'hold' ? action.shows : undefined }) }
}

/** Returns what a restart of the machine would apply, if its update needs one. */
function restartFor(
  resource: Resource,
  identified: Identified | undefined,
  rules: Rules | undefined,
  ledger: Ledger,
): string | undefined {
  if (rules === undefined || identified?.identity.is !== 'ours' || !isGuest(resource.desired.type)) return undefined
  const { observed } = identified.identity
  if (observed.close === undefined || observed.lock !== undefined) return undefined
  const changes = rules.diff(resource, observed, ledger.records.get(resource.key)?.details)
  if (changes.length === 0 || changes.some(({ effect }) => effect === 'replace')) return undefined
  const disturbs = rules.updateSteps(resource, observed, changes).some(({ disruption }) => disruption === 'restart')
  if (!disturbs) return undefined
  const paths = changes.filter(({ effect }) => effect === 'restart').map(({ path }) => path)
  const named = paths.length === 0 ? changes.slice(0, 1).map(({ path }) => path) : paths
  // Pending changes until the next start have no path in the declaration.
  return named.map((path) => (path === 'restart' ? 'a pending change' : path)).join(', ')
}

/**
 * Reads each node's machine closely once, since its age and its needs matter. A survey's power is up to ten seconds
 * old: a machine that should run and seems off is asked itself, so that a forming or degraded cluster need not wait for
 * a cache. Reports whether it read a machine that leaves.
 */
async function observeMembers(
  input: PlanInput,
  factsByConnection: FactsByConnection,
  removed: readonly Removal[],
  signal: AbortSignal,
): Promise<boolean> {
  const { estate, ledger } = input
  let left = false
  const nodes = new Set(
    (estate.clusters ?? []).flatMap(({ spec }) =>
      [...spec.servers, ...spec.agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])),
    ),
  )
  const identities = identifyAll(input)
  for (const [name, facts] of factsByConnection) {
    const doubtful = estate.resources.flatMap((resource) => {
      if (resource.connection !== name || !nodes.has(resource.key) || ledger.intentions.has(resource.key)) return []
      const identity = identities.get(resource.key)?.identity
      if (identity?.is !== 'ours') return []
      const { externalId, power, lock, close } = identity.observed
      const awaited = guestIn(resource.desired)?.power === 'running' && power !== 'running' && lock === undefined
      return close !== undefined && !awaited ? [] : [{ externalId, power: awaited }]
    })
    // Whether a machine may leave is decided before its node leaves: read its facts now, not in the next pass.
    const leaving = removed.flatMap(({ type, observed: { connection, externalId, lock, close } }) =>
      isGuest(type) && connection === name && lock === undefined && close?.power === undefined
        ? [{ externalId, power: true }]
        : [],
    )
    left ||= leaving.length > 0
    await inParallel([...doubtful, ...leaving], facts.connection.limits.reads, async ({ externalId, power }) => {
      // If the read fails, the survey's state stays.
      await ifObserved(() => readDetails(facts, externalId, { power }, signal))
    })
  }
  return left
}

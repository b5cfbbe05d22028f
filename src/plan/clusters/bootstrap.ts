import { compareVersions } from '../../k3s/version.ts'
import { LIMITS } from '../../lib/limits.ts'
import { madeMs, type ObservedCluster } from '../../model/observed-cluster.ts'
import { type Arrival, arrivalOf, poweredOn } from './arrival.ts'
import {
  type ClusterFinding,
  holdFor,
  isEmpty,
  merge,
  NOTHING,
  permitted,
  refusalOf,
  stepOn,
  waitFor,
} from './finding.ts'
import { isDue } from './orders.ts'
import { allowed, quorum } from './quorum.ts'
import { isAborted, rolloutOf, serverTarget } from './rollout.ts'
import { serversChange } from './servers-change.ts'
import {
  type ClusterSituation,
  FILE_MEMBER,
  holdsFilesAlone,
  kubeOf,
  localOf,
  type NodeView,
  versionsOf,
} from './view.ts'

interface Coming {
  readonly node: NodeView
  readonly arrival: Arrival
}

/**
 * Joins declared servers. Machines are created and started in parallel; K3s starts on one server at a time, the next
 * once the previous one votes. Empty if all are members.
 */
export function serversIn(view: ClusterSituation): ClusterFinding {
  const coming = comingOf(view, view.servers)
  const work = merge(coming.flatMap(findingOf))
  const starting = coming.some(({ arrival }) => arrival.is === 'joining' && !arrival.votes)
  const ready = coming.filter(({ arrival }) => arrival.is === 'ready-to-join').map(({ node }) => node)
  if (!view.formed) {
    const { recorded, finding } = firstServer(view, ready)
    // Machines are created after the record: a younger one needs no proof that it is empty.
    return recorded ? merge([work, finding, ...prepared(view, coming, finding, view.spec.version)]) : finding
  }
  // A server that K3s refuses must not block the others' turn.
  const refused = ready.map((node) => inVain(node)).filter((finding) => finding !== undefined)
  const next = ready.find((node) => isDueToJoin(node))
  const joining = merge([...refused, next === undefined ? NOTHING : joinServer(view, next, starting)])
  return merge([work, joining, ...prepared(view, coming, joining, joinVersion(view))])
}

/** Joins declared agents, all in parallel. */
export function agentsIn(view: ClusterSituation): ClusterFinding {
  const coming = comingOf(view, view.agents)
  const ready = coming.filter(({ arrival }) => arrival.is === 'ready-to-join').map(({ node }) => node)
  const joining = merge(
    ready.map((node) => merge([inVain(node) ?? NOTHING, isDueToJoin(node) ? joinAgent(view, node) : NOTHING])),
  )
  return merge([...coming.flatMap(findingOf), joining, ...prepared(view, coming, joining, agentVersion(view))])
}

/** Returns the release for a joining server: the others' release, or the one that it is replaced for. */
function joinVersion(view: ClusterSituation): string {
  const highest = versionsOf(view.servers).at(-1)
  if (highest === undefined) return view.spec.version
  const replacing = view.spec.upgrade.method === 'replace' && !isAborted(view) && !view.observed.requests.rolloutPaused
  const target = replacing ? serverTarget(view, rolloutOf(view)) : undefined
  return target === undefined || compareVersions(target, highest) < 0 ? highest : target
}

function comingOf(view: ClusterSituation, nodes: readonly NodeView[]): readonly Coming[] {
  return (
    nodes
      .filter((node) => node.spec !== undefined && kubeOf(node)?.work === undefined)
      // A node that a person wants replaced and that has left already must finish leaving first.
      .filter((node) => node.kube !== 'absent' || !isDue(view, node))
      .map((node) => ({ node, arrival: arrivalOf(view, node) }))
  )
}

function findingOf({ arrival }: Coming): readonly ClusterFinding[] {
  return 'finding' in arrival ? [arrival.finding] : []
}

/** croft records which server forms the cluster before it starts, and keeps that choice if the list changes. */
function firstServer(
  view: ClusterSituation,
  ready: readonly NodeView[],
): { readonly recorded: boolean; readonly finding: ClusterFinding } {
  const { identity } = view.observed
  const declared = view.servers.filter(({ spec }) => spec !== undefined)
  const recorded = declared.find(({ name }) => name === identity?.firstServer)
  if (recorded === undefined) return { recorded: false, finding: record(view, declared) }
  return { recorded: true, finding: ready.includes(recorded) ? init(view, recorded) : NOTHING }
}

function init(view: ClusterSituation, recorded: NodeView): ClusterFinding {
  const { identity } = view.observed
  const doubtful = view.servers.filter((node) => !isBlank(node, identity))
  if (doubtful.length > 0) {
    return waitFor({
      node: recorded.name,
      awaits: `word that ${doubtful.map(({ name }) => name).join(', ')} hold no data of this cluster`,
      sinceMs: identity?.recordedMs ?? view.nowMs,
    })
  }
  return stepOn(view, recorded, 'init-cluster', {
    version: view.spec.version,
    summary: `start ${recorded.name} as the first server`,
    reason: 'the cluster was never formed',
    awaits: `the API answering on ${recorded.name}`,
    untilMs: view.nowMs + LIMITS.clusterJoinMs,
  })
}

function record(view: ClusterSituation, declared: readonly NodeView[]): ClusterFinding {
  const { endpoint } = view.spec
  const named = declared.find(({ name }) => 'server' in endpoint && endpoint.server === name)
  const chosen = named ?? declared[0]
  if (chosen === undefined) return NOTHING
  const unasked = declared.filter(isUnasked)
  if (unasked.length > 0) {
    // Only one that is on can say what is on its disk.
    const asleep = merge(unasked.filter(({ machine }) => machine.power === 'off').map((node) => poweredOn(view, node)))
    if (!isEmpty(asleep)) return asleep

    const names = unasked.map(({ name }) => name).join(', ')
    const silence = unasked.find((node) => node.silence !== undefined)?.silence
    const awaits = `a report of what runs on ${names}${silence === undefined ? '' : `: ${silence}`}`
    return waitFor({ node: chosen.name, awaits, sinceMs: view.nowMs })
  }
  return stepOn(view, chosen, 'record-first-server', {
    summary: `record CA, token and ${chosen.name} as the first server`,
    reason: 'no first server is recorded yet',
    awaits: `the record of ${chosen.name}`,
  })
}

/**
 * Reports whether croft has not looked into this machine yet, because it awaits adoption, is off or does not answer. It may
 * already hold K3s, and a new CA and token would prevent taking its cluster over.
 */
export function isUnasked({ machine, k3s }: NodeView): boolean {
  return machine.exists === 'unknown' || (machine.exists === 'yes' && k3s === 'unknown')
}

/** Reports whether this machine is proven to hold no data of the cluster that is about to be formed. */
function isBlank({ name, machine, k3s }: NodeView, identity: ObservedCluster['identity']): boolean {
  if (machine.exists === 'no' || (k3s !== 'unknown' && k3s.data === 'none')) return true
  if (k3s !== 'unknown' && holdsFilesAlone(identity, name, k3s)) return true
  const recordedMs = identity?.recordedMs
  const bornMs = madeMs(machine)
  return bornMs !== undefined && recordedMs !== undefined && bornMs >= recordedMs
}

function joinServer(view: ClusterSituation, node: NodeView, starting: boolean): ClusterFinding {
  const asked = apiAnswers(view, node)
  if (asked !== undefined) return asked
  const [file] = view.members === 'unknown' ? [] : view.members.filter(({ id }) => id === FILE_MEMBER)
  if (file !== undefined) {
    return refusalOf({
      node: node.name,
      guard: 'datastore',
      reason: `${file.node} keeps the data of ${view.spec.name} in SQLite, and no second server can join it`,
      allow: `declare one server; or move ${file.node} to etcd first (restart its K3s once with --cluster-init)`,
    })
  }
  if (starting)
    return waitFor({ node: node.name, awaits: 'the server before it to have its vote', sinceMs: view.nowMs })
  const voters = view.members === 'unknown' ? 0 : quorum(view.members).voters
  const change = serversChange(view.spec.servers.length, voters, view.spec.allow.degraded)
  if (change.refusal !== undefined && voters >= change.joinUpTo) return refusalOf(change.refusal)
  return permitted(allowed({ do: 'add' }, view), node.name, (permit) =>
    stepOn(
      view,
      node,
      'join-server',
      {
        version: joinVersion(view),
        summary: `join ${node.name} as a server`,
        reason: `${node.name} is declared and not in the cluster`,
        awaits: `${node.name} an etcd voter and Ready`,
        untilMs: view.nowMs + LIMITS.clusterJoinMs,
      },
      permit,
    ),
  )
}

function joinAgent(view: ClusterSituation, node: NodeView): ClusterFinding {
  const asked = apiAnswers(view, node)
  if (asked !== undefined) return asked
  return stepOn(view, node, 'join-agent', {
    version: agentVersion(view),
    summary: `join ${node.name} as an agent`,
    reason: `${node.name} is declared and not in the cluster`,
    awaits: `${node.name} Ready`,
    untilMs: view.nowMs + LIMITS.clusterJoinMs,
  })
}

/** Never newer than any server. */
function agentVersion(view: ClusterSituation): string {
  return versionsOf(view.servers)[0] ?? view.spec.version
}

/**
 * Installs the K3s program on nodes whose turn has not come, so that they need no download later. A machine that is
 * proven empty can have it, even while other facts are unknown.
 */
function prepared(
  view: ClusterSituation,
  coming: readonly Coming[],
  turn: ClusterFinding,
  version: string,
): readonly ClusterFinding[] {
  const taken = new Set(turn.steps.map(({ node }) => node))
  return coming
    .map(({ node }) => node)
    .filter((node) => !taken.has(node.name) && isEmptyMachine(node) && localOf(node)?.version !== version)
    .map((node) =>
      stepOn(view, node, 'prepare-k3s', {
        version,
        summary: `install K3s ${version} on ${node.name}`,
        reason: `${node.name} joins when its turn comes`,
        awaits: `the program on ${node.name}`,
      }),
    )
}

function isEmptyMachine({ machine, kube, k3s, twins }: NodeView): boolean {
  if (machine.busy !== undefined || typeof kube === 'object' || twins.length > 0 || k3s === 'unknown') return false
  return k3s.service === 'absent' && k3s.data === 'none'
}

/** After this many failed joins croft reports why and retries rarely. */
const ENOUGH_JOINS = 2

/** Returns K3s's own error of failed joins, or undefined while a join is running or none was tried. */
function inVain(node: NodeView): ClusterFinding | undefined {
  const failure = localOf(node)?.failure ?? node.joins?.failure
  if (failure === undefined || (node.joins?.count ?? 0) < ENOUGH_JOINS) return undefined
  return holdFor({
    node: node.name,
    guard: 'join',
    reason: `K3s on ${node.name} ended ${node.joins?.count} times when it was to join: ${failure}`,
    allow: `correct what it names in Git or on ${node.name}; croft tries again when that changes, and every ${Math.round(LIMITS.joinAgainMs / 60_000)} min`,
  })
}

function isDueToJoin(node: NodeView): boolean {
  return inVain(node) === undefined || (node.joins?.ageMs ?? 0) >= LIMITS.joinAgainMs
}

function apiAnswers(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  if (view.observed.api === 'yes') return undefined
  return waitFor({ node: node.name, awaits: 'the API to answer', sinceMs: view.nowMs })
}

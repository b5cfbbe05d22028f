import { majority } from '../../lib/majority.ts'
import type { LocalK3s } from '../../model/observed-cluster.ts'
import { type ClusterFinding, refusalOf, stepOn } from './finding.ts'
import { type ClusterSituation, localOf, type NodeView } from './view.ts'

/** A cluster without a record whose data lies on declared nodes. */
export interface StrangeCluster {
  /** Hash of its CA, or `other` if it is unreadable. */
  readonly caHash: string
  readonly holders: readonly NodeView[]
  /** Holders on which K3s runs or starts. */
  readonly running: readonly NodeView[]
  /** etcd's members as its servers report them. Undefined if none answers. */
  readonly voters?: { readonly nodes: readonly string[]; readonly up: number; readonly held: boolean }
}

/** Returns foreign clusters whose data is on the nodes, grouped by their CA. */
export function strangeClusters(view: ClusterSituation): readonly StrangeCluster[] {
  const own = view.observed.identity?.caHash
  const found = new Map<string, NodeView[]>()
  for (const node of [...view.servers, ...view.agents]) {
    const local = localOf(node)
    const data = local === undefined || isArriving(local) ? 'none' : local.data
    if (data !== 'none' && data !== own) found.set(data, [...(found.get(data) ?? []), node])
  }
  return [...found].map(([caHash, holders]) => {
    const voters = votersOf(holders)
    const running = holders.filter(isRunning)
    return { caHash, holders, running, ...(voters === undefined ? {} : { voters }) }
  })
}

/** Reports whether croft started K3s and it has not received its cluster's CA: its directories are still empty. */
export function isArriving({ service, data, configured }: LocalK3s): boolean {
  return data === 'other' && configured === true && (service === 'starting' || service === 'running')
}

function votersOf(holders: readonly NodeView[]): StrangeCluster['voters'] {
  const reports = holders.flatMap((node) => localOf(node)?.etcd ?? [])
  // Different lists are two halves: the longer list needs the larger majority.
  const [list] = reports.map(({ voters }) => voters).sort((a, b) => b.length - a.length)
  if (list === undefined || list.length === 0) return undefined
  const selves = new Set(reports.flatMap(({ self }) => self ?? []))
  const up = list.filter(({ id }) => selves.has(id)).length
  return { nodes: list.map(({ node }) => node), up, held: up >= majority(list.length) }
}

/**
 * Returns why K3s must not be removed from this node, regardless of policy and consent: it runs, so it may hold a vote
 * in a running cluster; or a majority of our servers holds its data, so that cluster could return, and our own is not
 * there to prove that it is another one. After the loss of our record every node looks like this.
 */
export function keptFromWiping(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  const local = localOf(node)
  if (local === undefined || local.data === 'none') return undefined
  const cluster = strangeClusters(view).find(({ holders }) => holders.includes(node))
  const advice = adviceFor(view, cluster)
  if (isRunning(node) || (cluster !== undefined && cluster.running.length > 0)) {
    return refusalOf({
      node: node.name,
      guard: 'live-cluster',
      reason: `${node.name} ${isRunning(node) ? `runs K3s${local.heldBy === undefined ? '' : ` (${local.heldBy})`} in` : 'holds data of'} ${described(cluster)}`,
      allow: advice,
    })
  }
  if (livesItself(view) || cluster === undefined || !couldReturn(view, cluster)) return undefined
  const names = cluster.holders.map(({ name }) => name).join(', ')
  return refusalOf({
    node: node.name,
    guard: 'live-cluster',
    reason: `${names} hold the data of one cluster (CA ${short(cluster.caHash)}), enough of them for a majority, and the record of ${view.spec.name} does not know it`,
    allow: `start K3s on them and ${advice}`,
  })
}

/** Holds a cluster with an external datastore: croft can count no votes there, and changes nothing. */
export function keptOutside({ servers, spec }: ClusterSituation): ClusterFinding | undefined {
  const names = servers.filter((node) => node.spec !== undefined && localOf(node)?.datastore === 'external')
  if (names.length === 0) return undefined
  return refusalOf({
    guard: 'datastore',
    reason: `${names.map(({ name }) => name).join(', ')} keep the data of ${spec.name} in an external datastore; croft knows etcd and SQLite, and changes nothing on these nodes`,
    allow: `take ${spec.name} out of Git, or move it to etcd first`,
  })
}

/**
 * If a cluster without a record answers on declared nodes, returns the step that reads its identity back from a server,
 * and nothing else before. Data of an unknown cluster stops all work.
 */
export function withoutRecord(view: ClusterSituation): ClusterFinding | undefined {
  if (view.observed.identity !== undefined) return undefined
  const found = strangeClusters(view).filter(({ holders }) =>
    holders.some(({ role, spec }) => role === 'server' && spec),
  )
  const [cluster] = found
  if (cluster === undefined) return undefined
  const refuse = (reason: string, allow: string) => refusalOf({ guard: 'record-missing', reason, allow })
  const missing = `the record of ${view.spec.name} (CA and token) is missing`
  if (found.length > 1) {
    const each = found.map(({ caHash, holders }) => `${holders.map(({ name }) => name).join(', ')}: ${short(caHash)}`)
    return refuse(
      `${missing}, and its nodes hold data of ${found.length} clusters (${each.join('; ')})`,
      `bring the vault or escrow/${view.spec.name}.cluster.age back, or run croft cluster recover ${view.spec.name} --from a server of the right one`,
    )
  }
  const strangers = strangersTo(view, cluster)
  if (strangers.length > 0) {
    return refuse(
      `${described(cluster)} also has the server${strangers.length === 1 ? '' : 's'} ${strangers.join(', ')}, which ${view.spec.name} does not declare`,
      `declare ${strangers.join(', ')} as well, or take nodes out of ${view.spec.name} that are not its own`,
    )
  }
  const source = cluster.running.find((node) => isSource(node, cluster))
  if (source === undefined) {
    return refuse(
      `${missing}, and ${described(cluster)} has no majority at the moment`,
      `bring its servers back, or the vault, or escrow/${view.spec.name}.cluster.age; croft wipes nothing of it`,
    )
  }
  return stepOn(view, source, 'read-back-secrets', {
    target: cluster.caHash,
    summary: `read CA and token of the running cluster back from ${source.name}`,
    reason: `${missing}, and ${described(cluster)} answers`,
    awaits: `the record of ${view.spec.name}`,
  })
}

/** Reports whether a server represents its cluster: it runs and etcd has a majority, or it is the only one. */
function isSource(node: NodeView, { voters, holders, caHash }: StrangeCluster): boolean {
  const local = localOf(node)
  if (local?.service !== 'running' || node.spec === undefined || caHash === 'other') return false
  if ((local.role ?? node.role) !== 'server' || node.role !== 'server') return false
  if (voters !== undefined) return voters.held && local.etcd !== undefined
  // Without etcd the data is in a file of this one server.
  return (
    local.datastore === 'sqlite' && holders.filter((one) => (localOf(one)?.role ?? one.role) === 'server').length === 1
  )
}

/** Returns the foreign cluster's servers that are not declared: with any, it is not the declared cluster. */
function strangersTo({ spec }: ClusterSituation, { voters }: StrangeCluster): readonly string[] {
  const declared = new Set(spec.servers.map(({ name }) => name))
  return voters === undefined ? [] : voters.nodes.filter((name) => name !== '' && !declared.has(name))
}

/** Reports whether our own cluster is formed and answers: then other data is certainly not its own. */
function livesItself({ observed }: ClusterSituation): boolean {
  return observed.identity?.formed === true && observed.api === 'yes'
}

/** Nodes in an unknown state may hold its data as well. */
function couldReturn({ servers, spec }: ClusterSituation, { holders }: StrangeCluster): boolean {
  const declared = servers.filter((node) => node.spec !== undefined)
  const held = declared.filter((node) => holders.includes(node)).length
  const unseen = declared.filter((node) => node.k3s === 'unknown' && node.machine.exists !== 'no').length
  return held > 0 && held + unseen >= majority(spec.servers.length)
}

function isRunning(node: NodeView): boolean {
  const service = localOf(node)?.service
  return service === 'running' || service === 'starting' || service === 'unknown'
}

function described(cluster: StrangeCluster | undefined): string {
  if (cluster === undefined) return 'a running cluster'
  const { caHash, voters, running } = cluster
  const names = (voters?.nodes ?? running.map(({ name }) => name)).join(', ')
  const state = voters === undefined ? '' : `, ${voters.up} of ${voters.nodes.length} voters up`
  const which = caHash === 'other' ? 'its CA cannot be read' : `CA ${short(caHash)}`
  return `a cluster that croft has no record of (${which}; ${names}${state})`
}

function adviceFor(view: ClusterSituation, cluster: StrangeCluster | undefined): string {
  if (livesItself(view)) return 'take the node out of that cluster by hand (k3s-uninstall.sh there), or declare another'
  const server = cluster?.holders.find(({ role }) => role === 'server')?.name ?? 'SERVER'
  return `run croft cluster recover ${view.spec.name} --from ${server}, which reads CA and token back; nothing of it is wiped`
}

function short(caHash: string): string {
  return caHash.slice(0, 12)
}

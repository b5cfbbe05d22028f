import { compareVersions } from '../../k3s/version.ts'
import type { ClusterSpec, NodeRole, NodeSpec } from '../../model/cluster.ts'
import type {
  EtcdMember,
  KubeNode,
  LocalK3s,
  ObservedCluster,
  ObservedMachine,
  ObservedNode,
  Remediation,
  YesNoUnknown,
} from '../../model/observed-cluster.ts'
import type { ClusterVerb } from '../../model/step.ts'

/** One node with all its declared and observed facts. */
export interface NodeView {
  readonly name: string
  /** Its role in the cluster, or its declared one before it joins. */
  readonly role: NodeRole
  /** Its declared role, if its role in the cluster differs. */
  readonly becomes?: NodeRole
  /** Undefined: Git does not name it. */
  readonly spec?: NodeSpec
  readonly machine: ObservedMachine
  readonly kube: KubeNode | 'absent' | 'unknown'
  readonly k3s: LocalK3s | 'unknown'
  readonly silence?: string
  readonly unheardMs?: number
  readonly refuses?: NonNullable<ObservedNode['refuses']>
  readonly passwordSecret: YesNoUnknown
  readonly joinToken?: true
  readonly unclaimed?: true
  readonly remediation?: Remediation
  readonly tried: readonly ClusterVerb[]
  readonly joins?: NonNullable<ObservedNode['joins']>
  /** Proof that its etcd belongs to another cluster. */
  readonly strange?: string
  readonly member?: EtcdMember
  /** Other nodes with the same machine-id. */
  readonly twins: readonly string[]
}

/** Declaration and observation of a cluster, joined by name: the input of every judgement. */
export interface ClusterSituation {
  readonly spec: ClusterSpec
  readonly observed: ObservedCluster
  readonly nowMs: number
  readonly formed: boolean
  readonly servers: readonly NodeView[]
  readonly agents: readonly NodeView[]
  readonly members: readonly EtcdMember[] | 'unknown'
}

export function viewOf(spec: ClusterSpec, observed: ObservedCluster, nowMs: number): ClusterSituation {
  const formed = isFormed(observed)
  // Before the cluster is formed, etcd cannot be asked and has no members.
  const reported = observed.members === 'unknown' && !formed ? [] : observed.members
  const members = fileMember(observed) ?? reported
  const declared = new Map([...spec.servers, ...spec.agents].map((node) => [node.name, node]))
  const seen = new Map(observed.nodes.map((node) => [node.name, node]))
  const names = [...new Set([...declared.keys(), ...seen.keys()])]
  const nodes = names.map((name): NodeView => {
    const [nodeSpec, node] = [declared.get(name), seen.get(name)]
    const own = members === 'unknown' ? [] : members.filter((candidate) => candidate.node === name)
    const member = own.find(({ up }) => up === 'yes') ?? own[0]
    const kube = node?.kube ?? 'unknown'
    const declaredRole = nodeSpec?.role ?? node?.role ?? 'agent'
    const role = roleSeen(node, member) ?? declaredRole
    const machineId = node?.machine.machineId
    const strange = observed.strangers?.find((stranger) => stranger.node === name)?.why
    const twins = machineId === undefined ? [] : observed.nodes.filter((other) => other.machine.machineId === machineId)
    return {
      name,
      role,
      ...(role === declaredRole ? {} : { becomes: declaredRole }),
      machine: node?.machine ?? { exists: 'unknown', power: 'unknown', ours: false },
      kube: kube === 'unknown' && !formed ? 'absent' : kube,
      k3s: node?.k3s ?? 'unknown',
      passwordSecret: node?.passwordSecret === 'unknown' && !formed ? 'no' : (node?.passwordSecret ?? 'unknown'),
      tried: node?.tried ?? [],
      twins: twins.map((twin) => twin.name).filter((twin) => twin !== name),
      ...(nodeSpec === undefined ? {} : { spec: nodeSpec }),
      ...(node?.silence === undefined ? {} : { silence: node.silence }),
      ...(node?.unheardMs === undefined ? {} : { unheardMs: node.unheardMs }),
      ...(node?.refuses === undefined ? {} : { refuses: node.refuses }),
      ...(node?.unclaimed === undefined || nodeSpec !== undefined ? {} : { unclaimed: node.unclaimed }),
      ...(node?.joinToken === undefined ? {} : { joinToken: node.joinToken }),
      ...(node?.remediation === undefined ? {} : { remediation: node.remediation }),
      ...(node?.joins === undefined ? {} : { joins: node.joins }),
      ...(strange === undefined ? {} : { strange }),
      ...(member === undefined ? {} : { member }),
    }
  })
  const of = (role: NodeRole) => nodes.filter((node) => node.role === role)
  return { spec, observed, nowMs, formed, servers: of('server'), agents: of('agent'), members }
}

/** A vote proves the role; without one K3s itself reports it, while its Node exists. */
function roleSeen(node: ObservedNode | undefined, member: EtcdMember | undefined): NodeRole | undefined {
  if (member !== undefined) return 'server'
  return typeof node?.kube === 'object' && node.k3s !== 'unknown' && node.k3s.role === 'agent' ? 'agent' : undefined
}

/** A server without etcd is the whole cluster: it counts as its one voter. */
function fileMember({ nodes, identity }: ObservedCluster): readonly EtcdMember[] | undefined {
  const server = nodes.find(
    ({ k3s }) => k3s !== 'unknown' && k3s.datastore === 'sqlite' && k3s.data === identity?.caHash,
  )
  if (server === undefined || server.k3s === 'unknown') return undefined
  const up = server.k3s.service === 'running' ? 'yes' : 'no'
  return [{ id: FILE_MEMBER, name: server.name, node: server.name, learner: false, up }]
}

/** Represents the vote of a server that keeps its data in a file. */
export const FILE_MEMBER = 'sqlite'

/**
 * Reports whether the cluster was formed. Any trace of it outweighs the record, so that croft never forms a second one.
 * The CA files that croft itself wrote to the recorded first server prove nothing.
 */
export function isFormed({ identity, members, nodes }: ObservedCluster): boolean {
  if (identity?.formed === true) return true
  if (members !== 'unknown' && members.length > 0) return true
  return nodes.some(
    ({ name, kube, k3s }) =>
      typeof kube === 'object' ||
      (k3s !== 'unknown' && k3s.data === identity?.caHash && !holdsFilesAlone(identity, name, k3s)),
  )
}

/** Reports whether the recorded first server has only croft's files, and no data of K3s. */
export function holdsFilesAlone(identity: ObservedCluster['identity'], name: string, local: LocalK3s): boolean {
  if (identity?.formed !== false || identity.firstServer !== name) return false
  return local.data === identity.caHash && local.datastore === undefined && local.etcd === undefined
}

export function kubeOf(node: NodeView): KubeNode | undefined {
  return typeof node.kube === 'object' ? node.kube : undefined
}

export function localOf(node: NodeView): LocalK3s | undefined {
  return typeof node.k3s === 'object' ? node.k3s : undefined
}

/** Reports whether the node has a Node object and, as a server, an etcd member. */
export function isIn(node: NodeView): boolean {
  return typeof node.kube === 'object' && (node.role === 'agent' || node.member !== undefined)
}

/** Reports whether the node may be off. Never a server: it has a vote, so it is always started. */
export function sleeps(node: NodeView): boolean {
  return node.role === 'agent' && node.spec?.power === 'onDemand' && node.machine.power !== 'on'
}

/** Reports whether the node is unready only because its cluster's own network plugin is missing yet. */
export function awaitsCni(view: ClusterSituation, node: NodeView): boolean {
  const kube = kubeOf(node)
  if (kube?.ready !== 'no' || view.spec.network.flannelBackend !== 'none') return false
  return /network not ready|NetworkPluginNotReady|cni plugin not initialized/i.test(kube.readyMessage ?? '')
}

/** Reports whether the node is a healthy member beyond doubt. */
export function isWell(node: NodeView): boolean {
  if (kubeOf(node)?.ready !== 'yes' || node.twins.length > 0 || isRemnant(node)) return false
  return node.role === 'agent' || (node.member?.learner === false && node.member.up === 'yes')
}

/**
 * Reports whether a Node is older than its silent machine: then it belonged to a former machine, and stays Ready for
 * most of a minute after that one is gone.
 */
export function isRemnant(node: NodeView): boolean {
  const kube = kubeOf(node)
  if (kube === undefined || localOf(node) !== undefined) return false
  return node.machine.createdMs !== undefined && node.machine.createdMs > kube.createdMs
}

/** Returns another server that is certainly down or no member: then this running one must not be stopped. */
export function otherAway(view: ClusterSituation, node: NodeView): string | undefined {
  if (node.role === 'agent' || view.members === 'unknown') return undefined
  const away = view.servers.filter((other) => {
    const { name, spec, member, kube } = other
    if (name === node.name) return false
    // If a member's state is unknown, its NotReady Node shows that it cannot help.
    if (member?.up === 'unknown' && kubeOf(other)?.ready === 'no') return true
    return member === undefined ? spec !== undefined && kube !== 'unknown' : member.up === 'no' || member.learner
  })
  return away[0]?.name
}

/** Releases that run on these nodes, without duplicates, oldest first. */
export function versionsOf(nodes: readonly NodeView[]): readonly string[] {
  return [...new Set(nodes.flatMap((node) => kubeOf(node)?.version ?? []))].sort(compareVersions)
}

/** Reports whether croft creates and destroys the machine; any other is only wiped. */
export function isKept({ spec, machine }: NodeView): boolean {
  return spec === undefined ? machine.ours : 'key' in spec.machine
}

import { createHash } from 'node:crypto'
import { parseAddress } from '../../k3s/cidr.ts'
import { configHash } from '../../k3s/config.ts'
import { flagDrift } from '../../k3s/flags.ts'
import { compareVersions } from '../../k3s/version.ts'
import type { ClusterSpec, NodeSpec } from '../../model/cluster.ts'
import { planHops } from './hops.ts'
import { isLeftAsFound } from './taken-over.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView, sleeps, versionsOf } from './view.ts'

/** What one node is to become next. */
export interface WantedChange {
  readonly purpose: 'upgrade' | 'configure' | 'restart'
  /** A release, the hash of a configuration, or what the machine is restarted for. */
  readonly target: string
}

export interface Rollout {
  /** Releases still to come, the next one first. */
  readonly hops: readonly string[]
  readonly refusal?: { readonly reason: string; readonly allow: string }
}

/** Names one rollout: another pin or other flags are another one. What `abort` refers to. */
export function rolloutId(spec: ClusterSpec): string {
  const hashes = [...spec.servers, ...spec.agents].map((node) => `${node.name}=${configHash(spec, node)}`).sort()
  return `${spec.version}#${createHash('sha256').update(hashes.join('\n')).digest('hex').slice(0, 8)}`
}

/** The way from what the servers run to the pin. */
export function rolloutOf(view: ClusterSituation): Rollout {
  const { spec, observed } = view
  const running = versionsOf(view.servers)
  const [lowest, highest] = [running[0], running.at(-1)]
  if (lowest === undefined || highest === undefined) return { hops: [] }
  if (compareVersions(highest, spec.version) > 0) {
    const plan = planHops(highest, spec.version, observed.membershipChanged)
    return 'refused' in plan ? { hops: [], refusal: { reason: plan.refused, allow: plan.allow } } : { hops: [] }
  }
  const plan = planHops(lowest, spec.version, observed.membershipChanged)
  return 'refused' in plan ? { hops: [], refusal: { reason: plan.refused, allow: plan.allow } } : { hops: plan.hops }
}

/**
 * The next change of a node. Servers first, then agents up to what the oldest server runs, and only then the next
 * hop; a changed configuration comes where the version is as it should be.
 */
export function wantedChange(view: ClusterSituation, node: NodeView, rollout: Rollout): WantedChange | undefined {
  const kube = kubeOf(node)
  if (kube === undefined || node.spec === undefined || sleeps(node) || isLeftAsFound(view, node)) return undefined
  if (node.becomes !== undefined) return undefined
  const next = node.role === 'agent' ? versionsOf(view.servers)[0] : serverTarget(view, rollout)
  if (next !== undefined && compareVersions(kube.version, next) < 0) return { purpose: 'upgrade', target: next }
  return flagChange(view, node, kube.configHash, node.spec) ?? machineChange(node)
}

/** A node that is in the cluster by one address and declared with another. */
export interface MovedNode {
  readonly name: string
  readonly known: string
  readonly declared: string
}

/** A server that moved keeps all others from being touched: with another address it does not come back as a vote. */
export function movedServer({ servers }: ClusterSituation): MovedNode | undefined {
  for (const node of servers) {
    const moved = movedNode(node)
    if (moved !== undefined) return moved
  }
  return undefined
}

/**
 * Returns the node if its declared address differs from its live one. A machine gets its address at creation. With
 * another one a server cannot start, since etcd knows it by address, and an agent registers one without an answer.
 */
export function movedNode(node: NodeView): MovedNode | undefined {
  const [known] = kubeOf(node)?.internalIps ?? []
  const [declared] = node.spec?.nodeIps ?? []
  if (known === undefined || declared === undefined || sleeps(node)) return undefined
  const there = kubeOf(node)?.internalIps.map((ip) => parseAddress(ip)?.value)
  return there?.includes(parseAddress(declared)?.value) === false ? { name: node.name, known, declared } : undefined
}

function machineChange({ machine }: NodeView): WantedChange | undefined {
  return machine.wantsRestart === undefined ? undefined : { purpose: 'restart', target: machine.wantsRestart }
}

function flagChange(
  view: ClusterSituation,
  node: NodeView,
  running: string | undefined,
  spec: NodeSpec,
): WantedChange | undefined {
  const hash = configHash(view.spec, spec)
  if (running === hash) return undefined
  // One that was not started by us is left as it is, unless it is a server that runs with other flags than it must, or
  // a person has it made as declared: then its configuration becomes ours.
  const isTaken = view.spec.allow.takeOver === true && localOf(node)?.configured === false
  if (running === undefined && !isTaken && driftOf(view, node).length === 0) return undefined
  return { purpose: 'configure', target: hash }
}

/** The release that servers are to run next: the next hop, once every agent has caught up with the last. */
export function serverTarget(view: ClusterSituation, rollout: Rollout): string | undefined {
  const [lowest] = versionsOf(view.servers)
  return agentsBehind(view) ? lowest : (rollout.hops[0] ?? lowest)
}

export function isAborted(view: ClusterSituation): boolean {
  const { rolloutAborted } = view.observed.requests
  return rolloutAborted !== undefined && rolloutAborted === rolloutId(view.spec)
}

/** What a server runs with that is not as declared, in sentences. */
export function driftOf(view: ClusterSituation, node: NodeView): readonly string[] {
  const args = kubeOf(node)?.args
  if (node.role !== 'server' || args === undefined) return []
  return flagDrift(view.spec, [{ server: node.name, flags: args }]).map(({ message }) => message)
}

/** All servers run one release, and some agent that is on does not yet. */
export function agentsBehind(view: ClusterSituation): boolean {
  const servers = versionsOf(view.servers)
  const [lowest, highest] = [servers[0], servers.at(-1)]
  if (lowest === undefined || lowest !== highest) return false
  return view.agents.some((node) => {
    const kube = kubeOf(node)
    return kube !== undefined && node.spec !== undefined && !sleeps(node) && compareVersions(kube.version, lowest) < 0
  })
}

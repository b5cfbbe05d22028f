import { createHash } from 'node:crypto'
import { parseAddress } from '../../k3s/cidr.ts'
import { configHash } from '../../k3s/config.ts'
import { flagDrift } from '../../k3s/flags.ts'
import { compareVersions } from '../../k3s/version.ts'
import type { ClusterSpec, NodeSpec } from '../../model/cluster.ts'
import { planHops } from './hops.ts'
import { isLeftAsFound } from './taken-over.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView, sleeps, versionsOf } from './view.ts'

/** The next change of one node. */
export interface WantedChange {
  readonly purpose: 'upgrade' | 'configure' | 'restart'
  /** A release, the hash of a configuration, or the reason of a restart. */
  readonly target: string
}

export interface Rollout {
  /** The remaining releases in order. */
  readonly hops: readonly string[]
  readonly refusal?: { readonly reason: string; readonly allow: string }
}

/** Identifies a rollout by release and flags. `abort` refers to it. */
export function rolloutId(spec: ClusterSpec): string {
  const hashes = [...spec.servers, ...spec.agents].map((node) => `${node.name}=${configHash(spec, node)}`).sort()
  return `${spec.version}#${createHash('sha256').update(hashes.join('\n')).digest('hex').slice(0, 8)}`
}

/** Returns the path from the running releases to the declared one. */
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
 * Returns the next change of a node. Servers first, then agents up to the oldest server's release, and only then the
 * next hop; a changed configuration comes once the release is right.
 */
export function wantedChange(view: ClusterSituation, node: NodeView, rollout: Rollout): WantedChange | undefined {
  const kube = kubeOf(node)
  if (kube === undefined || node.spec === undefined || sleeps(node) || isLeftAsFound(view, node)) return undefined
  if (node.becomes !== undefined) return undefined
  const next = node.role === 'agent' ? versionsOf(view.servers)[0] : serverTarget(view, rollout)
  if (next !== undefined && compareVersions(kube.version, next) < 0) return { purpose: 'upgrade', target: next }
  return flagChange(view, node, kube.configHash, node.spec) ?? machineChange(node)
}

/** A member with another address than declared. */
export interface MovedNode {
  readonly name: string
  readonly known: string
  readonly declared: string
}

/** Returns a server with a changed address, which stops work on the others: with another address it loses its vote. */
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
  // A node that croft did not start stays as it is, unless it is a server with wrong critical flags, or a person lets
  // croft take it over: then its configuration becomes croft's.
  const isTaken = view.spec.allow.takeOver === true && localOf(node)?.configured === false
  if (running === undefined && !isTaken && driftOf(view, node).length === 0) return undefined
  return { purpose: 'configure', target: hash }
}

/** Returns the next release for servers: the next hop, once every agent has the last one. */
export function serverTarget(view: ClusterSituation, rollout: Rollout): string | undefined {
  const [lowest] = versionsOf(view.servers)
  return agentsBehind(view) ? lowest : (rollout.hops[0] ?? lowest)
}

export function isAborted(view: ClusterSituation): boolean {
  const { rolloutAborted } = view.observed.requests
  return rolloutAborted !== undefined && rolloutAborted === rolloutId(view.spec)
}

/** Returns how a server's flags differ from the declaration, in sentences. */
export function driftOf(view: ClusterSituation, node: NodeView): readonly string[] {
  const args = kubeOf(node)?.args
  if (node.role !== 'server' || args === undefined) return []
  return flagDrift(view.spec, [{ server: node.name, flags: args }]).map(({ message }) => message)
}

/** Reports whether all servers run one release and some running agent does not yet. */
export function agentsBehind(view: ClusterSituation): boolean {
  const servers = versionsOf(view.servers)
  const [lowest, highest] = [servers[0], servers.at(-1)]
  if (lowest === undefined || lowest !== highest) return false
  return view.agents.some((node) => {
    const kube = kubeOf(node)
    return kube !== undefined && node.spec !== undefined && !sleeps(node) && compareVersions(kube.version, lowest) < 0
  })
}

import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ForgetOrder, ObservedCluster } from '../../model/observed-cluster.ts'
import { isDue } from './orders.ts'
import { mayLower, quorum } from './quorum.ts'
import { type ClusterSituation, kubeOf, localOf, type NodeView, viewOf } from './view.ts'

/**
 * Returns why an unreachable server counts as dead: a person says so, or Git removed it and it has been silent for
 * remediation.evictAfter. Undefined while anything answers for it. Its permit judges the majority of the others, not
 * this function.
 */
export function believedDead(view: ClusterSituation, node: NodeView): string | undefined {
  // An agent has no vote: it can leave without being stopped.
  if (node.role === 'agent' || !isSilent(node)) return undefined
  const order = view.observed.requests.forget?.find((one) => isOf(one, node))
  if (order !== undefined) return 'a person says that it is dead'
  const sinceMs = silentSince(view, node)
  if (sinceMs === undefined || view.nowMs - sinceMs < evictAfterMs(view.spec)) return undefined
  return `it has been silent for ${hours(view.nowMs - sinceMs)}`
}

/** Returns when croft will count it as dead by itself, or undefined if never or if its silence has no start time. */
export function deadFrom(view: ClusterSituation, node: NodeView): number | undefined {
  const sinceMs = silentSince(view, node)
  return sinceMs === undefined ? undefined : sinceMs + evictAfterMs(view.spec)
}

/** Returns the orders that still apply: their Node or member exists and has not returned. Pure. */
export function standingForgets(
  orders: readonly ForgetOrder[],
  { nodes, members, api }: Pick<ObservedCluster, 'nodes' | 'members' | 'api'>,
): readonly ForgetOrder[] {
  if (api !== 'yes' || members === 'unknown') return orders
  return orders.filter((order) => {
    const kube = nodes.find(({ name }) => name === order.node)?.kube
    const member = members.find(({ node, id }) => node === order.node && id === order.member)
    if (member?.up === 'yes' || (typeof kube === 'object' && kube.ready === 'yes')) return false
    return member !== undefined || (typeof kube === 'object' && kube.createdMs === order.createdMs)
  })
}

type ForgetPlan =
  /** The assumptions, in sentences, and the order that a person's confirmation creates. */
  | { readonly believed: readonly string[]; readonly order: ForgetOrder }
  | { readonly refused: string; readonly allow: string }

/** Returns what a person confirms by declaring a server dead. Pure. */
export function planForget(spec: ClusterSpec, observed: ObservedCluster, name: string, nowMs: number): ForgetPlan {
  const view = viewOf(spec, observed, nowMs)
  const node = view.servers.find((one) => one.name === name)
  const gone = node === undefined || (kubeOf(node) === undefined && node.member === undefined)
  if (observed.api !== 'yes' || view.members === 'unknown')
    return { refused: `${spec.name} cannot be asked who its members are`, allow: 'bring the other servers back first' }
  if (gone) {
    const known = view.servers.filter(({ member }) => member !== undefined).map((one) => one.name)
    return {
      refused: `${name} is no server of ${spec.name}`,
      allow: `name one of ${known.join(', ')}; an agent needs no word, croft takes it out when Git no longer names it`,
    }
  }
  if (!isSilent(node))
    return {
      refused: `${name} is not silent: ${whatAnswers(node)}`,
      allow: 'croft stops it by itself when it is to leave',
    }
  if (node.spec !== undefined && node.becomes === undefined && !isDue(view, node))
    return {
      refused: `Git declares ${name}, so it is to stay`,
      allow: `take it out of Git first, or run croft cluster replace ${spec.name} ${name}`,
    }
  const permit = mayLower(view, node, 'delete')
  if (!permit.allowed) return { refused: permit.reason, allow: permit.allow }
  const kube = kubeOf(node)
  const { voters, majority, up } = quorum(view.members)
  return {
    believed: [
      kube === undefined
        ? `The Node ${name} is gone`
        : `The Node ${name} is NotReady since ${new Date(kube.readySinceMs).toISOString()}`,
      ...(node.member === undefined ? [] : [`nobody sees its etcd member ${node.member.name || node.member.id} up`]),
      `${name} does not answer croft${node.silence === undefined ? '' : `: ${node.silence}`}`,
      `without it ${up} of ${voters} voters are up, ${majority} are needed`,
    ],
    order: { node: name, atMs: nowMs, ...defined({ createdMs: kube?.createdMs, member: node.member?.id }) },
  }
}

/** Reports whether its machine, its kubelet and its etcd are all silent. */
function isSilent(node: NodeView): boolean {
  return localOf(node) === undefined && kubeOf(node)?.ready !== 'yes' && node.member?.up !== 'yes'
}

function whatAnswers(node: NodeView): string {
  if (localOf(node) !== undefined) return 'its machine answers croft'
  return node.member?.up === 'yes' ? 'its etcd answers the others' : 'its Node is Ready'
}

function isOf({ node, createdMs, member }: ForgetOrder, view: NodeView): boolean {
  if (node !== view.name) return false
  if (view.member !== undefined) return member === view.member.id
  return createdMs !== undefined && kubeOf(view)?.createdMs === createdMs
}

/** Only if Git removed it: a declared server follows its own policy. */
function silentSince({ observed, nowMs }: ClusterSituation, node: NodeView): number | undefined {
  if (node.spec !== undefined || node.unclaimed === true || observed.api !== 'yes' || isSpeaking(node)) return undefined
  const sinceMs = kubeOf(node)?.readySinceMs
  // Its machine may have answered croft after its kubelet fell silent.
  return sinceMs === undefined ? undefined : Math.max(sinceMs, nowMs - (node.unheardMs ?? Number.POSITIVE_INFINITY))
}

/** Its kubelet still says something, be it that it is not Ready: how long it has not been Ready is then no silence. */
export function isSpeaking(node: NodeView): boolean {
  const kube = kubeOf(node)
  return kube?.ready !== 'no' || !/^NodeStatus(Unknown|NeverUpdated)$/.test(kube.readyReason ?? '')
}

function evictAfterMs({ remediation }: ClusterSpec): number {
  return remediation.evictAfterMs ?? LIMITS.evictUndeclaredMs
}

function hours(ms: number): string {
  return `${Math.floor(ms / 3_600_000)} h`
}

import { LIMITS } from '../../lib/limits.ts'
import type { ClusterHold } from '../../model/observed-cluster.ts'
import { arrivalOf } from './arrival.ts'
import { type ClusterFinding, firstOf, holdFor, merge, NOTHING, permitted, stepOn } from './finding.ts'
import { isSpeaking } from './forget.ts'
import { keptForItsData } from './node-data.ts'
import { isDue } from './orders.ts'
import { type MayLower, mayLower } from './quorum.ts'
import { removalTrapped } from './release-trap.ts'
import { departure } from './replace.ts'
import { awaitsCni, type ClusterSituation, kubeOf, localOf, type NodeView, sleeps } from './view.ts'

/**
 * Replaces dead nodes: one at a time, at most one server and one agent per hour, and none while too many are unhealthy
 * at once, since then the cause is elsewhere.
 */
export function remediation(view: ClusterSituation, nodes: readonly NodeView[]): ClusterFinding {
  const dead = nodes.filter((node) => isDead(view, node) && !isDue(view, node) && nothingElseHelps(view, node))
  if (dead.length === 0) return NOTHING
  const brake = braked(view)
  if (brake !== undefined) return holdFor(brake)
  const kept = dead.flatMap((node) => keptForItsData(view, node, whyDead(view, node)) ?? [])
  const going = dead.filter(({ name }) => !kept.some(({ node }) => node === name))
  const held = unwanted(view, going)
  const next =
    held === undefined
      ? firstOf(going.map((node) => () => departure(view, node, 'remediate', whyDead(view, node))))
      : holdFor(held)
  return merge([...kept.map(holdFor), next])
}

/** Removes the votes of servers that were away for longer than the policy allows; their machines stay. */
export function eviction(view: ClusterSituation): ClusterFinding {
  const { evictAfterMs } = view.spec.remediation
  if (evictAfterMs === undefined || view.observed.api !== 'yes') return NOTHING
  const away = view.servers.filter((node) => {
    const kube = kubeOf(node)
    // That croft does not reach it at the moment is no absence while its kubelet speaks: its etcd may vote.
    if (node.member?.up === 'unknown' && isSpeaking(node)) return false
    return kube !== undefined && isAway(view, node) && view.nowMs - kube.readySinceMs >= evictAfterMs
  })
  return firstOf(away.map((node) => () => evict(view, node)))
}

function evict(view: ClusterSituation, node: NodeView): ClusterFinding {
  const trapped = node.member === undefined ? undefined : removalTrapped(view, node)
  if (trapped !== undefined) return holdFor(trapped)
  const answer = mayLower(view, node, 'remove-member')
  return permitted(answer, node.name, (permit) => evicted(view, node, permit))
}

function evicted(view: ClusterSituation, node: NodeView, permit: MayLower): ClusterFinding {
  const reason = `${node.name} has been away for longer than remediation.evictAfter allows`
  if (node.member === undefined) {
    return stepOn(view, node, 'delete-node', {
      summary: `delete the Node ${node.name}`,
      reason,
      awaits: `no Node ${node.name}`,
    })
  }
  const { id, name } = node.member
  return stepOn(
    view,
    node,
    'remove-member',
    {
      member: id,
      summary: `take the vote of ${node.name}`,
      reason,
      awaits: `etcd without ${name || id}`,
    },
    permit,
  )
}

/** Reports whether the node is unhealthy without a known reason, such as sleep, a missing network, or croft's work. */
export function isUnwell(view: ClusterSituation, node: NodeView): boolean {
  const kube = kubeOf(node)
  if (node.spec === undefined || kube === undefined || sleeps(node)) return false
  return kube.ready === 'no' && !awaitsCni(view, node)
}

/** Reports whether it goes up and down too often to trust either state. */
export function isFlapping(node: NodeView): boolean {
  return (kubeOf(node)?.readyChanges ?? 0) > LIMITS.readyChangesPerHour
}

/** Returns how many nodes may be unhealthy at once before replacements stop. */
export function brakeLimit(nodes: number, brake: { readonly nodes: number; readonly percent: number }): number {
  return Math.max(brake.nodes, Math.floor((nodes * brake.percent) / 100))
}

/** Reports whether the node was down without a break for the whole time: each recovery resets the time. */
function isDead(view: ClusterSituation, node: NodeView): boolean {
  const kube = kubeOf(node)
  if (!view.spec.remediation.enabled || kube === undefined) return false
  return isAway(view, node) && view.nowMs - kube.readySinceMs >= view.spec.remediation.deadAfterMs
}

/** Unready, and for a server also out of etcd: one witness of two is not enough. */
function isAway(view: ClusterSituation, node: NodeView): boolean {
  return isUnwell(view, node) && (node.role === 'agent' || node.member?.up !== 'yes')
}

/** Reports whether no work is under way and neither a start nor a cleanup can bring the node back. */
function nothingElseHelps(view: ClusterSituation, node: NodeView): boolean {
  if (kubeOf(node)?.work !== undefined) return false
  const local = localOf(node)
  const starts = local?.service === 'starting' || local?.service === 'running'
  if (starts && view.nowMs - local.sinceMs < LIMITS.clusterJoinMs) return false
  const arrival = arrivalOf(view, node)
  if (arrival.is !== 'busy') return arrival.is === 'in'
  const { steps, refusals } = arrival.finding
  return refusals.length === 0 && steps.every(({ verb }) => verb === 'rewrite-k3s' && node.tried.includes(verb))
}

function braked(view: ClusterSituation): ClusterHold | undefined {
  const declared = [...view.servers, ...view.agents].filter((node) => node.spec !== undefined && !sleeps(node))
  const unwell = declared.filter((node) => isUnwell(view, node))
  const limit = brakeLimit(declared.length, view.spec.remediation.brake)
  if (unwell.length <= limit) return undefined
  return {
    guard: 'brake',
    reason: `${unwell.length} of ${declared.length} nodes are unwell at once (${unwell.map(({ name }) => name).join(', ')}), more than the ${limit} that may be replaced`,
    allow: 'find what they have in common, or raise remediation.brake',
  }
}

function unwanted(view: ClusterSituation, dead: readonly NodeView[]): ClusterHold | undefined {
  const [first] = dead
  if (first === undefined) return undefined
  const busy = dead.find((node) => kubeOf(node)?.unschedulable === true)
  if (busy !== undefined) {
    return {
      node: busy.name,
      guard: 'somebody-at-work',
      reason: `${busy.name} is dead, and was cordoned by a person`,
      allow: `uncordon it, or run croft cluster replace ${view.spec.name} ${busy.name}`,
    }
  }
  const pool = first.role === 'server' ? view.servers : view.agents
  const { pauseMs } = view.spec.remediation
  const last = Math.max(0, ...pool.map(({ remediation: begun }) => begun?.atMs ?? 0))
  if (view.nowMs - last >= pauseMs) return undefined
  return {
    node: first.name,
    guard: 'pause',
    reason: `${first.name} is dead, and another ${first.role} was replaced less than ${Math.round(pauseMs / 60_000)} min ago`,
    allow: `wait until ${new Date(last + pauseMs).toISOString()}, or run croft cluster replace ${view.spec.name} ${first.name}`,
  }
}

function whyDead(view: ClusterSituation, node: NodeView): string {
  const kube = kubeOf(node)
  const minutes = Math.round((view.nowMs - (kube?.readySinceMs ?? view.nowMs)) / 60_000)
  return `${node.name} has been NotReady for ${minutes} min${kube?.readyReason === undefined ? '' : ` (${kube.readyReason})`}`
}

import type { KubeNode, NodeWork } from '../../model/observed-cluster.ts'
import { type ClusterFinding, holdFor, merge, NOTHING, stepOn, waitFor } from './finding.ts'
import type { ClusterSituation, NodeView } from './view.ts'

/**
 * Evicts the pods of a marked node, as far as its policy allows. Empty if none is left. Each pass evicts what may be
 * evicted at that moment: croft never waits inside a drain.
 */
export function drained(view: ClusterSituation, node: NodeView, kube: KubeNode, work: NodeWork): ClusterFinding {
  if (kube.podsToMove === 0) return NOTHING
  const { timeoutMs, onTimeout } = view.spec.upgrade.drain
  // Pods cannot leave a node that is away: its time counts from its return.
  const untilMs = Math.max(work.sinceMs, kube.ready === 'yes' ? kube.readySinceMs : 0) + timeoutMs
  const late = view.nowMs >= untilMs
  if (kube.podsToMove === 'unknown') {
    return waitFor({ node: node.name, awaits: `the pods of ${node.name} to be seen`, sinceMs: work.sinceMs, untilMs })
  }
  const left = `${kube.podsToMove} pod${kube.podsToMove === 1 ? '' : 's'} left`
  const blocked = kube.drainBlockedBy === undefined ? '' : `: ${kube.drainBlockedBy}`
  if (late && onTimeout === 'abort') {
    return stepOn(view, node, 'uncordon', {
      givenUp: work.target,
      summary: `give ${node.name} back: its drain ran out of time`,
      reason: `${left} on ${node.name} after ${minutes(timeoutMs)}${blocked}`,
      awaits: `${node.name} without our mark`,
      sinceMs: work.sinceMs,
    })
  }
  const force = late && onTimeout === 'force'
  // The forced eviction had the same time again and the pods stay: repeating it is useless.
  if (force && view.nowMs >= untilMs + timeoutMs) {
    return holdFor({
      node: node.name,
      guard: 'drain',
      reason: `${left} on ${node.name}, ${minutes(timeoutMs)} after croft began to delete what did not leave${blocked}`,
      allow: `see what keeps them (kubectl get pods -A --field-selector spec.nodeName=${node.name}): a finalizer that nobody takes away, or a process that does not end`,
    })
  }
  const step = stepOn(view, node, 'drain', {
    ...(force ? { force } : {}),
    summary: force ? `delete the pods that do not leave ${node.name}` : `move pods away from ${node.name}`,
    reason: `${left} on ${node.name}${blocked}`,
    awaits: `no pod left to move on ${node.name}`,
    sinceMs: work.sinceMs,
    ...(late ? {} : { untilMs }),
  })
  if (!late || force) return step
  const hold = holdFor({
    node: node.name,
    guard: 'drain',
    reason: `${left} on ${node.name} after ${minutes(timeoutMs)}${blocked}`,
    allow: 'make room for them, or set upgrade.drain.onTimeout to force or abort',
  })
  return merge([step, hold])
}

function minutes(ms: number): string {
  return `${Math.round(ms / 60_000)} min`
}

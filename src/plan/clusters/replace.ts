import type { ClusterSpec, WorkPurpose } from '../../model/cluster.ts'
import { drained } from './drain.ts'
import {
  type ClusterFinding,
  holdFor,
  isEmpty,
  losingStep,
  merge,
  NOTHING,
  permitted,
  stepOn,
  waitFor,
} from './finding.ts'
import { believedDead, deadFrom } from './forget.ts'
import { type MayLower, mayLower } from './quorum.ts'
import { removalTrapped } from './release-trap.ts'
import { type ClusterSituation, isKept, kubeOf, localOf, type NodeView } from './view.ts'

/** Returns what croft will do, for the person who orders it. Only a server is a member of etcd. */
export function replacementSaid(spec: ClusterSpec, node: string): string {
  const member = spec.servers.some(({ name }) => name === node) ? 'removed from etcd, ' : ''
  return `${node} will be replaced: cordoned, drained, ${member}recreated, joined`
}

/**
 * Returns the next step of a leaving node: mark and cordon, drain, stop, remove its etcd member, delete its Node and
 * password, destroy its machine (or wipe a box). Computed from the observation alone, so it does not matter where the
 * last attempt ended. Empty if nothing of the node is left.
 */
export function departure(
  view: ClusterSituation,
  node: NodeView,
  purpose: WorkPurpose,
  because: string,
): ClusterFinding {
  const dead = believedDead(view, node)
  const reason = dead === undefined ? because : `${because}; ${dead}`
  if (view.observed.api !== 'yes' || node.kube === 'unknown' || view.members === 'unknown') {
    return holdFor({
      node: node.name,
      guard: 'api',
      reason: `${node.name} is to leave (${reason}), and the cluster cannot be asked`,
      allow: 'wait until its API answers',
    })
  }
  const { mayNotGo } = node.machine
  if (purpose === 'remove' && mayNotGo !== undefined)
    return holdFor({
      node: node.name,
      guard: mayNotGo.guard,
      reason: `${node.name} stays (${reason}): its machine may not go`,
      allow: `what the plan says at ${mayNotGo.key}`,
    })
  const alive = leavesAlive(view, node)
  return permitted(
    mayLower(view, node, alive ? 'remove-live' : purpose === 'remove' ? 'delete' : 'replace'),
    node.name,
    (permit) =>
      marked(view, node, purpose, reason) ??
      emptied(view, node) ??
      (alive ? removeMember(view, node, reason, permit) : undefined) ??
      stopped(view, node, reason, permit) ??
      removeMember(view, node, reason, permit) ??
      outOfKubernetes(view, node, reason) ??
      offTheMachine(view, node, reason, permit),
  )
}

/** Removes the etcd member, Node or Secret of a node whose machine holds nothing of it any longer. */
export function remains(view: ClusterSituation, node: NodeView, reason: string): ClusterFinding {
  if (seemsWell(node)) {
    const hold = holdFor({
      node: node.name,
      guard: 'contradiction',
      reason: `${node.name} looks healthy in the cluster, but ${reason}`,
      allow: 'look again; if it stays so, see which machine answers under this name',
    })
    // Usually the cluster has not noticed yet: a silent Node stays Ready for most of a minute.
    const wait = { node: node.name, awaits: `the cluster to notice that ${node.name} is gone`, sinceMs: view.nowMs }
    return merge([waitFor(wait), hold])
  }
  return permitted(
    mayLower(view, node, 'remove-member'),
    node.name,
    (permit) => removeMember(view, node, reason, permit) ?? outOfKubernetes(view, node, reason) ?? NOTHING,
  )
}

/** Reports whether a server seems healthy: one whose etcd is certainly down is not, even if its Node is Ready. */
function seemsWell(node: NodeView): boolean {
  if (node.member?.up === 'yes') return true
  return kubeOf(node)?.ready === 'yes' && node.member?.up !== 'no'
}

/** Of two voters neither may stop first: reports whether this one's member must leave while its server runs. */
function leavesAlive(view: ClusterSituation, node: NodeView): boolean {
  if (view.members === 'unknown' || view.members.filter(({ learner }) => !learner).length !== 2) return false
  return node.member?.up === 'yes' && mayLower(view, node, 'remove-live').allowed
}

function marked(
  view: ClusterSituation,
  node: NodeView,
  purpose: WorkPurpose,
  reason: string,
): ClusterFinding | undefined {
  const kube = kubeOf(node)
  if (kube === undefined || (kube.work?.purpose === purpose && kube.unschedulable)) return undefined
  return stepOn(view, node, 'cordon', {
    purpose,
    target: purpose,
    summary: `mark and cordon ${node.name}`,
    reason,
    awaits: `our mark on ${node.name}`,
  })
}

/** Pods of an unreachable node cannot be evicted: they are deleted with the Node. */
function emptied(view: ClusterSituation, node: NodeView): ClusterFinding | undefined {
  const kube = kubeOf(node)
  if (kube?.work === undefined || kube.ready === 'no') return undefined
  const finding = drained(view, node, kube, kube.work)
  return isEmpty(finding) ? undefined : finding
}

function removeMember(
  view: ClusterSituation,
  node: NodeView,
  reason: string,
  permit: MayLower,
): ClusterFinding | undefined {
  const { member } = node
  if (member === undefined) return undefined
  const trapped = removalTrapped(view, node)
  if (trapped !== undefined) return holdFor(trapped)
  if (kubeOf(node)?.removedNameMark === true) {
    return stepOn(view, node, 'clear-removed-mark', {
      summary: `take the mark of an earlier removal off ${node.name}`,
      reason: 'with it K3s would leave the etcd member behind',
      awaits: `${node.name} without removed-node-name`,
    })
  }
  return stepOn(
    view,
    node,
    'remove-member',
    {
      member: member.id,
      summary: `remove the etcd member ${member.name || member.id}`,
      reason,
      awaits: `etcd without ${member.name || member.id}`,
    },
    permit,
  )
}

/** Stops a server before its removal: otherwise its API hangs, and it rejoins at its next start. */
function stopped(view: ClusterSituation, node: NodeView, reason: string, permit: MayLower): ClusterFinding | undefined {
  // A box that is no longer a node may run another cluster by now.
  const local = node.spec === undefined && !isKept(node) && !holdsOurs(view, node) ? undefined : localOf(node)
  const down =
    node.member === undefined ? node.role === 'agent' || kubeOf(node)?.ready !== 'yes' : node.member.up === 'no'
  const off = node.machine.power === 'off' || node.machine.exists === 'no'
  if (off || (local !== undefined ? notRunning(local.service) : down)) return undefined
  if (local !== undefined) {
    return stepOn(
      view,
      node,
      'stop-k3s',
      {
        summary: `stop K3s on ${node.name}`,
        reason,
        awaits: `K3s stopped on ${node.name}`,
      },
      permit,
    )
  }
  if (isKept(node) && node.machine.exists === 'yes') {
    return stepOn(
      view,
      node,
      'stop-machine',
      {
        summary: `stop the machine of ${node.name}, which does not answer`,
        reason,
        awaits: `the machine of ${node.name} off`,
      },
      permit,
    )
  }
  if (believedDead(view, node) !== undefined) return undefined
  const untilMs = deadFrom(view, node)
  const itself =
    untilMs === undefined ? '' : `; croft takes it for dead at ${new Date(untilMs).toISOString()} if it stays silent`
  return holdFor({
    node: node.name,
    guard: 'unreachable',
    reason: `${node.name} is to leave (${reason}), may still run and cannot be reached to stop it`,
    allow: `stop K3s there, or switch it off; if it is dead, run croft cluster forget ${view.spec.name} ${node.name}${itself}`,
  })
}

/** Reports whether its disk holds data of this cluster. */
export function holdsOurs({ observed }: ClusterSituation, node: NodeView): boolean {
  const data = localOf(node)?.data
  return data !== undefined && data === observed.identity?.caHash
}

function notRunning(service: string): boolean {
  return service === 'absent' || service === 'stopped' || service === 'failed'
}

function outOfKubernetes(view: ClusterSituation, node: NodeView, reason: string): ClusterFinding | undefined {
  if (kubeOf(node) !== undefined) {
    return stepOn(view, node, 'delete-node', {
      summary: `delete the Node ${node.name}`,
      reason,
      awaits: `no Node ${node.name}`,
    })
  }
  if (node.passwordSecret === 'unknown') {
    return waitFor({
      node: node.name,
      awaits: `a report whether the node password of ${node.name} is gone`,
      sinceMs: view.nowMs,
    })
  }
  if (node.passwordSecret === 'no') return undefined
  return stepOn(view, node, 'delete-node-password', {
    summary: `delete the node password of ${node.name}`,
    reason: 'a new machine of this name would be rejected',
    awaits: `no Secret ${node.name}.node-password.k3s`,
  })
}

function offTheMachine(view: ClusterSituation, node: NodeView, reason: string, permit: MayLower): ClusterFinding {
  const { machine } = node
  if (machine.busy !== undefined) return waitFor({ node: node.name, awaits: machine.busy, sinceMs: view.nowMs })
  if (machine.exists === 'no') return NOTHING
  if (machine.exists === 'unknown') {
    return waitFor({ node: node.name, awaits: `a report of the machine of ${node.name}`, sinceMs: view.nowMs })
  }
  const because = node.spec === undefined ? 'removed' : 'ordered'
  if (isKept(node)) {
    return losingStep(
      view,
      node,
      'destroy-machine',
      {
        because,
        summary: `destroy the machine of ${node.name}`,
        reason,
        awaits: `no machine ${node.name}`,
      },
      permit,
    )
  }
  // A declared box that does not answer is wiped once it does.
  if (node.spec === undefined && !holdsOurs(view, node)) return NOTHING
  if (localOf(node)?.data === 'none') return NOTHING
  return losingStep(
    view,
    node,
    'wipe-k3s',
    {
      because,
      summary: `wipe K3s from ${node.name}`,
      reason,
      awaits: `no K3s data on ${node.name}`,
    },
    permit,
  )
}

import { LIMITS } from '../../lib/limits.ts'
import type { KubeNode, NodeWork } from '../../model/observed-cluster.ts'
import { drained } from './drain.ts'
import { type ClusterFinding, holdFor, isEmpty, permitted, stepOn, waitFor } from './finding.ts'
import { type MayLower, mayLower, mayStart } from './quorum.ts'
import type { WantedChange } from './rollout.ts'
import { awaitsCni, type ClusterSituation, isWell, kubeOf, localOf, type NodeView, sleeps } from './view.ts'

/**
 * Returns the next step on a node that carries croft's rollout mark: drain, change, wait until healthy, uncordon.
 * `wanted` is the change that is due now; the mark holds the change that was started.
 */
export function continueWork(
  view: ClusterSituation,
  node: NodeView,
  wanted: WantedChange | undefined,
): ClusterFinding | undefined {
  const kube = kubeOf(node)
  const work = kube?.work
  if (kube === undefined || work === undefined) return undefined
  if (work.purpose === 'restart') return restarting(view, node, kube, work)
  if (work.purpose !== 'upgrade' && work.purpose !== 'configure') return undefined
  if (node.machine.exists === 'yes' && node.machine.power === 'off' && !sleeps(node)) return poweredOn(view, node)
  if (hasArrived(view, node, kube, work)) return giveBack(view, node, 'it is healthy again')
  if (wanted === undefined || wanted.target !== work.target) {
    if (work.changedMs === undefined) return giveBack(view, node, 'the declaration wants something else now')
    if (wanted !== undefined) return begin(view, node, wanted, 'the declaration wants something else now')
  }
  return work.changedMs === undefined ? change(view, node, kube, work) : comingBack(view, node, work, work.changedMs)
}

/** Power failed during the work: the node can neither return nor continue until its machine is on. */
function poweredOn(view: ClusterSituation, node: NodeView): ClusterFinding {
  const { name } = node
  return permitted(mayStart(view, node), name, (permit) =>
    stepOn(
      view,
      node,
      'start-machine',
      {
        summary: `start the machine of ${name}`,
        reason: `${name} is off in the middle of croft's work on it`,
        awaits: `${name} booted, its agent answering`,
        untilMs: view.nowMs + LIMITS.machineBootMs,
      },
      permit,
    ),
  )
}

/** Restarts a machine for a change of the machine itself: drains it first, and uncordons it once it is healthy. */
function restarting(view: ClusterSituation, node: NodeView, kube: KubeNode, work: NodeWork): ClusterFinding {
  if (node.machine.wantsRestart !== undefined) return change(view, node, kube, work)
  // Its Node stays Ready for a while after the machine stopped: only the machine itself can prove its return.
  const runs = node.machine.busy === undefined && localOf(node)?.service === 'running'
  if (runs && isBack(view, node)) return giveBack(view, node, 'it is healthy again')
  // A person's resume gives it the same time again.
  const sinceMs = Math.max(work.sinceMs, view.observed.requests.resumedMs ?? 0)
  const untilMs = sinceMs + view.spec.upgrade.drain.timeoutMs + view.spec.upgrade.nodeTimeoutMs
  if (view.nowMs < untilMs) {
    return waitFor({ node: node.name, awaits: `${node.name} Ready after its restart`, sinceMs, untilMs })
  }
  return holdFor({
    node: node.name,
    guard: 'halted',
    reason: `${node.name} did not come back after its machine was restarted for ${work.target}; no other node is touched`,
    allow: `fix it and run croft cluster upgrade ${view.spec.name} --resume, or croft cluster replace ${view.spec.name} ${node.name}`,
  })
}

/** Puts croft's mark on a node: from here on croft changes no other node. */
export function begin(view: ClusterSituation, node: NodeView, wanted: WantedChange, reason: string): ClusterFinding {
  return stepOn(view, node, 'cordon', {
    ...wanted,
    summary: `mark and cordon ${node.name}`,
    reason,
    awaits: `our mark on ${node.name}`,
  })
}

/** Removes croft's mark; uncordons the node if croft cordoned it. */
export function giveBack(view: ClusterSituation, node: NodeView, reason: string): ClusterFinding {
  return stepOn(view, node, 'uncordon', {
    summary: `remove croft's mark from ${node.name}`,
    reason,
    awaits: `${node.name} without our mark`,
  })
}

function change(view: ClusterSituation, node: NodeView, kube: KubeNode, work: NodeWork): ClusterFinding {
  const silent = unreachable(view, node, work)
  if (silent !== undefined) return silent
  if (!kube.unschedulable) {
    const purpose = work.purpose === 'configure' || work.purpose === 'restart' ? work.purpose : 'upgrade'
    const wanted = { purpose, target: work.target } as const
    return begin(view, node, wanted, 'somebody uncordoned it in the middle of our work')
  }
  const draining = drained(view, node, kube, work)
  return isEmpty(draining) ? takeDown(view, node, work) : draining
}

/** Work on a node continues only once the node answers. */
function unreachable(view: ClusterSituation, node: NodeView, work: NodeWork): ClusterFinding | undefined {
  if (kubeOf(node)?.ready !== 'no' || localOf(node) !== undefined) return undefined
  const because = node.silence === undefined ? '' : `: ${node.silence}`
  return holdFor({
    node: node.name,
    guard: 'unreachable',
    reason: `${node.name} is marked for its ${work.purpose} to ${work.target}, is NotReady and answers nobody${because}`,
    allow: `bring it back, and croft goes on; or run croft cluster replace ${view.spec.name} ${node.name}`,
  })
}

function takeDown(view: ClusterSituation, node: NodeView, work: NodeWork): ClusterFinding {
  const answer = mayLower(view, node, 'upgrade', view.spec.allow)
  return permitted(answer, node.name, (permit) => takenDown(view, node, work, permit))
}

function takenDown(view: ClusterSituation, node: NodeView, work: NodeWork, permit: MayLower): ClusterFinding {
  const untilMs = view.nowMs + view.spec.upgrade.nodeTimeoutMs
  if (work.purpose === 'restart') {
    return stepOn(
      view,
      node,
      'restart-machine',
      {
        summary: `restart the machine of ${node.name}`,
        reason: `${node.machine.wantsRestart} comes into force with it`,
        awaits: `${node.name} Ready after its restart`,
        sinceMs: work.sinceMs,
        untilMs,
      },
      permit,
    )
  }
  if (work.purpose === 'configure') {
    return stepOn(
      view,
      node,
      'configure-k3s',
      {
        target: work.target,
        summary: `write the configuration of ${node.name} and restart K3s`,
        reason: 'its flags are not as declared',
        awaits: `${node.name} Ready with the declared flags`,
        sinceMs: work.sinceMs,
        untilMs,
      },
      permit,
    )
  }
  return stepOn(
    view,
    node,
    'upgrade-k3s',
    {
      version: work.target,
      summary: `upgrade ${node.name} to ${work.target}`,
      reason: `${node.name} runs ${kubeOf(node)?.version}`,
      awaits: `${node.name} Ready with ${work.target}`,
      sinceMs: work.sinceMs,
      untilMs,
    },
    permit,
  )
}

/** The node was changed and is not healthy yet. After its deadline the rollout halts here until a person resumes it. */
function comingBack(view: ClusterSituation, node: NodeView, work: NodeWork, changedMs: number): ClusterFinding {
  const untilMs = changedMs + view.spec.upgrade.nodeTimeoutMs
  const resumed = (view.observed.requests.resumedMs ?? 0) > changedMs
  if (view.nowMs >= untilMs && !resumed) {
    const back =
      work.purpose === 'upgrade'
        ? `croft cluster replace ${view.spec.name} ${node.name}, or croft cluster restore ${view.spec.name} with the snapshot from before`
        : `take the change of flags back in Git, or run croft cluster replace ${view.spec.name} ${node.name}`
    return holdFor({
      node: node.name,
      guard: 'halted',
      reason: `${node.name} did not come back within ${Math.round(view.spec.upgrade.nodeTimeoutMs / 60_000)} min after its ${work.purpose} to ${work.target}; no other node is touched`,
      allow: `fix it and run croft cluster upgrade ${view.spec.name} --resume; to go back: ${back}`,
    })
  }
  if (resumed || hasNotHappened(node, work)) return unreachable(view, node, work) ?? takeDown(view, node, work)
  return waitFor({ node: node.name, awaits: `${node.name} Ready with ${work.target}`, sinceMs: changedMs, untilMs })
}

/** Reports whether the change was noted and never made, after a crash in between. */
function hasNotHappened(node: NodeView, work: NodeWork): boolean {
  const local = localOf(node)
  if (local === undefined || local.service === 'starting') return false
  if (work.purpose === 'upgrade') return local.version !== work.target
  // Its file is written, and K3s dies because of it: a repetition does not help.
  if (local.service === 'failed') return local.configHash !== work.target
  return local.sinceMs < (work.changedMs ?? 0) || local.service !== 'running'
}

function hasArrived(view: ClusterSituation, node: NodeView, kube: KubeNode, work: NodeWork): boolean {
  if (work.changedMs === undefined && work.purpose === 'configure') return false
  const at = work.purpose === 'upgrade' ? kube.version : kube.configHash
  const local = localOf(node)
  if (at !== work.target || (local !== undefined && local.service !== 'running')) return false
  // The change is noted before the restart, and systemd reports "active" until K3s has stopped: only a start since then
  // uses the new configuration.
  if (work.purpose === 'configure' && local !== undefined && local.sinceMs < (work.changedMs ?? 0)) return false
  return isBack(view, node)
}

function isBack(view: ClusterSituation, node: NodeView): boolean {
  return isWell(node) || (awaitsCni(view, node) && (node.role === 'agent' || node.member?.up === 'yes'))
}

import { LIMITS } from '../../lib/limits.ts'
import {
  type ClusterDecision,
  type ClusterPhase,
  isUnderWay,
  type KubeNode,
  type NodePhase,
  type NodeWork,
} from '../../model/observed-cluster.ts'
import { arrivalOf } from './arrival.ts'
import type { ClusterFinding } from './finding.ts'
import { quorumLost } from './quorum-lost.ts'
import { isFlapping } from './remediate.ts'
import {
  awaitsCni,
  type ClusterSituation,
  isIn,
  isRemnant,
  isWell,
  kubeOf,
  localOf,
  type NodeView,
  sleeps,
} from './view.ts'

/** A new Node is not Ready for this time at first; a later change counts as news. */
const FIRST_WORD_MS = 10_000

type NodeRow = ClusterDecision['nodes'][number]

/** Returns a phase for each node, with a sentence if the phase is not enough. */
export function nodeRows(view: ClusterSituation): readonly NodeRow[] {
  return [...view.servers, ...view.agents].map((node) => {
    const [phase, message] = nodePhase(view, node)
    return { name: node.name, phase, message }
  })
}

/** Returns the phase of the cluster. */
export function clusterPhase(
  view: ClusterSituation,
  finding: ClusterFinding,
  upgrading: boolean,
  rows: readonly NodeRow[],
): ClusterPhase {
  const { hold } = view.observed.requests
  if (hold?.power !== undefined) return hold.power === 'off' ? 'Off' : 'Changing'
  // A restore or rotation is running: it set this hold itself.
  if (isUnderWay(hold?.operation, view.nowMs)) return 'Changing'
  const guards = [...finding.holds, ...finding.refusals].map(({ guard }) => guard)
  if (hold !== undefined || guards.includes('ghost-member')) return 'Blocked'
  if (quorumLost(view)) return 'QuorumLost'
  if (!view.formed) return 'Forming'
  // Formation has started and the API has never answered yet: no user depends on it.
  if (view.observed.api !== 'yes') return view.observed.identity?.formed === false ? 'Forming' : 'Unknown'
  const declared = rows.filter(({ name }) => isDeclared(view, name))
  const all = (...phases: readonly NodePhase[]) => declared.every(({ phase }) => phases.includes(phase))
  if (upgrading || nodesUnder(view, 'upgrade')) return 'Upgrading'
  if (finding.steps.length > 0 || rows.some(({ phase }) => phase === 'Leaving' || phase === 'Working'))
    return 'Changing'
  // A changed flag that waits for the soak of the previous node does not apply to all nodes yet.
  if (finding.waits.some(({ soak }) => soak === true)) return 'Changing'
  if (all('Ready', 'Soaking', 'PoweredOff')) return 'Ready'
  if (all('Ready', 'Soaking', 'PoweredOff', 'AwaitingCNI')) return 'AwaitingCNI'
  if (all('Ready', 'Soaking', 'PoweredOff', 'AwaitingCNI', 'Booting', 'Waiting', 'Joining', 'Learner'))
    return 'Changing'
  return 'Degraded'
}

function nodePhase(view: ClusterSituation, node: NodeView): readonly [NodePhase, string] {
  const kube = kubeOf(node)
  if (node.twins.length > 0) return ['Duplicate', `same machine-id as ${node.twins.join(', ')}`]
  if (sleeps(node)) return ['PoweredOff', 'off, as it may be']
  if (view.observed.requests.hold?.power === 'off') return ['PoweredOff', 'off, on request']
  if (node.spec === undefined) return ['Leaving', 'no longer declared']
  const operation = operationPhase(view, node)
  if (operation !== undefined) return operation
  if (node.machine.exists === 'no') return ['NoMachine', 'its machine does not exist']
  if (kube?.work !== undefined) {
    const leaves = !['upgrade', 'configure', 'restart'].includes(kube.work.purpose)
    return leaves ? ['Leaving', `${kube.work.purpose} to ${kube.work.target}`] : ['Working', workWords(kube.work)]
  }
  if (isIn(node) && kube !== undefined) return inPhase(view, node)
  const unseen = unseenPhase(view, node)
  if (unseen !== undefined) return unseen
  const arrival = arrivalOf(view, node)
  switch (arrival.is) {
    case 'ready-to-join':
      return ['Waiting', 'ready to join']
    case 'joining':
      return [node.member?.learner === true ? 'Learner' : 'Joining', awaited(arrival.finding)]
    case 'busy': {
      const stale = arrival.finding.refusals.find(({ guard }) => guard === 'stale-state' || guard === 'disk-away')
      if (stale !== undefined) return ['StaleState', stale.reason]
      const lives = arrival.finding.refusals.find(({ guard }) => guard === 'live-cluster')
      if (lives !== undefined) return ['Unrecorded', lives.reason]
      if (node.kube === 'unknown') return ['Unknown', awaited(arrival.finding)]
      return ['Booting', awaited(arrival.finding)]
    }
    case 'in':
    case 'asleep':
      return ['Unknown', '']
  }
}

/** While a command works on the cluster, a node's state results from that command. */
function operationPhase(view: ClusterSituation, node: NodeView): readonly [NodePhase, string] | undefined {
  const operation = view.observed.requests.hold?.operation
  if (!isUnderWay(operation, view.nowMs)) return undefined
  if (operation.node === node.name) return ['Working', operation.summary]
  const service = localOf(node)?.service
  if (service === 'stopped' || service === 'absent') return ['Waiting', 'K3s is stopped until its turn comes']
  return isIn(node) && isWell(node) ? undefined : ['Waiting', operation.name]
}

/**
 * While a formed cluster does not answer, its members are unknown: a running node is not joining, and a node that
 * nothing reports is not booting.
 */
function unseenPhase(view: ClusterSituation, node: NodeView): readonly [NodePhase, string] | undefined {
  const { api, identity } = view.observed
  if (api === 'yes' || identity?.formed !== true || node.kube !== 'unknown') return undefined
  if (isSilent(node)) return ['Unknown', 'nothing is seen of its machine']
  if (node.machine.power === 'off') return ['NotReady', 'its machine is off']
  const local = localOf(node)
  const runs = local?.service === 'running' || local?.service === 'starting'
  if (!runs || local.data !== identity.caHash) return undefined
  return ['Unknown', diesOf(node) ?? 'K3s runs on it, and the API does not answer']
}

/** Returns the error with which K3s fails at each start. It explains more than its silent kubelet. */
function diesOf(node: NodeView): string | undefined {
  const local = localOf(node)
  if (local?.failure === undefined || (local.service !== 'starting' && local.service !== 'failed')) return undefined
  return `K3s does not start: ${local.failure}`
}

function workWords({ purpose, target }: NodeWork): string {
  if (purpose === 'upgrade') return `upgrade to ${target}`
  return purpose === 'configure' ? 'restarted with changed settings' : `its machine is restarted for ${target}`
}

function nodesUnder(view: ClusterSituation, purpose: NodeWork['purpose']): boolean {
  return [...view.servers, ...view.agents].some((node) => kubeOf(node)?.work?.purpose === purpose)
}

function inPhase(view: ClusterSituation, node: NodeView): readonly [NodePhase, string] {
  const kube = kubeOf(node)
  const why = diesOf(node) ?? kube?.readyMessage ?? kube?.readyReason ?? ''
  if (kube === undefined || kube.ready === 'unknown') return ['Unknown', '']
  if (isRemnant(node)) return ['Booting', 'its machine is new, and the Node is of the former one']
  if (node.member?.learner === true) return ['Learner', 'not yet a voter']
  if (awaitsCni(view, node)) return ['AwaitingCNI', 'waits for its network plugin']
  if (isFlapping(node)) return ['Flapping', `${kube.readyChanges} changes within the hour`]
  if (kube.ready === 'no') return isNew(view, kube) ? ['Joining', why] : ['NotReady', why]
  if (!isWell(node) && node.member?.up === 'unknown') {
    if (isSilent(node))
      return ['Unknown', 'its machine does not answer, and its etcd member has not been seen to be up']
    const young = view.nowMs - kube.createdMs < LIMITS.clusterJoinMs
    return [young ? 'Joining' : 'Unknown', 'its etcd member has not been seen to be up']
  }
  if (!isWell(node)) return ['NotReady', 'its etcd member is down']
  const soaks =
    kube.changedMs !== undefined && Math.max(kube.changedMs, kube.readySinceMs) + view.spec.upgrade.soakMs > view.nowMs
  return soaks ? ['Soaking', ''] : ['Ready', '']
}

/** Reports whether the state of a VM is unknown, since its host is off or cut off. A box has no hypervisor. */
function isSilent({ machine }: NodeView): boolean {
  return machine.exists === 'unknown' || (machine.ours && machine.power === 'unknown')
}

/** Reports whether the node registered and was never Ready: it is joining, not ill or silent. */
function isNew(view: ClusterSituation, { createdMs, readySinceMs, readyReason }: KubeNode): boolean {
  if (readyReason === 'NodeStatusUnknown') return false
  return readySinceMs - createdMs < FIRST_WORD_MS && view.nowMs - createdMs < LIMITS.clusterJoinMs
}

function awaited(finding: ClusterFinding): string {
  return finding.waits[0]?.awaits ?? finding.steps[0]?.summary ?? finding.holds[0]?.reason ?? ''
}

function isDeclared(view: ClusterSituation, name: string): boolean {
  return [...view.spec.servers, ...view.spec.agents].some((node) => node.name === name)
}

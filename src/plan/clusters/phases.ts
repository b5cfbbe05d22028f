import { LIMITS } from '../../lib/limits.ts'
import type { ClusterDecision, ClusterPhase, KubeNode, NodePhase } from '../../model/observed-cluster.ts'
import { arrivalOf } from './arrival.ts'
import type { ClusterFinding } from './finding.ts'
import { quorumLost } from './quorum-lost.ts'
import { isFlapping } from './remediate.ts'
import { awaitsCni, type ClusterSituation, isIn, isRemnant, isWell, kubeOf, type NodeView, sleeps } from './view.ts'

/** A Node says that it is not Ready within this time of its coming; what changes later is news. */
const FIRST_WORD_MS = 10_000

type NodeRow = ClusterDecision['nodes'][number]

/** One word for each node, with a sentence where the word is not enough. */
export function nodeRows(view: ClusterSituation): readonly NodeRow[] {
  return [...view.servers, ...view.agents].map((node) => {
    const [phase, message] = nodePhase(view, node)
    return { name: node.name, phase, message }
  })
}

/** One word for the cluster. */
export function clusterPhase(
  view: ClusterSituation,
  finding: ClusterFinding,
  upgrading: boolean,
  rows: readonly NodeRow[],
): ClusterPhase {
  const { hold } = view.observed.requests
  if (hold?.power !== undefined) return hold.power === 'off' ? 'Off' : 'Changing'
  const guards = [...finding.holds, ...finding.refusals].map(({ guard }) => guard)
  if (hold !== undefined || guards.includes('ghost-member')) return 'Blocked'
  if (quorumLost(view)) return 'QuorumLost'
  if (!view.formed) return 'Forming'
  // Begun, and never answered yet: nobody misses it.
  if (view.observed.api !== 'yes') return view.observed.identity?.formed === false ? 'Forming' : 'Unknown'
  const declared = rows.filter(({ name }) => isDeclared(view, name))
  const all = (...phases: readonly NodePhase[]) => declared.every(({ phase }) => phases.includes(phase))
  if (upgrading || rows.some(({ phase }) => phase === 'Working')) return 'Upgrading'
  if (finding.steps.length > 0 || rows.some(({ phase }) => phase === 'Leaving')) return 'Changing'
  // A changed flag that waits for the soak of the node before it is not in force yet.
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
  if (node.machine.exists === 'no') return ['NoMachine', '']
  if (kube?.work !== undefined) {
    const leaves = !['upgrade', 'configure', 'restart'].includes(kube.work.purpose)
    return [leaves ? 'Leaving' : 'Working', `${kube.work.purpose} to ${kube.work.target}`]
  }
  if (isIn(node) && kube !== undefined) return inPhase(view, node)
  const arrival = arrivalOf(view, node)
  switch (arrival.is) {
    case 'ready-to-join':
      return ['Waiting', 'ready to join']
    case 'joining':
      return [node.member?.learner === true ? 'Learner' : 'Joining', awaited(arrival.finding)]
    case 'busy': {
      const stale = arrival.finding.refusals.find(({ guard }) => guard === 'stale-state')
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

function inPhase(view: ClusterSituation, node: NodeView): readonly [NodePhase, string] {
  const kube = kubeOf(node)
  const why = kube?.readyMessage ?? kube?.readyReason ?? ''
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

/** A machine of ours whose hypervisor cannot say that it runs: its host is off or cut off. A box has no hypervisor. */
function isSilent({ machine }: NodeView): boolean {
  return machine.exists === 'unknown' || (machine.ours && machine.power === 'unknown')
}

/** It has registered and was never Ready yet: still on its way in, not ill. One that fell silent is not on its way. */
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

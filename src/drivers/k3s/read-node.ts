import { parseNodeArgs } from '../../k3s/flags.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  labelsOf,
  nameOf,
  objectName,
  recordsOf,
  textOf,
  textsOf,
  timeOf,
} from '../../kubernetes/objects.ts'
import type { NodeRole } from '../../model/cluster.ts'
import type { KubeNode, YesNoUnknown } from '../../model/observed-cluster.ts'
import { K3S_MARKS, MARKS, readGivenUp, readTime, readWork } from './marks.ts'
import { optional } from './optional.ts'

/** What a Node object says, as far as it concerns the cluster's life. */
export interface NodeSeen {
  readonly name: string
  readonly role: NodeRole
  readonly kube: KubeNode
  /** Name of its etcd member. */
  readonly etcdName?: string
  /** What the leader of etcd says about its member. */
  readonly voter: 'voter' | 'learner' | 'unhealthy' | 'not-a-member' | 'unknown'
  readonly machineId?: string
  readonly architecture?: string
}

export function readNode(object: Foreign): NodeSeen | undefined {
  const name = objectName(object)
  if (name === undefined) return undefined
  const annotations = annotationsOf(object)
  const labels = labelsOf(object)
  const conditions = recordsOf(at(object, 'status', 'conditions'))
  const ready = conditions.find(({ type }) => type === 'Ready')
  const createdMs = timeOf(at(object, 'metadata', 'creationTimestamp')) ?? 0
  const work = readWork(annotations.get(MARKS.work))
  const changedMs = work?.changedMs ?? readTime(annotations.get(MARKS.changed))
  const givenUp = readGivenUp(annotations.get(MARKS.givenUp))
  const args = parseNodeArgs(annotations.get(K3S_MARKS.args) ?? '')
  const machineId = nameOf(at(object, 'status', 'nodeInfo', 'machineID'))
  const etcdName = nameOf(annotations.get(K3S_MARKS.etcdName))
  const server = [...labels.keys()].some((label) =>
    /^node-role\.kubernetes\.io\/(control-plane|etcd|master)$/.test(label),
  )
  const kube: KubeNode = {
    createdMs,
    ready: readyOf(ready),
    readySinceMs: timeOf(ready?.lastTransitionTime) ?? createdMs,
    version: nameOf(at(object, 'status', 'nodeInfo', 'kubeletVersion')) ?? '',
    unschedulable: at(object, 'spec', 'unschedulable') === true,
    podsToMove: 'unknown',
    podCidrs: textsOf(at(object, 'spec', 'podCIDRs')),
    internalIps: recordsOf(at(object, 'status', 'addresses')).flatMap(({ type, address }) =>
      type === 'InternalIP' ? (textOf(address) ?? []) : [],
    ),
    ...optional('readyReason', textOf(ready?.reason)),
    ...optional('readyMessage', textOf(ready?.message)),
    ...optional('work', work),
    ...optional('changedMs', changedMs),
    ...optional('drainGivenUp', givenUp),
    ...optional('removedNameMark', annotations.has(K3S_MARKS.removedName) ? true : undefined),
    ...optional('args', args),
    ...optional('configHash', annotations.get(MARKS.configHash)),
  }
  return {
    name,
    role: server ? 'server' : 'agent',
    kube,
    voter: voterOf(conditions),
    ...optional('etcdName', etcdName),
    ...optional('machineId', machineId === undefined || /^[0-]*$/.test(machineId) ? undefined : machineId),
    ...optional('architecture', nameOf(at(object, 'status', 'nodeInfo', 'architecture'))),
  }
}

function readyOf(condition: Foreign | undefined): YesNoUnknown {
  // Unknown is what the control plane writes when the kubelet has fallen silent: it says that the node is away.
  if (condition?.status === 'True') return 'yes'
  return condition?.status === 'False' || condition?.status === 'Unknown' ? 'no' : 'unknown'
}

function voterOf(conditions: readonly Foreign[]): NodeSeen['voter'] {
  const condition = conditions.find(({ type }) => type === 'EtcdIsVoter')
  if (condition === undefined) return 'unknown'
  if (condition.status === 'True') return 'voter'
  switch (condition.reason) {
    case 'MemberIsLearner':
      return 'learner'
    case 'Unhealthy':
      return 'unhealthy'
    case 'NotAMember':
      return 'not-a-member'
    default:
      return 'unknown'
  }
}

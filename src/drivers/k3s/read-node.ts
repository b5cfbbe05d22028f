import { explainFailure, parseNodeArgs } from '../../k3s/flags.ts'
import { OPTIONAL_FILES } from '../../k3s/node-files.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import { caHash } from '../../k3s/token.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  isRecord,
  labelsOf,
  nameOf,
  numberOf,
  objectName,
  recordOf,
  recordsOf,
  textOf,
  textsOf,
  timeOf,
} from '../../kubernetes/objects.ts'
import type { NodeRole } from '../../model/cluster.ts'
import { maskMessage } from '../../model/masked/secret-text.ts'
import type { KubeNode, YesNoUnknown } from '../../model/observed-cluster.ts'
import { K3S_MARKS, MARKS, readGivenUp, readLabelSet, readWork } from './marks.ts'

/** The facts of a Node object that matter for the cluster's life. */
export interface ObservedKubeNode {
  readonly name: string
  readonly role: NodeRole
  readonly kube: KubeNode
  /** Name of its etcd member. */
  readonly etcdName?: string
  /** The state of its member by etcd's leader. */
  readonly voter: 'voter' | 'learner' | 'unhealthy' | 'not-a-member' | 'unknown'
  readonly machineId?: string
  readonly architecture?: string
}

export function readNode(object: Foreign): ObservedKubeNode | undefined {
  const name = objectName(object)
  if (name === undefined) return undefined
  const annotations = annotationsOf(object)
  const labels = labelsOf(object)
  const conditions = recordsOf(at(object, 'status', 'conditions'))
  const ready = conditions.find(({ type }) => type === 'Ready')
  const createdMs = timeOf(at(object, 'metadata', 'creationTimestamp')) ?? 0
  const work = readWork(annotations.get(MARKS.work))
  const changedMs = work?.changedMs ?? timeOf(annotations.get(MARKS.changed))
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
    labels: {
      labels: Object.fromEntries(labels),
      taints: recordsOf(at(object, 'spec', 'taints')).map(textOfTaint),
      started: {
        labels: Object.fromEntries((args?.['node-label'] ?? []).map((label) => splitAt(label, '='))),
        taints: args?.['node-taint'] ?? [],
      },
      ...optional('noted', readLabelSet(annotations.get(MARKS.labels))),
    },
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

export function textOfTaint({ key, value, effect }: Foreign): string {
  const [name, said] = [textOf(key) ?? '', textOf(value) ?? '']
  return `${name}${said === '' ? '' : `=${said}`}:${textOf(effect) ?? ''}`
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const index = text.indexOf(mark)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)]
}

function readyOf(condition: Foreign | undefined): YesNoUnknown {
  // The control plane sets Unknown when the kubelet is silent: the node is away.
  if (condition?.status === 'True') return 'yes'
  return condition?.status === 'False' || condition?.status === 'Unknown' ? 'no' : 'unknown'
}

function voterOf(conditions: readonly Foreign[]): ObservedKubeNode['voter'] {
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

/** Returns a field only if it has a value: types distinguish absent from undefined. */
export function optional<K extends string, V>(key: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: V })
}

/** Parses a node's report without trusting it: a node may be broken, outdated or foreign. */
export function readFacts(value: unknown): NodeFacts | undefined {
  if (!isRecord(value) || typeof value.data !== 'string' || typeof value.service !== 'string') return undefined
  const service = oneOf(value.service, ['absent', 'stopped', 'starting', 'running', 'failed', 'unknown'] as const)
  if (service === undefined) return undefined
  const clockMs = numberOf(value.clockMs)
  return {
    machineId: nameOf(value.machineId) ?? '',
    hostname: nameOf(value.hostname) ?? '',
    bootId: nameOf(value.bootId) ?? '',
    clockMs: clockMs ?? 0,
    architecture: nameOf(value.architecture) ?? '',
    cloudInit: oneOf(value.cloudInit, ['absent', 'running', 'done', 'error'] as const) ?? 'absent',
    service,
    serviceSinceMs: numberOf(value.serviceSinceMs) ?? 0,
    ...dataIn(value, clockMs ?? 0),
    gates: recordsOf(value.gates).map((gate) => ({
      name: nameOf(gate.name) ?? '',
      message: textOf(gate.message) ?? '',
      sinceMs: numberOf(gate.sinceMs) ?? 0,
    })),
    snapshots: recordsOf(value.snapshots).flatMap(readSnapshot),
    ...optional('certificatesEnd', value.certificatesEnd === undefined ? undefined : textsOf(value.certificatesEnd)),
    ...optional('cloudInitError', textOf(value.cloudInitError)),
    ...optional('wipes', numberOf(value.wipes)),
    ...optional('files', value.files === undefined ? undefined : filesIn(recordOf(value.files))),
    ...optional('heldBy', textOf(value.heldBy)),
    ...optional('role', oneOf(value.role, ['server', 'agent'] as const)),
    ...optional('version', nameOf(value.version)),
    ...optional('fetched', nameOf(value.fetched)),
    ...optional('configHash', nameOf(value.configHash)),
    ...optional('full', value.full === undefined ? undefined : recordsOf(value.full).flatMap(readFull)),
    ...optional('begins', typeof value.begins === 'boolean' ? value.begins : undefined),
    ...optional('failure', explained(textOf(value.failure))),
    ...optional('etcd', readEtcd(value.etcd)),
    ...optional('datastore', oneOf(value.datastore, ['etcd', 'sqlite', 'external'] as const)),
    ...optional('job', readJob(value.job)),
  }
}

/**
 * Returns the cluster of a disk's data: the hash of its CA as K3s computes it, on servers from the CA's own file, on
 * agents from their copy. If both exist and differ, two clusters were mixed.
 */
function dataIn(value: Foreign, clockMs: number): Pick<NodeFacts, 'data' | 'mixedCa' | 'away'> {
  const hashOf = (file: unknown) => {
    if (typeof file !== 'string') return undefined
    try {
      return caHash(Buffer.from(file, 'base64'), clockMs)
    } catch {
      return 'other'
    }
  }
  const [own, copy] = [hashOf(value.ca), hashOf(value.caCopy)]
  const mixed = own !== undefined && copy !== undefined && own !== copy
  const said = nameOf(value.data) ?? 'other'
  // What cannot be seen is not proven to be absent: nothing is done to it that is done to an empty disk.
  const away = said === 'none' ? textOf(value.away) : undefined
  const data = said === 'ca' ? (own ?? copy ?? 'other') : away === undefined ? said : 'other'
  return { data, mixedCa: mixed || value.mixedCa === true, ...optional('away', away) }
}

function filesIn(value: Foreign): Readonly<Record<string, string>> {
  return Object.fromEntries(
    OPTIONAL_FILES.flatMap((path) => {
      const hash = textOf(value[path])
      return hash === undefined ? [] : [[path, hash]]
    }),
  )
}

function explained(failure: string | undefined): string | undefined {
  return failure === undefined ? undefined : explainFailure(maskMessage(failure))
}

function readEtcd(value: unknown): NodeFacts['etcd'] {
  if (!isRecord(value) || !Array.isArray(value.members)) return undefined
  const members = recordsOf(value.members).flatMap((member) => {
    const id = nameOf(member.id)
    return id === undefined ? [] : [{ id, name: nameOf(member.name) ?? '', learner: member.learner === true }]
  })
  return {
    members,
    ...optional('leader', nameOf(value.leader)),
    ...optional('self', nameOf(value.self)),
    ...optional('version', nameOf(value.version)),
    ...optional('bytes', numberOf(value.bytes)),
    ...optional('answerMs', numberOf(value.answerMs)),
  }
}

function readFull(value: Foreign): NonNullable<NodeFacts['full']> {
  const [path, freeKb] = [textOf(value.path), numberOf(value.freeKb)]
  return path === undefined || freeKb === undefined ? [] : [{ path, freeKb }]
}

function readSnapshot(value: Foreign): NodeFacts['snapshots'] {
  const name = nameOf(value.name)
  if (name === undefined) return []
  return [
    {
      name,
      path: textOf(value.path) ?? '',
      atMs: numberOf(value.atMs) ?? 0,
      bytes: numberOf(value.bytes) ?? 0,
    },
  ]
}

function readJob(value: unknown): NodeFacts['job'] {
  const job = recordOf(value)
  const [name, state] = [nameOf(job.name), oneOf(job.state, ['running', 'done', 'failed'] as const)]
  if (name === undefined || state === undefined) return undefined
  return { name, state, sinceMs: numberOf(at(job, 'sinceMs')) ?? 0, ...optional('message', textOf(job.message)) }
}

function oneOf<T extends string>(value: unknown, words: readonly T[]): T | undefined {
  return words.find((word) => word === value)
}

import { at, type Foreign, labelsOf, objectName, recordOf, recordsOf, stringMapOf } from '../../kubernetes/objects.ts'
import type { ClusterSpec } from '../../model/cluster.ts'

/**
 * Returns pending pods that only an on-demand node could run, by that node. A pod that fits on any running node, even a
 * full one, starts no node.
 */
export function onlySleepersFit(
  cluster: Pick<ClusterSpec, 'agents'>,
  nodes: readonly Foreign[],
  pods: readonly Foreign[],
): Readonly<Record<string, readonly string[]>> {
  const sleepers = new Set(cluster.agents.filter(({ power }) => power === 'onDemand').map(({ name }) => name))
  const wanting: Record<string, string[]> = {}
  if (sleepers.size === 0) return wanting
  const others = nodes.filter((node) => !sleepers.has(objectName(node) ?? ''))
  const own = nodes.filter((node) => sleepers.has(objectName(node) ?? ''))
  for (const pod of pods) {
    if (!isUnschedulable(pod) || others.some((node) => takes(node, pod))) continue
    const node = own.find((one) => takes(one, pod))
    const name = node === undefined ? undefined : objectName(node)
    if (name === undefined) continue
    const list = wanting[name] ?? []
    list.push(`${String(at(pod, 'metadata', 'namespace'))}/${objectName(pod) ?? '?'}`)
    wanting[name] = list
  }
  return wanting
}

function isUnschedulable(pod: Foreign): boolean {
  if (at(pod, 'spec', 'nodeName') !== undefined || at(pod, 'metadata', 'deletionTimestamp') !== undefined) return false
  return recordsOf(at(pod, 'status', 'conditions')).some(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  )
}

/** Reports whether the node would take the pod if it were on and had room. */
function takes(node: Foreign, pod: Foreign): boolean {
  const labels = labelsOf(node)
  const selector = stringMapOf(at(pod, 'spec', 'nodeSelector'))
  if (![...selector].every(([key, value]) => labels.get(key) === value)) return false
  const terms = recordsOf(
    at(
      recordOf(at(pod, 'spec', 'affinity', 'nodeAffinity')),
      'requiredDuringSchedulingIgnoredDuringExecution',
      'nodeSelectorTerms',
    ),
  )
  if (terms.length > 0 && !terms.some((term) => recordsOf(term.matchExpressions).every((one) => meets(labels, one))))
    return false
  return recordsOf(at(node, 'spec', 'taints')).every((taint) => isPassing(taint) || tolerates(pod, taint))
}

function isPassing({ key, effect }: Foreign): boolean {
  if (effect === 'PreferNoSchedule' || key === 'dns-unready') return true
  return typeof key === 'string' && key.startsWith('node.kubernetes.io/')
}

function tolerates(pod: Foreign, taint: Foreign): boolean {
  return recordsOf(at(pod, 'spec', 'tolerations')).some(
    ({ key, operator, value, effect }) =>
      (key === undefined || key === taint.key) &&
      (effect === undefined || effect === '' || effect === taint.effect) &&
      (operator === 'Exists' || (value ?? '') === (taint.value ?? '')),
  )
}

function meets(labels: ReadonlyMap<string, string>, { key, operator, values }: Foreign): boolean {
  const value = labels.get(String(key))
  const list = Array.isArray(values) ? values.map(String) : []
  switch (operator) {
    case 'In':
      return value !== undefined && list.includes(value)
    case 'NotIn':
      return value === undefined || !list.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}

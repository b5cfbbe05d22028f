import type { WireRequest } from '../../src/lib/wire.ts'
import type { ApiResource } from './catalogue.ts'
import { type KubeObject, list, text, tree, trees } from './object.ts'
import { printerColumns } from './printer-columns.ts'

export function wantsTable(request: WireRequest): boolean {
  return /as=Table/.test(request.headers.accept ?? request.headers.Accept ?? '')
}

type Cell = string | number
type Column = readonly [name: string, cell: (object: KubeObject, nowMs: number) => Cell, wide?: boolean]

const AGE: Column = ['Age', ({ metadata }, nowMs) => age(metadata.creationTimestamp, nowMs)]

/** The columns that people know, by kind. Everything else shows its name and its age. */
const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  Node: [
    ['Status', nodeStatus],
    ['Roles', ({ metadata }) => roles(metadata.labels) || '<none>'],
    AGE,
    ['Version', (node) => text(tree(tree(node.status).nodeInfo).kubeletVersion)],
    ['Internal-IP', (node) => address(node, 'InternalIP'), true],
    ['External-IP', (node) => address(node, 'ExternalIP'), true],
    ['OS-Image', (node) => text(tree(tree(node.status).nodeInfo).osImage), true],
    ['Kernel-Version', (node) => text(tree(tree(node.status).nodeInfo).kernelVersion), true],
    ['Container-Runtime', (node) => text(tree(tree(node.status).nodeInfo).containerRuntimeVersion), true],
  ],
  Pod: [
    [
      'Ready',
      (pod) =>
        `${containers(pod).filter(({ ready }) => ready === true).length}/${list(tree(pod.spec).containers).length}`,
    ],
    ['Status', podStatus],
    ['Restarts', (pod) => containers(pod).reduce((sum, one) => sum + Number(one.restartCount ?? 0), 0)],
    AGE,
    ['IP', (pod) => text(tree(pod.status).podIP) || '<none>', true],
    ['Node', (pod) => text(tree(pod.spec).nodeName) || '<none>', true],
    ['Nominated Node', () => '<none>', true],
    ['Readiness Gates', () => '<none>', true],
  ],
  Deployment: [
    ['Ready', (one) => `${number(one.status, 'readyReplicas')}/${number(one.spec, 'replicas')}`],
    ['Up-to-date', (one) => number(one.status, 'updatedReplicas')],
    ['Available', (one) => number(one.status, 'availableReplicas')],
    AGE,
  ],
  StatefulSet: [['Ready', (one) => `${number(one.status, 'readyReplicas')}/${number(one.spec, 'replicas')}`], AGE],
  ReplicaSet: [
    ['Desired', (one) => number(one.spec, 'replicas')],
    ['Current', (one) => number(one.status, 'replicas')],
    ['Ready', (one) => number(one.status, 'readyReplicas')],
    AGE,
  ],
  DaemonSet: [
    ['Desired', (one) => number(one.status, 'desiredNumberScheduled')],
    ['Current', (one) => number(one.status, 'currentNumberScheduled')],
    ['Ready', (one) => number(one.status, 'numberReady')],
    ['Up-to-date', (one) => number(one.status, 'updatedNumberScheduled')],
    ['Available', (one) => number(one.status, 'numberAvailable')],
    ['Node Selector', () => '<none>'],
    AGE,
  ],
  Job: [
    ['Status', (one) => (number(one.status, 'succeeded') > 0 ? 'Complete' : 'Running')],
    ['Completions', (one) => `${number(one.status, 'succeeded')}/${Number(tree(one.spec).completions ?? 1)}`],
    ['Duration', () => ''],
    AGE,
  ],
  Namespace: [['Status', (one) => text(tree(one.status).phase)], AGE],
  Secret: [['Type', (one) => text(one.type)], ['Data', (one) => Object.keys(tree(one.data)).length], AGE],
  ConfigMap: [['Data', (one) => Object.keys(tree(one.data)).length], AGE],
  Service: [
    ['Type', (one) => text(tree(one.spec).type)],
    ['Cluster-IP', (one) => text(tree(one.spec).clusterIP)],
    ['External-IP', () => '<none>'],
    [
      'Port(s)',
      (one) =>
        trees(tree(one.spec).ports)
          .map(({ port, protocol }) => `${Number(port)}/${text(protocol) || 'TCP'}`)
          .join(','),
    ],
    AGE,
  ],
  PodDisruptionBudget: [
    ['Min Available', (one) => shownCount(tree(one.spec).minAvailable)],
    ['Max Unavailable', (one) => shownCount(tree(one.spec).maxUnavailable)],
    ['Allowed Disruptions', (one) => number(one.status, 'disruptionsAllowed')],
    AGE,
  ],
  Event: [
    ['Last Seen', (one, nowMs) => age(text(one.lastTimestamp), nowMs)],
    ['Type', ({ type }) => text(type)],
    ['Reason', ({ reason }) => text(reason)],
    [
      'Object',
      ({ involvedObject }) => `${text(tree(involvedObject).kind).toLowerCase()}/${text(tree(involvedObject).name)}`,
    ],
    ['Message', ({ message }) => text(message)],
    ['Count', ({ count }) => Number(count ?? 1), true],
    ['Name', ({ metadata }) => metadata.name, true],
  ],
  CustomResourceDefinition: [['Created At', ({ metadata }) => text(metadata.creationTimestamp)]],
}

export function asTable(resource: ApiResource, value: unknown, nowMs: number, headed = true): unknown {
  const object = tree(value)
  if (object.kind === 'Status') return value
  const isList = text(object.kind) === `${resource.kind}List` && Array.isArray(object.items)
  const items = (isList ? list(object.items) : [value]) as readonly KubeObject[]
  const name: Column = ['Name', ({ metadata }) => metadata.name]
  // The name of an event is its last column, shown only in wide output.
  const columns = [...(resource.kind === 'Event' ? [] : [name]), ...columnsOf(resource)]
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: isList ? object.metadata : { resourceVersion: text(tree(object.metadata).resourceVersion) },
    columnDefinitions: headed
      ? columns.map(([title, , wide]) => ({
          name: title,
          type: 'string',
          format: title === 'Name' ? 'name' : '',
          description: '',
          priority: wide === true ? 1 : 0,
        }))
      : null,
    rows: items.map((one) => ({
      cells: columns.map(([, cell]) => cell(one, nowMs)),
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: one.metadata },
    })),
  }
}

/** What a definition declares stands in place of the age. */
function columnsOf({ kind, columns = [] }: ApiResource): readonly Column[] {
  if (columns.length === 0) return COLUMNS[kind] ?? [AGE]
  return printerColumns(columns).map(({ name, type, wide, read }): Column => {
    const cell = (object: KubeObject, nowMs: number) => {
      const value = read(object)
      if (type === 'date') return value === undefined ? '<unknown>' : age(text(value), nowMs)
      if (typeof value === 'number') return value
      return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
    }
    return [name, cell, wide]
  })
}

function nodeStatus(node: KubeObject): string {
  const ready = trees(tree(node.status).conditions).find(({ type }) => type === 'Ready')
  const state = ready?.status === 'True' ? 'Ready' : 'NotReady'
  return tree(node.spec).unschedulable === true ? `${state},SchedulingDisabled` : state
}

function roles(labels: Readonly<Record<string, string>> | undefined): string {
  const mark = 'node-role.kubernetes.io/'
  return Object.keys(labels ?? {})
    .filter((key) => key.startsWith(mark))
    .map((key) => key.slice(mark.length))
    .sort()
    .join(',')
}

function address(node: KubeObject, wanted: string): string {
  return text(trees(tree(node.status).addresses).find(({ type }) => type === wanted)?.address) || '<none>'
}

function containers(pod: KubeObject) {
  return trees(tree(pod.status).containerStatuses)
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating'
  const phase = text(tree(pod.status).phase)
  return phase === 'Succeeded' ? 'Completed' : phase
}

function number(holder: unknown, field: string): number {
  return Number(tree(holder)[field] ?? 0)
}

function shownCount(value: unknown): string {
  return value === undefined ? 'N/A' : String(value as string | number)
}

function age(from: string | undefined, nowMs: number): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(from ?? '')) / 1000))
  if (Number.isNaN(seconds)) return '<unknown>'
  if (seconds < 120) return `${seconds}s`
  if (seconds < 600)
    return seconds % 60 === 0 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 60)}m${seconds % 60}s`
  if (seconds < 10_800) return `${Math.floor(seconds / 60)}m`
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`
  return `${Math.floor(seconds / 86_400)}d`
}

import type { KubernetesClient } from '../../kubernetes/client.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  labelsOf,
  nameOf,
  objectName,
  recordsOf,
  stringMapOf,
  textOf,
  timeOf,
} from '../../kubernetes/objects.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterPower, ObservedPowerHold } from '../../model/observed-power.ts'
import type { PowerSpec, PowerWorkload } from '../../model/power.ts'
import type { ClusterShown, NodeShown, ShownWorkload } from '../power-port.ts'
import { answeringWebhooks, describe, goingTier, isOver, listing, type Selector, selects } from './describe.ts'
import { MARKS, readBefore, readNodeMark, TAINT } from './marks.ts'
import { onlySleepersFit } from './pending.ts'
import { servesDns, tierOf } from './tiers.ts'

const APPS = '/apis/apps/v1'
const BATCH = '/apis/batch/v1'
const CNPG = '/apis/postgresql.cnpg.io/v1'

/** Reads all facts about power from the API in a constant number of calls. Undefined if an answer is missing. */
export async function readCluster(
  client: KubernetesClient,
  cluster: Pick<ClusterSpec, 'agents'>,
  spec: PowerSpec,
  signal: AbortSignal,
): Promise<ClusterShown | undefined> {
  const list = listing(client, signal)
  const [deployments, sets, crons, jobs, databases, backups, velero, volumes, pods, nodes, answering] =
    await Promise.all([
      list(`${APPS}/deployments`),
      list(`${APPS}/statefulsets`),
      list(`${BATCH}/cronjobs`),
      list(`${BATCH}/jobs`),
      list(`${CNPG}/clusters`),
      list(`${CNPG}/backups`),
      list('/apis/velero.io/v1/backups'),
      list('/apis/storage.k8s.io/v1/volumeattachments'),
      list('/api/v1/pods'),
      list('/api/v1/nodes'),
      answeringWebhooks(list),
    ])
  // A cluster that cannot list its pods or backups must not count as one without any.
  const holding = jobs !== undefined && backups !== undefined && velero !== undefined
  if (pods === undefined || nodes === undefined || !holding) return undefined
  const known = deployments !== undefined && sets !== undefined && crons !== undefined && databases !== undefined
  const workloads = known
    ? [
        ...deployments.map((one) => scaled(one, 'Deployment', pods, spec, answering)),
        ...sets.map((one) => scaled(one, 'StatefulSet', pods, spec, answering)),
        ...crons.map((one) => cron(one, spec)),
        ...databases.map((one) => database(one, pods, spec)),
      ].filter((one) => one !== undefined)
    : 'unknown'
  return {
    workloads,
    attachments:
      volumes?.flatMap((one) => {
        const [name, node] = [objectName(one), nameOf(at(one, 'spec', 'nodeName'))]
        return name === undefined || node === undefined ? [] : [{ name, node }]
      }) ?? 'unknown',
    nodes: new Map(
      nodes.flatMap((node) => {
        const name = objectName(node)
        return name === undefined ? [] : [[name, shown(node, name, pods, spec, answering)] as const]
      }),
    ),
    wanting: onlySleepersFit(cluster, nodes, pods),
    dns: dnsUp(pods, nodes, deployments ?? []),
    storage: storageUp(workloads),
    holds: [...jobHolds(jobs, clusterTime(nodes)), ...backupHolds([...backups, ...velero])],
  }
}

function scaled(
  object: Foreign,
  kind: 'Deployment' | 'StatefulSet',
  pods: readonly Foreign[],
  spec: PowerSpec,
  answering: readonly Selector[],
): ShownWorkload | undefined {
  const described = describe(object, kind, answering)
  if (described.name === '') return undefined
  const selector = stringMapOf(at(object, 'spec', 'selector', 'matchLabels'))
  const own = pods.filter(
    (pod) =>
      at(pod, 'metadata', 'namespace') === described.namespace &&
      selector.size > 0 &&
      selects(selector, labelsOf(pod)) &&
      !isOver(pod),
  )
  return {
    kind,
    namespace: described.namespace,
    name: described.name,
    tier: tierOf(described, spec.rules),
    replicas: countOf(at(object, 'spec', 'replicas'), 1),
    pods: own.length,
    podsOn: nodesOf(own),
    ready: countOf(at(object, 'status', 'readyReplicas'), 0),
    ...remembered(object),
  }
}

function cron(object: Foreign, spec: PowerSpec): ShownWorkload | undefined {
  const described = describe(object, 'CronJob')
  if (described.name === '') return undefined
  const running = at(object, 'spec', 'suspend') === true ? 0 : 1
  const tier = tierOf(described, spec.rules)
  return {
    kind: 'CronJob',
    namespace: described.namespace,
    name: described.name,
    tier,
    replicas: running,
    pods: 0,
    podsOn: [],
    ready: running,
    ...remembered(object),
  }
}

/** A database of CloudNativePG. If hibernated, its pods are gone and its volumes kept. */
function database(object: Foreign, pods: readonly Foreign[], spec: PowerSpec): ShownWorkload | undefined {
  const described = describe(object, 'Database')
  if (described.name === '') return undefined
  const asleep = annotationsOf(object).get('cnpg.io/hibernation') === 'on'
  const own = pods.filter(
    (pod) =>
      at(pod, 'metadata', 'namespace') === described.namespace &&
      labelsOf(pod).get('cnpg.io/cluster') === described.name &&
      !isOver(pod),
  )
  return {
    kind: 'Database',
    namespace: described.namespace,
    name: described.name,
    tier: tierOf(described, spec.rules),
    replicas: asleep ? 0 : countOf(at(object, 'spec', 'instances'), 1),
    pods: own.length,
    podsOn: nodesOf(own),
    ready: countOf(at(object, 'status', 'readyInstances'), 0),
    ...remembered(object),
  }
}

function nodesOf(pods: readonly Foreign[]): readonly string[] {
  return pods.flatMap((pod) => nameOf(at(pod, 'spec', 'nodeName')) ?? [])
}

function remembered(object: Foreign): { readonly remembered?: number } {
  const before = readBefore(annotationsOf(object).get(MARKS.before))
  return before === undefined ? {} : { remembered: before }
}

function shown(
  node: Foreign,
  name: string,
  pods: readonly Foreign[],
  spec: PowerSpec,
  answering: readonly Selector[],
): NodeShown {
  const going = pods
    .filter((pod) => at(pod, 'spec', 'nodeName') === name)
    .map((pod) => goingTier(pod, spec, answering))
    .filter((tier) => tier !== undefined)
  const mark = readNodeMark(annotationsOf(node).get(MARKS.node))
  const boot = textOf(at(node, 'status', 'nodeInfo', 'bootID'))
  return {
    ready: isReady(node),
    unschedulable: at(node, 'spec', 'unschedulable') === true,
    tainted: recordsOf(at(node, 'spec', 'taints')).some(({ key }) => key === TAINT.key),
    podsToMove: going.length,
    clientsToMove: going.filter((tier) => tier === 'storage-clients').length,
    rebooted: mark?.bootId !== undefined && boot !== undefined && boot !== mark.bootId,
    ...(mark === undefined ? {} : { mark }),
  }
}

export function isReady(object: Foreign): boolean {
  return recordsOf(at(object, 'status', 'conditions')).some(({ type, status }) => type === 'Ready' && status === 'True')
}

/** Reports whether a ready pod serves DNS on a ready node. A cluster without its own DNS has none to wait for. */
function dnsUp(
  pods: readonly Foreign[],
  nodes: readonly Foreign[],
  deployments: readonly Foreign[],
): ClusterPower['dns'] {
  const serves = (object: Foreign) => servesDns(labelsOf(object))
  const own = pods.filter(serves)
  if (own.length === 0 && !deployments.some(serves)) return { up: 'yes', message: 'this cluster has no DNS of its own' }
  const ready = new Set(nodes.filter(isReady).map(objectName))
  const up = own.some((pod) => isReady(pod) && ready.has(nameOf(at(pod, 'spec', 'nodeName'))))
  return up ? { up: 'yes', message: '' } : { up: 'no', message: 'no pod of its DNS is ready' }
}

function storageUp(workloads: readonly PowerWorkload[] | 'unknown'): ClusterPower['storage'] {
  if (workloads === 'unknown') return { up: 'unknown', message: 'its workloads cannot be seen' }
  const ill = workloads.filter(({ tier, ready, replicas }) => tier === 'storage' && ready < replicas)
  const [first] = ill
  if (first === undefined) return { up: 'yes', message: '' }
  return { up: 'no', message: `${first.namespace}/${first.name} has ${first.ready} of ${first.replicas} pods ready` }
}

/** Returns the time that jobs' times refer to: the newest renewal of a kubelet. */
function clusterTime(nodes: readonly Foreign[]): number {
  const renewals = nodes.flatMap((node) =>
    recordsOf(at(node, 'status', 'conditions')).map((one) => timeOf(one.lastHeartbeatTime) ?? 0),
  )
  return Math.max(0, ...renewals)
}

function jobHolds(jobs: readonly Foreign[], nowMs: number): readonly ObservedPowerHold[] {
  return jobs.flatMap((job): readonly ObservedPowerHold[] => {
    if (countOf(at(job, 'status', 'active'), 0) === 0) return []
    const sinceMs = timeOf(at(job, 'status', 'startTime'))
    const where = nameOf(at(job, 'metadata', 'namespace')) ?? 'default'
    const age = sinceMs === undefined ? {} : { sinceMs, ageMs: Math.max(0, nowMs - sinceMs) }
    return [{ kind: 'job', who: objectName(job) ?? '?', where, ...age }]
  })
}

const RUNNING = /^(?:running|started|InProgress|Finalizing|WaitingForPluginOperations)$/

function backupHolds(backups: readonly Foreign[]): readonly ObservedPowerHold[] {
  return backups.flatMap((backup): readonly ObservedPowerHold[] => {
    const phase = at(backup, 'status', 'phase')
    if (typeof phase !== 'string' || !RUNNING.test(phase)) return []
    const sinceMs = timeOf(at(backup, 'status', 'startedAt')) ?? timeOf(at(backup, 'status', 'startTimestamp'))
    const where = nameOf(at(backup, 'metadata', 'namespace')) ?? 'default'
    return [{ kind: 'backup', who: objectName(backup) ?? '?', where, ...(sinceMs === undefined ? {} : { sinceMs }) }]
  })
}

function countOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}

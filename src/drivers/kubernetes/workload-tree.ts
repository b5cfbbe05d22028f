import {
  annotationsOf,
  at,
  type Foreign,
  nameOf,
  numberOf,
  recordsOf,
  textOf,
  timeOf,
} from '../../kubernetes/objects.ts'
import { containersOf, podStatus } from '../../kubernetes/pods.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { type KubeObject, objectId } from '../../model/kube-object.ts'
import type { WorkloadEvent, WorkloadNode, WorkloadTree } from '../../model/workload.ts'
import { readinessByKind } from './readiness-by-kind.ts'

/** An object that an add-on declares. */
export interface TreeRoot {
  readonly key: ResourceKey
  readonly object: KubeObject
}

/**
 * Returns the objects of an add-on with all that they own and their events, owners first. Helm's objects have no owner:
 * they belong to the HelmChart of their release. Pure.
 */
export function workloadTree(
  roots: readonly TreeRoot[],
  listed: readonly Foreign[],
  events: readonly Foreign[],
): WorkloadTree {
  const byOwner = new Map<string, Foreign[]>()
  const byRelease = new Map<string, Foreign[]>()
  const byName = new Map<string, Foreign>()
  const add = (map: Map<string, Foreign[]>, key: string, object: Foreign) => {
    const known = map.get(key)
    if (known === undefined) map.set(key, [object])
    else known.push(object)
  }
  for (const object of listed) {
    byName.set(nameIn(object), object)
    const owners = recordsOf(at(object, 'metadata', 'ownerReferences'))
    for (const owner of owners) add(byOwner, textOf(owner.uid) ?? '', object)
    const release = annotationsOf(object).get('meta.helm.sh/release-name')
    if (owners.length === 0 && release !== undefined)
      add(byRelease, `${annotationsOf(object).get('meta.helm.sh/release-namespace') ?? ''}/${release}`, object)
  }
  const told = eventsByObject(events)
  const nodes: WorkloadNode[] = []
  const seen = new Set<string>()
  let left = 0
  const put = (object: Foreign, parent: string | undefined, key: ResourceKey | undefined): string | undefined => {
    const id = textOf(at(object, 'metadata', 'uid')) ?? nameIn(object)
    // An object that is its own owner, or has two, is shown once.
    if (seen.has(id)) return undefined
    if (nodes.length >= LIMITS.workloadNodes) {
      left++
      return undefined
    }
    seen.add(id)
    nodes.push({ ...nodeOf(object), id, ...defined({ parent, key }), events: told.get(id) ?? [] })
    return id
  }
  const below = (id: string, uid: string | undefined, release: string | undefined): void => {
    const owned = [
      ...(uid === undefined ? [] : (byOwner.get(uid) ?? [])),
      ...(release === undefined ? [] : (byRelease.get(release) ?? [])),
    ]
    for (const object of owned.filter((one) => !isOldReplicaSet(one)).toSorted(byKindAndName)) {
      const own = put(object, id, undefined)
      if (own !== undefined) below(own, textOf(at(object, 'metadata', 'uid')), undefined)
    }
  }
  for (const { key, object } of roots) {
    const live = byName.get(nameIn(object))
    const id = put(live ?? declared(object), undefined, key)
    if (id !== undefined) below(id, textOf(at(live, 'metadata', 'uid')), releaseOf(object))
  }
  const more = left === 0 ? [] : [`${left} more objects are not shown`]
  return { nodes, notes: more }
}

/** A declared object that was not listed: only its name is known. */
function declared(object: KubeObject): Foreign {
  const { apiVersion, kind, metadata } = object
  const { name, namespace } = metadata
  return { apiVersion, kind, metadata: { ...defined({ name, namespace }), uid: objectId(object) } }
}

function releaseOf({ kind, metadata, spec }: KubeObject): string | undefined {
  if (kind !== 'HelmChart') return undefined
  const target = textOf(at(spec, 'targetNamespace')) ?? metadata.namespace ?? 'default'
  return `${target}/${metadata.name}`
}

/** Returns group, kind, namespace and name. */
function nameIn(object: Foreign): string {
  const apiVersion = typeof object.apiVersion === 'string' ? object.apiVersion : ''
  const [group = ''] = apiVersion.includes('/') ? apiVersion.split('/') : []
  const { metadata } = object
  return [group, object.kind, at(metadata, 'namespace') ?? '', at(metadata, 'name')].join(' ')
}

/** An old ReplicaSet without pods, kept for a rollback. */
function isOldReplicaSet(object: Foreign): boolean {
  return (
    object.kind === 'ReplicaSet' &&
    at(object, 'spec', 'replicas') === 0 &&
    (numberOf(at(object, 'status', 'replicas')) ?? 0) === 0
  )
}

function byKindAndName(a: Foreign, b: Foreign): number {
  const [one, other] = [
    `${String(a.kind)} ${String(at(a, 'metadata', 'name'))}`,
    `${String(b.kind)} ${String(at(b, 'metadata', 'name'))}`,
  ]
  return one < other ? -1 : one > other ? 1 : 0
}

function nodeOf(object: Foreign): Omit<WorkloadNode, 'id' | 'events'> {
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  const createdMs = timeOf(at(object, 'metadata', 'creationTimestamp'))
  const common = {
    kind: nameOf(object.kind) ?? '?',
    name: nameOf(at(object, 'metadata', 'name')) ?? '?',
    ...defined({ namespace, createdMs }),
  }
  if (object.kind === 'Pod') return { ...common, ...podOf(object) }
  // Only declared: its resource holds what croft knows.
  if ((object.status === undefined && object.spec === undefined) || object.kind === 'HelmChart')
    return { ...common, state: 'quiet', status: '' }
  if (object.kind === 'CronJob') return { ...common, state: 'ok', status: textOf(at(object, 'spec', 'schedule')) ?? '' }
  const judged = readinessByKind({ object })
  if (judged === undefined) return { ...common, state: 'quiet', status: '' }
  const state = judged.ready ? 'ok' : judged.status === 'Failed' ? 'bad' : 'busy'
  return { ...common, state, status: countsOf(object) ?? judged.message }
}

/** Returns how many of its pods are ready. */
function countsOf(object: Foreign): string | undefined {
  const daemon = object.kind === 'DaemonSet'
  const ready = at(object, 'status', daemon ? 'numberReady' : 'readyReplicas')
  const wanted = daemon ? at(object, 'status', 'desiredNumberScheduled') : at(object, 'spec', 'replicas')
  if (!/^(?:Deployment|StatefulSet|ReplicaSet|DaemonSet)$/.test(String(object.kind))) return undefined
  return `${numberOf(ready) ?? 0}/${numberOf(wanted) ?? 1} ready`
}

function podOf(pod: Foreign): Pick<WorkloadNode, 'state' | 'status' | 'node' | 'restarts' | 'containers'> {
  const containers = containersOf(pod).slice(0, LIMITS.workloadContainers)
  const status = podStatus(pod, containers)
  const main = containers.filter(({ init }) => !init)
  const well = status === 'Running' && main.every(({ ready }) => ready)
  const over = status === 'Completed' || status === 'Succeeded'
  const coming = /^(?:Pending|Running|ContainerCreating|PodInitializing|Init:\d+\/\d+|Terminating)$/.test(status)
  const node = nameOf(at(pod, 'spec', 'nodeName'))
  return {
    state: well || over ? 'ok' : coming ? 'busy' : 'bad',
    status,
    restarts: containers.reduce((sum, { restarts }) => sum + restarts, 0),
    containers: containers.map(({ init: _, ...one }) => one),
    ...defined({ node }),
  }
}

function eventsByObject(events: readonly Foreign[]): ReadonlyMap<string, readonly WorkloadEvent[]> {
  const found = new Map<string, WorkloadEvent[]>()
  for (const event of events) {
    const uid = textOf(at(event, 'involvedObject', 'uid'))
    const atMs =
      timeOf(at(event, 'series', 'lastObservedTime')) ??
      timeOf(event.lastTimestamp) ??
      timeOf(event.eventTime) ??
      timeOf(at(event, 'metadata', 'creationTimestamp'))
    if (uid === undefined || atMs === undefined) continue
    const known = found.get(uid) ?? []
    found.set(uid, known)
    known.push({
      type: event.type === 'Warning' ? 'Warning' : 'Normal',
      reason: textOf(event.reason) ?? '',
      message: textOf(event.message) ?? '',
      count: numberOf(at(event, 'series', 'count')) ?? numberOf(event.count) ?? 1,
      atMs,
    })
  }
  return new Map(
    [...found].map(([uid, own]) => [uid, own.toSorted((a, b) => b.atMs - a.atMs).slice(0, LIMITS.workloadEvents)]),
  )
}

import { bodyOf } from './body.ts'
import type { ApiCall } from './call.ts'
import { CLEANUP, definedBy, terminating } from './controllers/collect.ts'
import { chosen } from './listing.ts'
import { type KubeObject, text, tree, trees } from './object.ts'
import { conflict } from './status.ts'
import { all, put, remove } from './store.ts'
import { existing } from './writes.ts'

export function deleteObject(call: ApiCall): unknown {
  const object = existing(call)
  const options = tree(bodyOf(call.request))
  const required = tree(options.preconditions)
  if (
    (required.uid !== undefined && required.uid !== object.metadata.uid) ||
    (required.resourceVersion !== undefined && required.resourceVersion !== object.metadata.resourceVersion)
  )
    throw conflict(call.resource.plural, object.metadata.name, call.resource.group)
  return deleteOne(call, object, options)
}

function deleteOne(call: ApiCall, object: KubeObject, options: Readonly<Record<string, unknown>>): unknown {
  const { cluster, query, resource } = call
  const { store } = cluster
  const { metadata } = object
  const success = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: metadata.name,
      ...(resource.group === '' ? {} : { group: resource.group }),
      kind: resource.plural,
      uid: metadata.uid,
    },
  }
  if (query.has('dryRun')) return success
  const policy = text(options.propagationPolicy) || (query.get('propagationPolicy') ?? '')
  if (policy === 'Orphan') orphan(call, object)
  if (resource.kind === 'Pod') {
    const given =
      options.gracePeriodSeconds ??
      query.get('gracePeriodSeconds') ??
      tree(object.spec).terminationGracePeriodSeconds ??
      30
    const placed = tree(object.spec).nodeName !== undefined
    if (Number(given) > 0 && placed)
      return metadata.deletionTimestamp === undefined
        ? put(store, resource.key, terminating(object, call.process.computer.world.clock.now(), Number(given)))
        : object
    if ((metadata.finalizers ?? []).length === 0) remove(store, resource.key, metadata.namespace, metadata.name)
    return object
  }
  if (resource.kind === 'Namespace') {
    const going = {
      ...terminating(object, call.process.computer.world.clock.now(), 0),
      status: { phase: 'Terminating' },
    }
    return put(store, resource.key, going)
  }
  if ((metadata.finalizers ?? []).length > 0)
    return metadata.deletionTimestamp === undefined
      ? put(store, resource.key, terminating(object, call.process.computer.world.clock.now(), 0))
      : object
  if (resource.kind === 'CustomResourceDefinition' && takesTime(call, object)) return object
  remove(store, resource.key, metadata.namespace, metadata.name)
  return success
}

/** Objects go with their definition. While one of them is held by a finalizer, the definition is there and terminating. */
function takesTime({ cluster: { store }, process, resource }: ApiCall, definition: KubeObject): boolean {
  const nowMs = process.computer.world.clock.now()
  const key = definedBy(definition)
  for (const one of all(store, key)) {
    if ((one.metadata.finalizers ?? []).length === 0) remove(store, key, one.metadata.namespace, one.metadata.name)
    else if (one.metadata.deletionTimestamp === undefined) put(store, key, terminating(one, nowMs, 0))
  }
  if (all(store, key).length === 0) return false
  const { metadata } = terminating(definition, nowMs, 0)
  const status = tree(definition.status)
  put(store, resource.key, {
    ...definition,
    metadata: { ...metadata, finalizers: [CLEANUP] },
    status: {
      ...status,
      conditions: [
        ...trees(status.conditions),
        { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress' },
      ],
    },
  })
  return true
}

function orphan({ cluster }: ApiCall, owner: KubeObject): void {
  for (const [resource, table] of cluster.store.tables) {
    for (const object of table.values()) {
      const owners = object.metadata.ownerReferences
      if (owners?.some(({ uid }) => uid === owner.metadata.uid) !== true) continue
      const ownerReferences = owners.filter(({ uid }) => uid !== owner.metadata.uid)
      put(cluster.store, resource, { ...object, metadata: { ...object.metadata, ownerReferences } })
    }
  }
}

export function deleteCollection(call: ApiCall): unknown {
  const options = tree(bodyOf(call.request))
  const wanted = chosen(call)
  for (const object of all(call.cluster.store, call.resource.key).filter(wanted)) deleteOne(call, object, options)
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' }
}

import { defined } from '../../src/lib/defined.ts'
import { hexDigits, uuid } from '../world/chance.ts'
import { applyTo } from './apply.ts'
import { bodyOf, mediaTypeOf, unknownFormat } from './body.ts'
import type { ApiCall } from './call.ts'
import { establish, fillIn, refuseChange } from './defaulting.ts'
import { shown } from './listing.ts'
import { noteUpdate, type Writer } from './managed-fields.ts'
import { type KubeObject, type Metadata, stamp, text, tree } from './object.ts'
import { jsonPatch, mergePatch, strategicPatch } from './patch.ts'
import { ApiStatus, conflict, notFound } from './status.ts'
import { find, put, remove } from './store.ts'
import { passWebhooks } from './webhooks.ts'

export function readObject(call: ApiCall): unknown {
  const object = existing(call)
  return call.sub === 'scale' ? scaleOf(call, object) : shown(call, object)
}

export function existing(call: ApiCall): KubeObject {
  const { cluster, namespace, name = '', resource } = call
  const object = find(cluster.store, resource.key, namespace, name)
  if (object === undefined) throw notFound(resource.plural, name, resource.group)
  return object
}

function apiVersionOf({ resource }: ApiCall): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}

function nowMs(call: ApiCall): number {
  return call.process.computer.world.clock.now()
}

function writerOf(call: ApiCall, operation: Writer['operation']): Writer {
  const agent = call.request.headers['user-agent'] ?? call.request.headers['User-Agent'] ?? ''
  const manager = call.query.get('fieldManager') ?? (agent.split('/')[0] || 'unknown')
  const sub = call.sub === 'status' || call.sub === 'scale' ? { subresource: call.sub } : {}
  return { manager, operation, apiVersion: apiVersionOf(call), time: stamp(nowMs(call)), ...sub }
}

/** The object in the body, checked against where it is sent. */
function sentObject(call: ApiCall): KubeObject {
  const body = tree(bodyOf(call.request))
  const { resource } = call
  if (body.kind !== undefined && body.kind !== resource.kind)
    throw new ApiStatus(
      400,
      'BadRequest',
      `${text(body.kind)} in version "${resource.version}" cannot be handled as a ${resource.kind}`,
    )
  const metadata = tree(body.metadata) as unknown as Metadata
  if (call.name !== undefined && metadata.name !== undefined && metadata.name !== call.name)
    throw new ApiStatus(
      400,
      'BadRequest',
      `the name of the object (${metadata.name}) does not match the name on the URL (${call.name})`,
    )
  return { ...body, apiVersion: apiVersionOf(call), kind: resource.kind, metadata }
}

export function createObject(call: ApiCall): unknown {
  const sent = sentObject(call)
  const generate = sent.metadata.generateName
  const name =
    sent.metadata.name ??
    (generate === undefined ? '' : `${generate}${hexDigits(call.process.computer.world.random, 5)}`)
  if (name === '')
    throw new ApiStatus(
      422,
      'Invalid',
      `${call.resource.kind} "" is invalid: metadata.name: Required value: name or generateName is required`,
    )
  return create(call, { ...sent, metadata: { ...sent.metadata, name } }, writerOf(call, 'Update'))
}

function create(call: ApiCall, sent: KubeObject, writer: Writer | undefined): KubeObject {
  const { cluster, resource } = call
  const { store } = cluster
  const { world } = call.process.computer
  const namespace = resource.namespaced ? (call.namespace ?? sent.metadata.namespace ?? 'default') : undefined
  const { name } = sent.metadata
  if (namespace !== undefined) {
    const space = find(store, '/namespaces', undefined, namespace)
    if (space === undefined) throw notFound('namespaces', namespace)
    if (space.metadata.deletionTimestamp !== undefined)
      throw new ApiStatus(
        403,
        'Forbidden',
        `${resource.plural} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      )
  }
  if (find(store, resource.key, namespace, name) !== undefined)
    throw new ApiStatus(409, 'AlreadyExists', `${which(call)} "${name}" already exists`, {
      name,
      kind: resource.plural,
    })
  const full = fillIn(call, {
    ...sent,
    metadata: {
      ...sent.metadata,
      ...defined({ namespace }),
      uid: uuid(world.random),
      ...(WITHOUT_GENERATION.has(resource.kind) ? {} : { generation: 1 }),
      creationTimestamp: stamp(world.clock.now()),
    },
  })
  passWebhooks(call, 'CREATE')
  const managedFields = writer === undefined ? full.metadata.managedFields : noteUpdate(undefined, full, [], writer)
  const object = { ...full, metadata: { ...full.metadata, ...defined({ managedFields }) } }
  if (call.query.has('dryRun')) return object
  const stored = put(store, resource.key, object)
  if (resource.kind === 'CustomResourceDefinition') establish(call, stored)
  return stored
}

const WITHOUT_GENERATION = new Set([
  'Node',
  'Namespace',
  'Service',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'Lease',
  'Event',
  'PersistentVolume',
  'PersistentVolumeClaim',
])

function which({ resource }: ApiCall): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
}

export function updateObject(call: ApiCall): { object: unknown; created: boolean } {
  if (call.sub === 'scale') return { object: setScale(call, tree(bodyOf(call.request))), created: false }
  const sent = sentObject(call)
  const before = existing(call)
  return { object: save(call, before, sent, writerOf(call, 'Update')), created: false }
}

export function patchObject(call: ApiCall): { object: unknown; created: boolean } {
  const type = mediaTypeOf(call.request)
  const patch = bodyOf(call.request)
  if (type === 'application/apply-patch+yaml' || type === 'application/apply-patch+json')
    return apply(call, tree(patch))
  const before = existing(call)
  const target = call.sub === 'scale' ? scaleOf(call, before) : before
  const patched =
    type === 'application/merge-patch+json'
      ? mergePatch(target, patch)
      : type === 'application/json-patch+json'
        ? jsonPatch(target, patch)
        : type === 'application/strategic-merge-patch+json'
          ? strategic(call, target, patch)
          : unknownFormat(PATCHES)
  if (call.sub === 'scale') return { object: setScale(call, tree(patched)), created: false }
  return { object: save(call, before, patched as KubeObject, writerOf(call, 'Update')), created: false }
}

function strategic(call: ApiCall, target: unknown, patch: unknown): unknown {
  if (call.resource.columns !== undefined) return unknownFormat(PATCHES)
  return strategicPatch(target, patch)
}

const PATCHES = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']

function apply(call: ApiCall, sent: KubeObject | Record<string, unknown>): { object: unknown; created: boolean } {
  const { cluster, namespace, name = '', query, resource } = call
  const live = find(cluster.store, resource.key, namespace, name)
  if (query.get('fieldManager') === null)
    throw new ApiStatus(
      400,
      'BadRequest',
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    )
  if (live === undefined && call.sub !== undefined) throw notFound(resource.plural, name, resource.group)
  const { managedFields: _, ...metadata } = tree(sent.metadata) as unknown as Metadata
  const clean = { ...sent, apiVersion: apiVersionOf(call), kind: resource.kind, metadata: { ...metadata, name } }
  const writer = writerOf(call, 'Apply')
  const merged = applyTo(live, clean, writer, query.get('force') === 'true')
  if (live === undefined) return { object: create(call, merged, undefined), created: true }
  return { object: save(call, live, merged, undefined), created: false }
}

/** Writes what was asked for, as far as this path may: status only on its own path, and nothing else there. */
function save(call: ApiCall, before: KubeObject, sent: KubeObject, writer: Writer | undefined): KubeObject {
  const { cluster, resource } = call
  const { store } = cluster
  const version = sent.metadata.resourceVersion
  if (version !== undefined && version !== '' && version !== before.metadata.resourceVersion)
    throw conflict(resource.plural, before.metadata.name, resource.group)
  if (sent.metadata.uid !== undefined && sent.metadata.uid !== before.metadata.uid)
    throw conflict(resource.plural, before.metadata.name, resource.group)
  const hasStatus = resource.subresources.includes('status')
  let next: KubeObject
  if (call.sub === 'status')
    next = { ...before, status: sent.status, metadata: { ...before.metadata, ...annotated(sent) } }
  else {
    const { status: _, ...rest } = sent
    next = {
      ...(hasStatus ? { ...rest, ...defined({ status: before.status }) } : sent),
    } as KubeObject
  }
  const changed = JSON.stringify(contentOf(next, hasStatus)) !== JSON.stringify(contentOf(before, hasStatus))
  const generation =
    before.metadata.generation === undefined ? {} : { generation: before.metadata.generation + (changed ? 1 : 0) }
  const kept = (({ name, namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }) => ({
    name,
    ...defined({ namespace, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds }),
  }))(before.metadata)
  const { resourceVersion: _version, managedFields: sentFields, ...metadata } = next.metadata
  next = { ...next, metadata: { ...metadata, ...kept, ...generation } }
  refuseChange(call, before, next)
  if (call.sub === undefined && !isUnchanged(before, next)) passWebhooks(call, 'UPDATE')
  const fields =
    writer === undefined ? sentFields : noteUpdate(before, next, before.metadata.managedFields ?? [], writer)
  next = {
    ...next,
    metadata: { ...next.metadata, ...(fields === undefined || fields.length === 0 ? {} : { managedFields: fields }) },
  }
  if (call.query.has('dryRun')) return next
  if (isUnchanged(before, next)) return before
  const stored = put(store, resource.key, next)
  const going = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0
  if (going && resource.kind !== 'Pod' && resource.kind !== 'Namespace')
    remove(store, resource.key, next.metadata.namespace, next.metadata.name)
  return stored
}

/** What a generation counts the changes of: not only `spec`, a kind may keep its content elsewhere. */
function contentOf(object: KubeObject, hasStatus: boolean): Record<string, unknown> {
  const { apiVersion: _a, kind: _k, metadata: _m, status, ...content } = object
  return hasStatus ? content : { ...content, status }
}

function annotated(sent: KubeObject): Partial<Metadata> {
  const { labels, annotations } = sent.metadata
  return { ...defined({ labels, annotations }) }
}

/** A write that changes nothing makes no new version; one that only changes who keeps a field does. */
function isUnchanged(before: KubeObject, next: KubeObject): boolean {
  const bare = (object: KubeObject) => {
    const { managedFields = [], resourceVersion: _, ...metadata } = object.metadata
    const owners = managedFields.map(({ time: _time, ...entry }) => entry)
    return JSON.stringify(sorted({ ...object, metadata: { ...metadata, owners } }))
  }
  return bare(before) === bare(next)
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sorted(one)]),
  )
}

function scaleOf(call: ApiCall, object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as Metadata,
    spec: { replicas: Number(tree(object.spec).replicas ?? 1) },
    status: { replicas: Number(tree(object.status).replicas ?? 0), selector: text(call.name) },
  }
}

function setScale(call: ApiCall, scale: Readonly<Record<string, unknown>>): unknown {
  const before = existing(call)
  const spec = { ...tree(before.spec), replicas: Number(tree(scale.spec).replicas ?? 0) }
  const { resourceVersion: _, ...metadata } = before.metadata
  return scaleOf(
    call,
    save({ ...call, sub: undefined }, before, { ...before, metadata, spec }, writerOf(call, 'Update')),
  )
}

import { annotationsOf, at, type Foreign, labelsOf, nameOf, objectName, recordOf } from '../kubernetes/objects.ts'
import { resourceKey } from '../model/declaration.ts'
import type { ServedKind } from './served.ts'

/** An object of the cluster with the key that its declaration has. */
export interface DeclaredObject {
  readonly served: ServedKind
  readonly object: Foreign
  readonly key: string
  readonly deleting: boolean
  /** The object's namespace, if that is not the operator's. */
  readonly namespace?: string
}

/** Finalizer of Crossplane's provider: the program that replaces the provider removes it too. */
const PROVIDER_FINALIZER = 'finalizer.managedresource.crossplane.io'
const OWN_FINALIZER = 'croft.dev/finalizer'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

export function declaredObject(served: ServedKind, object: Foreign, home: string): DeclaredObject | undefined {
  const name = objectName(object)
  if (name === undefined) return undefined
  const { kind } = served
  const namespace = namespaceIn(object, home)
  const counts = kind.namespaced === undefined || kind.namespaced(served.apiVersion)
  const key = resourceKey(kind.kind, name, counts ? namespace : undefined)
  const deleting = at(object, 'metadata', 'deletionTimestamp') !== undefined
  return { served, object, key, deleting, ...(namespace === undefined ? {} : { namespace }) }
}

/**
 * Returns the part of an object that a replica keeps in memory: it holds all objects, and works on those of one shard
 * in three. Drops the provider's status and kubectl's copy of the manifest, each as long as the declaration; croft
 * reads neither.
 */
export function heldObject(served: ServedKind, object: Foreign): Foreign {
  const metadata = recordOf(object.metadata)
  const annotations = recordOf(metadata.annotations)
  const { [LAST_APPLIED]: applied, ...said } = annotations
  const slim = applied === undefined ? object : { ...object, metadata: { ...metadata, annotations: said } }
  const status = recordOf(object.status)
  if (!isManagedByProvider(served) || status.atProvider === undefined) return slim
  const { atProvider: _, ...told } = status
  return { ...slim, status: told }
}

/** The operator's own namespace is left out: its objects have the keys that they would have in a file. */
export function namespaceIn(object: Foreign, home: string): string | undefined {
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  return namespace === home ? undefined : namespace
}

/** Cached by object, because they are read after every change of any other one. */
const stamps = new WeakMap<Foreign, string>()

/** Differs when the object declares something else; not when only its status does. */
export function stampOf({ object }: Pick<DeclaredObject, 'object'>): string {
  const known = stamps.get(object)
  if (known !== undefined) return known
  const { generation, resourceVersion, uid, labels, annotations, finalizers, deletionTimestamp } = recordOf(
    object.metadata,
  )
  const version = typeof generation === 'number' ? generation : resourceVersion
  const stamp = JSON.stringify([uid, version, labels, annotations, finalizers, deletionTimestamp])
  stamps.set(object, stamp)
  return stamp
}

export function isManagedByProvider({ apiVersion }: ServedKind): boolean {
  return apiVersion.includes('crossplane.io/') && !/^(?:proxmoxbpg\.(?:m\.)?)?crossplane\.io\//.test(apiVersion)
}

/** Returns the object as a manifest: without the fields of the server and controllers. */
export function manifestOf({ served, object }: DeclaredObject, home: string): Foreign {
  const annotations = Object.fromEntries(annotationsOf(object))
  const namespace = namespaceIn(object, home)
  const spec = isManagedByProvider(served) ? withoutEmpty(recordOf(object.spec)) : recordOf(object.spec)
  return {
    apiVersion: served.apiVersion,
    kind: served.kind.kind,
    metadata: {
      name: objectName(object),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelsOf(object).size === 0 ? {} : { labels: Object.fromEntries(labelsOf(object)) }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    // On provider kinds, an external name does not imply a deletion policy, because all objects have one.
    spec:
      isManagedByProvider(served) && spec.deletionPolicy === undefined ? { ...spec, deletionPolicy: 'Delete' } : spec,
  }
}

/** Removes empty texts: where Crossplane fills undeclared fields from the provider's state, they mean unset. */
function withoutEmpty<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutEmpty) as T
  if (typeof value !== 'object' || value === null) return value
  const filled = Object.entries(value).filter(([, entry]) => entry !== '')
  return Object.fromEntries(filled.map(([name, entry]) => [name, withoutEmpty(entry)])) as T
}

export function finalizerFor(served: ServedKind): string {
  return isManagedByProvider(served) ? PROVIDER_FINALIZER : OWN_FINALIZER
}

export function finalizersOf(object: Foreign): readonly string[] {
  const list = at(object, 'metadata', 'finalizers')
  return Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []
}

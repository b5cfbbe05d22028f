import { createHash } from 'node:crypto'
import { DEPENDS_ON } from '../../kinds/fields/annotations.ts'
import {
  annotationsOf,
  at,
  type Foreign,
  isRecord,
  labelsOf,
  nameOf,
  objectName,
  recordOf,
  recordsOf,
} from '../../kubernetes/objects.ts'
import { resourceKey } from '../../model/declaration.ts'
import type { MadeObject } from '../../source/compose/in-cluster.ts'
import { type DeclaredObject, namespaceIn } from '../objects.ts'
import type { ServedKind } from '../served.ts'

/** On each object that croft made for an instance: the uid of the instance, and which part of it the object is. */
const INSTANCE_UID = 'compose.croft.dev/instance-uid'
const PART = 'compose.croft.dev/part'
/** Path of the instance: a replica that sees the object being deleted looks there whether the instance lives. */
const INSTANCE_PATH = 'compose.croft.dev/instance'
const HASH = 'compose.croft.dev/hash'

const CROSSPLANE_PART = 'crossplane.io/composition-resource-name'
const KRO_INSTANCE = 'kro.run/instance-id'

/** An object that an instance should have. */
export interface ComposedObject {
  readonly key: string
  readonly served: ServedKind
  readonly namespace: string | undefined
  readonly name: string
  readonly id: string
  readonly object: Foreign
}

export interface OwningInstance {
  readonly object: Foreign
  readonly apiVersion: string
  readonly kind: string
  /** Path of the object in the API. */
  readonly path: string
}

export function uidOf(object: Foreign): string {
  return nameOf(at(object, 'metadata', 'uid')) ?? ''
}

/** Returns the uids of an object's owners: set by croft, or by the program that kept it before. */
function uidsOfOwners(object: Foreign): ReadonlySet<string> {
  const labels = labelsOf(object)
  const owners = recordsOf(at(object, 'metadata', 'ownerReferences')).map((one) => one.uid)
  const labelled = [mayNotBeOwned(object) ? labels.get(INSTANCE_UID) : undefined, labels.get(KRO_INSTANCE)]
  return new Set([...owners, ...labelled].flatMap((uid) => (typeof uid === 'string' && uid !== '' ? [uid] : [])))
}

/** The objects of a cluster by what they were made for, and by their key: looked through once, however many instances ask. */
export interface IndexedObjects {
  madeFor(uid: string): readonly DeclaredObject[]
  withKey(key: string): readonly DeclaredObject[]
}

export function indexObjects(all: readonly DeclaredObject[]): IndexedObjects {
  const pairs = all.flatMap((one) => [...uidsOfOwners(one.object)].map((uid) => ({ uid, one })))
  const byOwner = Map.groupBy(pairs, ({ uid }) => uid)
  const byKey = Map.groupBy(all, ({ key }): string => key)
  return {
    madeFor: (uid) => (byOwner.get(uid) ?? []).map(({ one }) => one),
    withKey: (key) => byKey.get(key) ?? [],
  }
}

/** Cluster-scoped objects cannot have a namespaced owner: only the label links them. */
function mayNotBeOwned(object: Foreign): boolean {
  return at(object, 'metadata', 'namespace') === undefined
}

/** Returns the documents of an instance as objects of the cluster, or a text that says why one cannot be made. Pure. */
export function wantedObjects(
  made: readonly MadeObject[],
  instance: OwningInstance,
  context: {
    readonly home: string
    readonly served: readonly ServedKind[]
    /** Made for this instance before. */
    readonly children: readonly DeclaredObject[]
  },
): readonly ComposedObject[] | string {
  const { home, served, children } = context
  const own = nameOf(at(instance.object, 'metadata', 'namespace'))
  const renamed = new Map<string, string>()
  const found: { readonly one: MadeObject; readonly kind: ServedKind; readonly name: string }[] = []
  for (const one of made) {
    if (one.waits !== undefined) continue
    const { apiVersion, kind } = one.manifest
    const group = String(apiVersion).split('/')[0]
    const as = served.find((each) => each.kind.kind === kind && each.apiVersion.split('/')[0] === group)
    if (as === undefined) return `the cluster serves no ${String(kind)} of ${String(apiVersion)}`
    const name = objectName(one.manifest) ?? ''
    const namespace = nameOf(at(one.manifest, 'metadata', 'namespace')) ?? home
    if (as.namespaced && namespace !== (own ?? home))
      return `${String(kind)} ${name} would be in the namespace ${namespace}: an instance makes objects in its own, which is ${own ?? home}`
    if (!as.namespaced && own !== undefined && own !== home)
      return `${String(kind)} has no namespace: only instances in ${home} may make it`
    // Crossplane's names are random: keep the existing object's.
    const before = children.find(
      ({ object, served: { kind: other } }) =>
        other.kind === kind && annotationsOf(object).get(CROSSPLANE_PART) === one.id,
    )
    const given = before === undefined ? name : (objectName(before.object) ?? name)
    const counts = as.kind.namespaced === undefined || as.kind.namespaced(as.apiVersion)
    const space = counts && as.namespaced && namespace !== home ? namespace : undefined
    for (const key of one.keys) renamed.set(key, resourceKey(as.kind.kind, given, space))
    found.push({ one, kind: as, name: given })
  }
  return found.map(({ one, kind, name }) => {
    const namespace = kind.namespaced ? (own ?? home) : undefined
    const manifest = withKeys(one.manifest, renamed)
    const spec = recordOf(manifest.spec)
    const metadata = recordOf(manifest.metadata)
    const hash = createHash('sha256')
      .update(JSON.stringify([metadata.labels, metadata.annotations, spec]))
      .digest('hex')
      .slice(0, 16)
    const ownable = own === undefined || kind.namespaced
    const owner = {
      apiVersion: instance.apiVersion,
      kind: instance.kind,
      name: objectName(instance.object),
      uid: uidOf(instance.object),
      controller: true,
    }
    return {
      key: renamed.get(one.keys[0] ?? '') ?? '',
      served: kind,
      namespace,
      name,
      id: one.id,
      object: {
        apiVersion: kind.apiVersion,
        kind: kind.kind.kind,
        metadata: {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          labels: { ...recordOf(metadata.labels), [INSTANCE_UID]: uidOf(instance.object), [PART]: labelText(one.part) },
          annotations: { ...recordOf(metadata.annotations), [INSTANCE_PATH]: instance.path, [HASH]: hash },
          ...(ownable ? { ownerReferences: [owner] } : {}),
        },
        spec,
      },
    }
  })
}

function labelText(part: string): string {
  return part.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '')
}

/** The document with the keys that what it depends on has here. */
function withKeys(manifest: Foreign, renamed: ReadonlyMap<string, string>): Foreign {
  if ([...renamed].every(([from, to]) => from === to)) return manifest
  const spec = recordOf(manifest.spec)
  const metadata = recordOf(manifest.metadata)
  const annotations = recordOf(metadata.annotations)
  const said = annotations[DEPENDS_ON]
  const keyed = (key: unknown) => (typeof key === 'string' ? (renamed.get(key.trim()) ?? key) : key)
  return {
    ...manifest,
    metadata:
      typeof said === 'string'
        ? { ...metadata, annotations: { ...annotations, [DEPENDS_ON]: said.split(',').map(keyed).join(', ') } }
        : metadata,
    spec: Array.isArray(spec.dependsOn) ? { ...spec, dependsOn: spec.dependsOn.map(keyed) } : spec,
  }
}

/** Reports whether the object has all wanted fields, and none that are no longer wanted. Pure. */
export function isAsWanted(live: Foreign, { object }: ComposedObject): boolean {
  return annotationsOf(live).get(HASH) === annotationsOf(object).get(HASH) && contains(live, object)
}

function contains(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) && live.length === wanted.length && wanted.every((one, index) => contains(live[index], one))
    )
  if (isRecord(wanted))
    return isRecord(live) && Object.entries(wanted).every(([name, one]) => contains(live[name], one))
  return live === wanted
}

/** Keys of what an object is made after. */
export function comesAfter({ object }: DeclaredObject): readonly string[] {
  const said = annotationsOf(object).get(DEPENDS_ON)?.split(',') ?? []
  const listed = at(object, 'spec', 'dependsOn')
  return [...said, ...(Array.isArray(listed) ? listed : [])].map((key) => String(key).trim())
}

/** The key that an object of a cluster has. */
export function instanceKey(kind: string, object: Foreign, home: string): string {
  return resourceKey(kind, objectName(object) ?? '', namespaceIn(object, home))
}

/** The instance that an object was made for: its path in the API, and its uid. */
export function madeFor(object: Foreign): { readonly path: string; readonly uid: string } | undefined {
  const [path, uid] = [annotationsOf(object).get(INSTANCE_PATH), labelsOf(object).get(INSTANCE_UID)]
  return path === undefined || uid === undefined ? undefined : { path, uid }
}

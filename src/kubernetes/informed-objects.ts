import { LIMITS } from '../lib/limits.ts'
import { at, type Foreign, nameOf, objectName, recordOf } from './objects.ts'
import type { WatchEvent } from './watch.ts'

/** One object before and after a change. Undefined: absent then. */
export interface ChangedObject {
  readonly before: Foreign | undefined
  readonly after: Foreign | undefined
}

/** The objects that an informer holds, within the bounds of a list. */
export interface InformedObjects {
  all(): ReadonlyMap<string, Foreign>
  /** Takes a list in place of what was there. */
  replace(items: readonly Foreign[], length: number): void
  /** Returns the change; undefined for an object without a name. */
  take(event: WatchEvent): ChangedObject | undefined
  /** Takes the answer to a write, unless the watch brought a newer version or the object is gone. */
  note(object: Foreign): void
  isTooMuch(): boolean
  clear(): void
}

export function createInformedObjects(keep: (object: Foreign) => Foreign): InformedObjects {
  let objects = new Map<string, Foreign>()
  /** Characters of the JSON of the objects that a watch brought. */
  const lengths = new Map<string, number>()
  let length = 0
  const kept = (object: Foreign) => keep(withoutManagers(object))

  function replace(items: readonly Foreign[], ofItems: number): void {
    objects = new Map()
    for (const object of items) {
      const key = keyInInformer(object)
      if (key !== undefined) objects.set(key, kept(object))
    }
    lengths.clear()
    length = ofItems
  }

  return {
    all: () => objects,
    replace,
    take({ type, object, length: came }) {
      const key = keyInInformer(object)
      if (key === undefined) return undefined
      const before = objects.get(key)
      length += (type === 'DELETED' ? 0 : came) - (lengths.get(key) ?? 0)
      if (type === 'DELETED') {
        objects.delete(key)
        lengths.delete(key)
      } else {
        objects.set(key, kept(object))
        lengths.set(key, came)
      }
      return { before, after: objects.get(key) }
    },
    note(object) {
      const key = keyInInformer(object)
      const before = key === undefined ? undefined : objects.get(key)
      if (key !== undefined && before !== undefined && isNewer(object, before)) objects.set(key, kept(object))
    },
    isTooMuch: () => objects.size > LIMITS.surveyEntries || length > LIMITS.listBytes,
    clear: () => replace([], 0),
  }
}

/** Drops the notes on field managers: no reader of an informer needs them, and they are as long as the rest. */
function withoutManagers(object: Foreign): Foreign {
  const { managedFields, ...metadata } = recordOf(object.metadata)
  return managedFields === undefined ? object : { ...object, metadata }
}

/** `namespace/name`, or `name`. */
export function keyInInformer(object: Foreign): string | undefined {
  const name = objectName(object)
  const namespace = nameOf(at(object, 'metadata', 'namespace'))
  return name === undefined || namespace === undefined ? name : `${namespace}/${name}`
}

/** Versions of one kind can be compared since Kubernetes 1.35, and have always been whole numbers of etcd. */
function isNewer(object: Foreign, than: Foreign): boolean {
  const [one, other] = [object, than].map((each) => Number(at(each, 'metadata', 'resourceVersion')))
  return Number.isSafeInteger(one) && Number.isSafeInteger(other) && Number(one) > Number(other)
}

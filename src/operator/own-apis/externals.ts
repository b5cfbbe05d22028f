import { type KubernetesClient, segment } from '../../kubernetes/client.ts'
import { at, type Foreign } from '../../kubernetes/objects.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { ObjectReference, PermittedRead } from '../../model/foreign-object.ts'
import { readKey } from '../../source/compose/in-cluster.ts'
import { placeOfKind } from './followed-kinds.ts'

/** Foreign objects that definitions read. Read by name, one by one: that needs the fewest rights. */
export interface Externals {
  /** Returns the cached object; undefined: absent or not read yet. A text says why it cannot be read. */
  find(reference: PermittedRead<ObjectReference>): Foreign | undefined | string
  /** Everything that was read, by `readKey`. */
  all(): ReadonlyMap<string, Foreign | string>
  /** A number that changes with any of them. */
  stamp(): number
  /** Reads all requested objects. Returns true if one has changed. */
  read(): Promise<boolean>
  /** Reports whether a requested object was never read. */
  unread(): boolean
}

const AT_ONCE = 8

export function createExternals(client: KubernetesClient): Externals {
  const wanted = new Map<string, PermittedRead<ObjectReference>>()
  const found = new Map<string, Foreign | string | undefined>()
  let stamp = 0
  return {
    find(reference) {
      const key = readKey(reference)
      wanted.set(key, reference)
      return found.get(key)
    },
    all: () => new Map([...found].flatMap(([key, one]) => (one === undefined ? [] : [[key, one]]))),
    stamp: () => stamp,
    unread: () => [...wanted.keys()].some((key) => !found.has(key)),
    async read() {
      let changed = false
      await inParallel([...wanted], AT_ONCE, async ([key, reference]) => {
        const before = found.get(key)
        const now = await readExternal(client, reference, before)
        if (!found.has(key) || versionOf(before) !== versionOf(now)) changed = true
        found.set(key, now)
      })
      if (changed) stamp++
      return changed
    },
  }
}

function versionOf(object: Foreign | string | undefined): unknown {
  return typeof object === 'string' ? object : at(object, 'metadata', 'resourceVersion')
}

async function readExternal(
  client: KubernetesClient,
  { apiVersion, kind, namespace, name, reader }: PermittedRead<ObjectReference>,
  before: Foreign | string | undefined,
): Promise<Foreign | string | undefined> {
  const place = await placeOfKind(client, apiVersion, kind)
  if (place === undefined) return `the cluster serves no ${kind} of ${apiVersion}`
  if ('trouble' in place) return before ?? place.trouble
  if (!place.namespaced && reader !== undefined)
    return `${kind} has no namespace: an instance in ${namespace} reads objects of its own namespace alone`
  const space = place.namespaced ? `namespaces/${segment(namespace ?? 'default')}/` : ''
  const top = apiVersion.includes('/') ? 'apis' : 'api'
  const asked = await client.get(`/${top}/${apiVersion}/${space}${place.plural}/${segment(name)}`)
  if (asked.is === 'answer') return asked.value
  if (asked.is === 'silence') return before
  if (asked.status === 404) return undefined
  return `${asked.refusal.message}; croft's ServiceAccount needs the right to get ${place.plural}`
}

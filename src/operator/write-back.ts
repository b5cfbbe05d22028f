import { type Asked, type KubernetesClient, segment } from '../kubernetes/client.ts'
import { at, type Foreign, nameOf, objectName } from '../kubernetes/objects.ts'
import type { NewEvent } from '../model/record.ts'
import { eventFor } from './events.ts'
import { type DeclaredObject, finalizerFor, finalizersOf } from './objects.ts'
import { collectionOf } from './served.ts'
import { type KnownOfObject, metadataPatch, statusPatch } from './status.ts'

export interface WriteBack {
  readonly client: KubernetesClient
  readonly home: string
  /** The reporter in Events. */
  readonly name: string
  readonly nowMs: number
  /** Takes what the server answered. */
  note(declared: DeclaredObject, object: Foreign): void
  warn(message: string): void
}

/**
 * Writes what is new about one object: its finalizer and external name, its conditions. False: nothing is new, and nothing
 * was sent. True: something was, whether or not the server took it.
 */
export async function tellObject(to: WriteBack, declared: DeclaredObject, known: KnownOfObject): Promise<boolean> {
  const path = pathOf(to, declared)
  const metadata = metadataPatch(declared, known)
  let now = declared
  if (metadata !== undefined) {
    // A list is replaced as a whole, so only in the version that was read.
    const resourceVersion = at(declared.object, 'metadata', 'resourceVersion')
    const body = { metadata: { ...metadata, ...(metadata.finalizers === undefined ? {} : { resourceVersion }) } }
    const asked = await to.client.merge(path, body, `mark ${declared.key}`)
    if (!taken(to, declared, asked)) return true
    now = { ...declared, object: asked.value }
  }
  const status = statusPatch(now, known, to.nowMs)
  if (status === undefined) return metadata !== undefined
  await writeStatus(to, now, known, status)
  return true
}

const STATUS_TRIES = 3

/** Writes a status to the version that it was computed from: its conditions are one list, and some of them are other programs'. */
async function writeStatus(to: WriteBack, declared: DeclaredObject, known: KnownOfObject, first: Foreign) {
  const path = pathOf(to, declared)
  let [now, status] = [declared.object, first]
  for (let tries = 1; ; tries++) {
    const resourceVersion = at(now, 'metadata', 'resourceVersion')
    const body = { metadata: { resourceVersion }, status }
    const asked = await to.client.merge(`${path}/status`, body, `write the status of ${declared.key}`)
    const changed = asked.is === 'error' && asked.status === 409 && tries < STATUS_TRIES
    const there = changed ? await to.client.get(path) : undefined
    if (there?.is !== 'answer') return taken(to, declared, asked)
    now = there.value
    const again = statusPatch({ ...declared, object: now }, known, to.nowMs)
    if (again === undefined) return taken(to, declared, there)
    status = again
  }
}

/** Removes our finalizer: the resource is gone or orphaned, so the object may go. */
export async function release(to: WriteBack, declared: DeclaredObject): Promise<boolean> {
  const held = finalizersOf(declared.object)
  const finalizers = held.filter((one) => one !== finalizerFor(declared.served))
  if (finalizers.length === held.length) return true
  const resourceVersion = at(declared.object, 'metadata', 'resourceVersion')
  const body = { metadata: { resourceVersion, finalizers } }
  return taken(to, declared, await to.client.merge(pathOf(to, declared), body, `release ${declared.key}`))
}

/** Reports an Event; a repetition increases the count of the existing one. */
export async function tellEvent(to: WriteBack, declared: DeclaredObject, event: NewEvent): Promise<void> {
  const body = eventFor(declared, event, to.name)
  const namespace = nameOf(at(body, 'metadata', 'namespace')) ?? 'default'
  const collection = `/api/v1/namespaces/${segment(namespace)}/events`
  const made = await to.client.create(collection, body, `tell of ${declared.key}`)
  if (made.is === 'answer') return
  if (made.is !== 'error' || made.status !== 409) {
    to.warn(
      `an Event about ${declared.key} was not written: ${made.is === 'error' ? made.refusal.message : made.message}`,
    )
    return
  }
  const path = `${collection}/${segment(objectName(body) ?? '')}`
  const there = await to.client.get(path)
  if (there.is !== 'answer') return
  const count = Number(there.value.count ?? 1) + 1
  await to.client.merge(path, { count, lastTimestamp: body.lastTimestamp }, `tell of ${declared.key}`)
}

function pathOf({ home }: WriteBack, { served, object, namespace }: DeclaredObject): string {
  return `${collectionOf(served, namespace ?? home)}/${segment(objectName(object) ?? '')}`
}

function taken(
  to: WriteBack,
  declared: DeclaredObject,
  asked: Asked<Foreign>,
): asked is { readonly is: 'answer'; readonly value: Foreign } {
  if (asked.is === 'answer') {
    to.note(declared, asked.value)
    return true
  }
  // Another writer was faster, or it is gone: the watch reports that, and the object is judged again.
  const expected = asked.is === 'error' && (asked.status === 409 || asked.status === 404)
  if (!expected) to.warn(asked.is === 'error' ? asked.refusal.message : asked.message)
  return false
}

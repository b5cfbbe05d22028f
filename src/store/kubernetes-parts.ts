import { gunzipSync, gzipSync } from 'node:zlib'
import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { at, type Foreign, labelsOf, objectName } from '../kubernetes/objects.ts'
import { patiently, type Wait } from '../kubernetes/patience.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'

/** The place of a store: one name in one namespace. */
export interface KubernetesPlace {
  readonly client: KubernetesClient
  readonly namespace: string
  /** Name of the head; the parts' names start with it. */
  readonly name: string
  readonly random: Random
  /** The epoch to begin, where a Lease counts them. One that is not newer than the store's is refused with StaleEpoch. */
  readonly epoch?: number
  /** The move that may open the store, and closes it to others. The gate decides between two movers. */
  readonly mover?: string
  /** While the API is away or takes no writes. Absent: nothing is tried again. */
  readonly wait?: Wait
}

const STORE = 'croft.dev/store'
const EPOCH = 'croft.dev/epoch'
/** Compressed bytes in one object; base64 adds a third. */
const PART_BYTES = 512 * 1024

export function collectionOf({ namespace }: KubernetesPlace): string {
  return `/api/v1/namespaces/${segment(namespace)}/configmaps`
}

export function labelsFor(place: KubernetesPlace, epoch: number): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/managed-by': 'croft', [STORE]: place.name, [EPOCH]: `${epoch}` }
}

/** Writes a value as new immutable objects; answers their names. Their epoch says which writers may still refer to them. */
export async function writeParts(place: KubernetesPlace, epoch: number, value: unknown): Promise<readonly string[]> {
  const bytes = gzipSync(JSON.stringify(value))
  const names: string[] = []
  try {
    for (let start = 0; start < bytes.length; start += PART_BYTES) {
      const name = `${place.name}-${epoch}-${drawn(place.random)}`
      const part = bytes.subarray(start, start + PART_BYTES).toString('base64')
      const body = {
        metadata: { name, namespace: place.namespace, labels: labelsFor(place, epoch) },
        immutable: true,
        binaryData: { part },
      }
      names.push(name)
      const made = await patiently(place.wait, () => place.client.create(collectionOf(place), body, `write ${name}`))
      // The name is random: an existing one is from an attempt without an answer.
      const there = made.is === 'error' && made.status === 409
      if (made.is !== 'answer' && !there) throw new Error(made.is === 'error' ? made.refusal.message : made.message)
    }
  } catch (error) {
    await deleteParts(place, names)
    throw error
  }
  return names
}

/** Undefined: a part is gone, so the caller's head is stale. */
export async function readParts(place: KubernetesPlace, names: readonly string[]): Promise<unknown> {
  const pieces: Buffer[] = []
  for (const name of names) {
    const got = await patiently(place.wait, () => place.client.get(`${collectionOf(place)}/${segment(name)}`))
    if (got.is === 'error' && got.status === 404) return undefined
    if (got.is !== 'answer') throw new Error(got.is === 'error' ? got.refusal.message : got.message)
    const part = at(got.value, 'binaryData', 'part')
    if (typeof part !== 'string') throw new Error(`the ConfigMap ${name} is not part of a store of croft`)
    pieces.push(Buffer.from(part, 'base64'))
  }
  const text = gunzipSync(Buffer.concat(pieces), { maxOutputLength: LIMITS.unpackedStoreBytes }).toString('utf8')
  return frozen(text)
}

/** Deletes unreferenced parts. If the server is away, the next epoch deletes the rest. */
export async function deleteParts(place: KubernetesPlace, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map((name) => place.client.delete(`${collectionOf(place)}/${segment(name)}`, `delete ${name}`)),
  )
}

/** Parts of earlier epochs that the head does not name: left by writers that ended in the middle. */
export async function leftovers(
  place: KubernetesPlace,
  epoch: number,
  named: ReadonlySet<string>,
): Promise<readonly string[]> {
  const listed = await place.client.list(collectionOf(place), {
    labelSelector: `${STORE}=${place.name}`,
    metadataOnly: true,
  })
  if (listed.is !== 'answer') return []
  return listed.value.flatMap((object) => {
    const name = objectName(object)
    return name === undefined || name === place.name || named.has(name) || epochOf(object) >= epoch ? [] : [name]
  })
}

function epochOf(object: Foreign): number {
  const epoch = Number(labelsOf(object).get(EPOCH) ?? Number.NaN)
  return Number.isFinite(epoch) ? epoch : Number.POSITIVE_INFINITY
}

export function frozen<T>(text: string): T {
  return JSON.parse(text, (_, part) => (typeof part === 'object' ? Object.freeze(part) : part)) as T
}

export function drawn(random: Random): string {
  return Array.from({ length: 12 }, () => Math.floor(random.next() * 16).toString(16)).join('')
}

import { createHash } from 'node:crypto'
import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { createInformer, type Informer } from '../kubernetes/informer.ts'
import { at, type Foreign } from '../kubernetes/objects.ts'
import { patiently, type Wait } from '../kubernetes/patience.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import type { ResourceKey } from '../model/key.ts'
import type { ResourceRecord } from '../model/record.ts'
import { Secret } from '../model/secret.ts'
import { type DeclaredObject, declaredObject } from './objects.ts'
import { type ClusterRevision, revisionOf } from './revision.ts'
import { collectionOf, type ServedKind, servedKinds } from './served.ts'

/** The cluster's objects of croft's kinds, and what they declare together. */
export interface ClusterSource {
  /** Follows the kinds that are served, and those that come later. */
  run(signal: AbortSignal): Promise<void>
  /** Every kind that is served has been listed. */
  synced(): boolean
  objects(): readonly DeclaredObject[]
  note(declared: DeclaredObject, object: Foreign): void
  read(memory: OperatorMemory): Promise<ClusterRevision>
  /** The value of a Secret, for connections and seeds. Undefined: there is none. */
  secret(place: SecretPlace): Promise<Secret | undefined>
}

export interface SecretPlace {
  readonly name: string
  readonly namespace: string
  readonly key: string
}

/** What the operator knows from before. */
export interface OperatorMemory {
  readonly known: ReadonlySet<ResourceKey>
  readonly records: readonly ResourceRecord[]
  readonly passed: ReadonlySet<ResourceKey>
}

export interface ClusterSourceOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  /** The operator's own namespace. */
  readonly home: string
  /** While the API is away. */
  readonly wait?: Wait
  onChange(): void
  warn(message: string): void
}

/** Definitions come with charts and go with them: how often we look which kinds there are. */
const DISCOVER_MS = 30_000
const DISCOVER_AGAIN_MS = 2_000

export function createClusterSource(options: ClusterSourceOptions): ClusterSource {
  const { client, home, clock } = options
  const informers = new Map<string, { readonly served: ServedKind; readonly informer: Informer }>()
  let discovered = false
  let uid: string | undefined

  const discover = async (signal: AbortSignal, running: Set<Promise<void>>): Promise<boolean> => {
    const found = await servedKinds(client, signal)
    if (found.is !== 'answer') {
      if (!signal.aborted) options.warn(found.is === 'error' ? found.refusal.message : found.message)
      return false
    }
    for (const served of found.value) {
      const path = collectionOf(served, home)
      if (informers.has(path)) continue
      const informer = createInformer({ ...options, path })
      informers.set(path, { served, informer })
      running.add(informer.run(signal))
    }
    discovered = true
    return true
  }

  const objects = (): readonly DeclaredObject[] =>
    [...informers.values()].flatMap(({ served, informer }) =>
      [...informer.objects().values()].flatMap((object) => declaredObject(served, object, home) ?? []),
    )

  const text = async ({ namespace, name, key }: SecretPlace): Promise<string | undefined> => {
    const path = `/api/v1/namespaces/${segment(namespace)}/secrets/${segment(name)}`
    const got = await patiently(options.wait, () => client.get(path))
    if (got.is === 'error' && got.status === 404) return undefined
    if (got.is !== 'answer') throw new Error(got.is === 'error' ? got.refusal.message : got.message)
    const value = at(got.value, 'data', key)
    return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : undefined
  }

  /** Who this cluster is: the same for every replica, and for as long as the cluster lives. */
  const estate = async (all: readonly DeclaredObject[]): Promise<readonly Foreign[]> => {
    if (all.some(({ served }) => served.kind.kind === 'Estate')) return []
    if (uid === undefined) {
      const system = await patiently(options.wait, () => client.get('/api/v1/namespaces/kube-system'))
      const of = system.is === 'answer' ? at(system.value, 'metadata', 'uid') : undefined
      if (typeof of !== 'string')
        throw new Error('the namespace kube-system cannot be read: it says who this cluster is')
      uid = createHash('sha256').update(of).digest('hex').slice(0, 16)
    }
    return [{ apiVersion: 'croft.dev/v1alpha1', kind: 'Estate', metadata: { name: 'cluster' }, spec: { uid } }]
  }

  return {
    objects,
    synced: () => discovered && [...informers.values()].every(({ informer }) => informer.synced()),
    note({ served }, object) {
      informers.get(collectionOf(served, home))?.informer.note(object)
    },
    async read(memory) {
      const all = objects()
      const derived = await estate(all)
      const incomplete = !discovered || [...informers.values()].some(({ informer }) => !informer.synced())
      return revisionOf({ ...memory, objects: all, derived, incomplete, home })
    },
    async secret(place) {
      const value = await text(place)
      return value === undefined ? undefined : new Secret(value.trim())
    },
    async run(signal) {
      const running = new Set<Promise<void>>()
      while (!signal.aborted) {
        const found = await discover(signal, running)
        await clock.sleep(found ? DISCOVER_MS : DISCOVER_AGAIN_MS, signal)
      }
      await Promise.all(running)
    },
  }
}

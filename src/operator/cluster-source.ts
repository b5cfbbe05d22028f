import { createHash } from 'node:crypto'
import { type KubernetesClient, segment } from '../kubernetes/client.ts'
import { type ChangedObject, keyInInformer } from '../kubernetes/informed-objects.ts'
import { createInformer, type Informer } from '../kubernetes/informer.ts'
import { at, type Foreign } from '../kubernetes/objects.ts'
import { patiently, type Wait } from '../kubernetes/patience.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { ResourceRecord } from '../model/record.ts'
import { Secret } from '../model/secret.ts'
import type { NamespaceGrants } from './grants.ts'
import { type DeclaredObject, declaredObject, heldObject, stampOf } from './objects.ts'
import { madeFor } from './own-apis/composed-objects.ts'
import { type Partition, partition, type Shard, sameTies, withRenewed } from './partition.ts'
import { type ClusterRevision, createReader } from './revision.ts'
import { collectionOf, collectionsOf, type ServedKind, servedKinds, takenAlong } from './served.ts'

/** The cluster's objects of croft's kinds, and what they declare together. */
export interface ClusterSource {
  /** Follows the kinds that are served, and those that come later. */
  run(signal: AbortSignal): Promise<void>
  /** Every kind that is served has been listed. */
  synced(): boolean
  /** Returns the independent shards. Undefined: some kinds are not listed yet. */
  shards(): readonly Shard[] | undefined
  /** Returns the objects of one shard. `onChange` is called if one of them changes. */
  part(shard: Shard, onChange: () => void): ShardSource
  /** Every object of croft's kinds. */
  all(): readonly DeclaredObject[]
  /** The kinds that are followed. */
  served(): readonly ServedKind[]
  /** Says so at every change of any object, also of its status. The answer ends it. */
  follow(onChange: () => void): () => void
  /** Returns the value of a Secret, for connections and seeds. Undefined: none. */
  secret(place: SecretPlace): Promise<Secret | undefined>
}

/** The objects of one shard as they are now, for as long as it has the same connections and clusters. */
export interface ShardSource {
  objects(): readonly DeclaredObject[]
  /** Returns their number: read for all other shards after each pass. */
  count(): number
  note(declared: DeclaredObject, object: Foreign): void
  read(memory: OperatorMemory): Promise<ClusterRevision>
  close(): void
}

export interface SecretPlace {
  readonly name: string
  readonly namespace: string
  readonly key: string
}

/** The operator's knowledge from earlier passes. */
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
  /** Other namespaces that it reads, and what their objects may name. */
  readonly grants?: NamespaceGrants
  /** While the API is away. */
  readonly wait?: Wait
  /** The shards may be others. */
  onChange(): void
  warn(message: string): void
}

/** Batches changes. */
const GATHER_MS = 50
/** Regrouping takes at most one part in so many of our time, for any number of objects and changes. */
const GATHER_SHARE = 5
/** Definitions come with charts and go with them: how often we look which kinds there are. */
const DISCOVER_MS = 30_000
const DISCOVER_AGAIN_MS = 2_000

export function createClusterSource(options: ClusterSourceOptions): ClusterSource {
  const { client, home, clock, grants = new Map() } = options
  const informers = new Map<string, { readonly served: ServedKind; readonly informer: Informer }>()
  let discovered = false
  let uid: string | undefined
  /** Undefined: something changed since that may divide the objects in another way. */
  let divided: Partition | undefined
  /** Keys of objects that have changed without changing their shard. */
  const renewed = new Set<ResourceKey>()
  /** The replica must be told that the shards may have changed. */
  let redivided = false
  let listed = false
  /** Collections that the last discovery found. */
  let served: ReadonlySet<string> = new Set()
  let gathering = false
  const followed = new Set<FollowedShard>()
  const listeners = new Set<() => void>()

  let notBeforeMs = Number.NEGATIVE_INFINITY

  const changed = (): void => {
    if (gathering) return
    gathering = true
    void clock.sleep(Math.max(GATHER_MS, notBeforeMs - clock.monotonicMs())).then(() => {
      gathering = false
      if (!isSynced()) return
      const begunMs = clock.monotonicMs()
      for (const one of followed) if (refresh(one)) one.onChange()
      current()
      // The first change after a pause is handled at once.
      const endedMs = clock.monotonicMs()
      notBeforeMs = endedMs + (endedMs - begunMs) * GATHER_SHARE
      if (redivided) options.onChange()
      redivided = false
    })
  }

  /** While an estate settles, nearly every change is a status that some replica wrote: it changes no declaration. */
  const noticed = (served: ServedKind, change: ChangedObject | undefined): void => {
    for (const tell of listeners) tell()
    const [before, after] = [change?.before, change?.after].map((object) =>
      object === undefined ? undefined : declaredObject(served, object, home),
    )
    const both = before !== undefined && after !== undefined
    if (both && stampOf(before) === stampOf(after)) return
    if (both && sameTies(before, after)) renewed.add(after.key)
    else {
      divided = undefined
      redivided = true
    }
    changed()
  }

  /** Returns the watched version; its status may be newer than the last division. */
  const latest = (one: DeclaredObject): DeclaredObject => {
    const key = keyInInformer(one.object)
    const now = informers
      .get(collectionOf(one.served, one.namespace ?? home))
      ?.informer.objects()
      .get(key ?? '')
    return now === undefined || now === one.object ? one : (declaredObject(one.served, now, home) ?? one)
  }

  /** Reports whether an object of the shard has changed. */
  const refresh = (one: FollowedShard): boolean => {
    const { shards, common } = current()
    const now = shards.find(({ atoms }) => atoms.join('\n') === one.atoms)
    // Its connections moved to another shard: keep its state until it is stopped.
    if (now === undefined || (now === one.shard && common === one.allCommon)) return false
    const before = one.stamps
    one.shard = now
    one.allCommon = common
    one.objects = now.objects
    // Compare by key: during a change, the division may hold two versions of an object.
    const own = new Set(now.objects.map(({ key }) => key))
    one.common = common.filter(({ key }) => !own.has(key))
    one.stamps = new Map([...one.objects, ...one.common].map((object) => [object.key, stampOf(object)]))
    return one.stamps.size !== before.size || [...one.stamps].some(([key, stamp]) => before.get(key) !== stamp)
  }

  const current = (): Partition => {
    if (divided === undefined) divided = partition(objects())
    else if (renewed.size > 0) divided = withRenewed(divided, (one) => (renewed.has(one.key) ? latest(one) : one))
    renewed.clear()
    return divided
  }

  /**
   * Reports whether all kinds are listed. A kind that is no longer served does not block: its objects stay declared,
   * because none was deleted. Until a discovery leaves it out too, it may only be away briefly.
   */
  const isComplete = (): boolean =>
    discovered &&
    [...informers].every(([path, { informer }]) => informer.synced() || (informer.vanished() && !served.has(path)))

  const isSynced = (): boolean => {
    listed ||= isComplete()
    return listed
  }

  const discover = async (signal: AbortSignal, running: Set<Promise<void>>): Promise<boolean> => {
    const found = await servedKinds(client, signal)
    if (found.is !== 'answer') {
      if (!signal.aborted) options.warn(found.is === 'error' ? found.refusal.message : found.message)
      return false
    }
    const places = found.value.flatMap((served) =>
      collectionsOf(served, home, grants.keys()).map((path) => ({ served, path })),
    )
    served = new Set(places.map(({ path }) => path))
    for (const { served, path } of places) {
      if (informers.has(path)) continue
      const informer = createInformer({
        ...options,
        path,
        // An API may read any field of the objects made for it.
        keep: (object) => (madeFor(object) === undefined ? heldObject(served, object) : object),
        onChange: (change) => noticed(served, change),
      })
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

  /** Derives the estate's identity from the cluster: equal for all replicas, for the life of the cluster. */
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

  /** The server deletes what belongs to something that is gone. An instance goes after what was made for it, unless it was lost. */
  const lostInstance = async (object: Foreign): Promise<string | undefined> => {
    const made = madeFor(object)
    if (made === undefined) return undefined
    const asked = await client.get(made.path.split('/').map(segment).join('/'))
    if (asked.is === 'answer' && at(asked.value, 'metadata', 'uid') === made.uid) return undefined
    const lost = asked.is === 'answer' || (asked.is === 'error' && asked.status === 404)
    return lost
      ? `${made.path}, for which it was made, is gone without having been deleted`
      : `the server does not say whether ${made.path}, for which it was made, lives`
  }

  /** Objects that are deleted because their definition or namespace is, with the reason. Asked each time: it may come later. */
  const alongIn = async (all: readonly DeclaredObject[]): Promise<ReadonlyMap<ResourceKey, string>> => {
    const along = new Map<ResourceKey, string>()
    const going = all.filter(({ deleting }) => deleting)
    for (const own of Map.groupBy(going, ({ served, namespace = home }) => collectionOf(served, namespace)).values()) {
      const [{ served, namespace = home }] = own as [DeclaredObject]
      const why = await takenAlong(client, served, namespace)
      for (const { key, object } of own) {
        const because = why ?? (await lostInstance(object))
        if (because !== undefined) along.set(key, because)
      }
    }
    return along
  }

  return {
    synced: isComplete,
    all: objects,
    served: () => [...new Set([...informers.values()].map(({ served }) => served))],
    follow(onChange) {
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
    shards: () => (isSynced() ? current().shards : undefined),
    part(shard, onChange) {
      const one: FollowedShard = { atoms: shard.atoms.join('\n'), objects: [], common: [], stamps: new Map(), onChange }
      const reader = createReader(home, grants)
      refresh(one)
      followed.add(one)
      return {
        objects: () => one.objects.map(latest),
        count: () => one.objects.length,
        note({ served, namespace = home }, object) {
          const informer = informers.get(collectionOf(served, namespace))?.informer
          const before = informer?.objects().get(keyInInformer(object) ?? '')
          informer?.note(object)
          noticed(served, { before, after: informer?.objects().get(keyInInformer(object) ?? '') })
        },
        async read(memory) {
          const derived = await estate(current().common)
          const incomplete = !isComplete()
          const objects = [...one.objects, ...one.common]
          const along = await alongIn(one.objects)
          return reader.read({ ...memory, objects, derived, incomplete, along })
        },
        close: () => void followed.delete(one),
      }
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

interface FollowedShard {
  readonly atoms: string
  /** State at the last look. */
  shard?: Shard
  allCommon?: readonly DeclaredObject[]
  objects: readonly DeclaredObject[]
  common: readonly DeclaredObject[]
  /** The content stamp of each object, by key. */
  stamps: ReadonlyMap<ResourceKey, string>
  readonly onChange: () => void
}

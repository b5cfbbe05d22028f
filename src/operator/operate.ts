import type { Calm } from '../controller/controller.ts'
import type { Engine } from '../engine/engine.ts'
import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Wait } from '../kubernetes/patience.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import type { CroftEvent } from '../model/record.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { Composer } from '../source/compose/in-cluster.ts'
import type { Store } from '../store/port.ts'
import { type ClusterSource, createClusterSource, type ShardSource } from './cluster-source.ts'
import type { NamespaceGrants } from './grants.ts'
import { joinedEpoch, joinStores } from './joined-stores.ts'
import { shardStore } from './leases.ts'
import { createOperator, OBJECTS } from './operator.ts'
import { createOwnApis } from './own-apis/own-apis.ts'
import { REST, type Shard } from './partition.ts'
import { createReplica, type Held, type Replica } from './replica.ts'

export interface OperateOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  /** The operator's own namespace. */
  readonly home: string
  /** Other namespaces that it reads, and what their objects may name. */
  readonly grants?: NamespaceGrants
  /** Name of this replica. */
  readonly name: string
  readonly wait: Wait
  openStore(place: { readonly name: string; readonly epoch: number }): Store | Promise<Store>
  openEngine(store: Store, epoch: number): Promise<Engine>
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Make the objects that instances of composed APIs stand for. */
  readonly ownApis?: boolean
  /** Reads their definitions and expands their instances, where that can be ended. */
  readonly composer: Composer
  onEvents?(events: readonly CroftEvent[]): void
  note(message: string): void
  warn(message: string): void
  /** The work of its shards is over for now: a moment to give memory back. */
  onCalm?(): void
}

export interface Operation {
  run(signal: AbortSignal): Promise<void>
  readonly source: ClusterSource
  readonly working: Replica['working']
}

/** Shards that finish within this time of each other count as one. */
const CALM_MS = 5_000

/** Runs one replica of the operator: the objects of a cluster, its share of their shards, and an engine for each. */
export function createOperation(options: OperateOptions): Operation {
  const { client, clock, home, warn } = options
  const source = createClusterSource({ ...options, onChange: () => replica.wake() })

  const parts = new Set<ShardSource>()
  const otherThan = (own: ShardSource): number =>
    [...parts].reduce((sum, part) => sum + (part === own ? 0 : part.count()), 0)

  let rested = 0
  /** Shards finish one after the other: report it once, after the last. */
  const calm = (after: Calm): void => {
    // Collecting a replica's heap costs as much as many looks.
    if (after === 'looks') return
    const mine = ++rested
    void clock.sleep(CALM_MS).then(() => {
      if (mine === rested) options.onCalm?.()
    })
  }

  const work = async (shard: Shard, held: readonly Held[], signal: AbortSignal): Promise<void> => {
    const store = together(shard, held)
    const epoch = joinedEpoch(held.map((one) => one.epoch))
    const known = await Promise.all(held.map((one) => one.store.getValue(OBJECTS)))
    const engine = await options.openEngine(store, epoch)
    let poke = () => {}
    const own = source.part(shard, () => poke())
    parts.add(own)
    try {
      const operator = await createOperator({
        clock,
        store,
        epoch,
        engine,
        source: own,
        known,
        resolveSecret: options.resolveSecret,
        otherResources: () => otherThan(own),
        phase: options.random.next(),
        onCalm: calm,
        back: { client, home, name: options.name, warn, mayWrite: () => !signal.aborted && replica.alive() },
      })
      poke = () => operator.poke('cluster')
      operator.subscribe((_view, events) => options.onEvents?.(events))
      const ends = new AbortController()
      const both = AbortSignal.any([signal, ends.signal])
      // The replica with the unassigned objects composes for all.
      const composing = options.ownApis === true && shard.atoms[0] === REST ? composer(both).run(both) : undefined
      try {
        await operator.run(signal)
      } finally {
        ends.abort()
        await composing
      }
    } finally {
      parts.delete(own)
      own.close()
      await engine.close()
    }
  }

  const composer = (signal: AbortSignal) =>
    createOwnApis({
      ...options,
      grants: options.grants ?? new Map(),
      source,
      mayWrite: () => !signal.aborted && replica.alive(),
    })

  const replica = createReplica({
    ...options,
    namespace: home,
    shards: () => source.shards(),
    async openStore(atom, epoch) {
      const store = await options.openStore({ name: shardStore(atom), epoch })
      await store.beginEpoch()
      return store
    },
    work,
  })

  return {
    source,
    working: () => replica.working(),
    async run(signal) {
      const over = new AbortController()
      const both = AbortSignal.any([signal, over.signal])
      const reading = source.run(both)
      try {
        await replica.run(both)
      } finally {
        over.abort()
        await reading
      }
    },
  }
}

/** The stores of a shard as one. */
function together({ atoms }: Shard, held: readonly Held[]): Store {
  const parts = held.map((one, place) => ({ ...one, name: (atoms[place] ?? '').split('/').at(-1) ?? '' }))
  const [first, ...others] = parts
  if (first === undefined) throw new Error('a shard has a store')
  return joinStores([first, ...others])
}

import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Random } from '../lib/random.ts'
import type { Wire } from '../lib/wire.ts'
import { StaleEpoch, type Store, StoreMoved } from '../store/port.ts'
import { assign } from './assignment.ts'
import { createLeases, LEASE_MS } from './leases.ts'
import type { Shard } from './partition.ts'

export interface ReplicaOptions {
  readonly client: KubernetesClient
  readonly wire: Wire
  readonly clock: Clock
  readonly random: Random
  readonly namespace: string
  /** The name of the pod. */
  readonly name: string
  /** Undefined: not known yet. */
  shards(): readonly Shard[] | undefined
  /** Opens the store of one connection or cluster under this epoch. */
  openStore(atom: string, epoch: number): Promise<Store>
  /** Works on a shard until the signal. */
  work(shard: Shard, held: readonly Held[], signal: AbortSignal): Promise<void>
  /** Reports something about the replica itself. */
  note(message: string): void
  warn(message: string): void
}

/** A store of a shard, with the epoch of its Lease. */
export interface Held {
  readonly store: Store
  readonly epoch: number
}

export interface Replica {
  /** Takes its share of the shards and works on them until the signal; then it gives them back. */
  run(signal: AbortSignal): Promise<void>
  /** Names of the shards that it works on. */
  working(): readonly string[]
  /** Reports whether our Lease was renewed in time, so that no other replica has taken our shards. */
  alive(): boolean
  /** Something changed: look at once. */
  wake(): void
}

interface Work {
  readonly shard: Shard
  readonly stop: AbortController
  ended?: true
  readonly done: Promise<void>
}

const RENEW_MS = 3_000
const LOOK_MS = 1_000
/** A renewal that takes longer has failed: the next one must come before the Lease is over. */
const RENEWAL_MS = 4_000
/** Replicas that start together wait for each other before one takes all shards. */
const ARRIVE_MS = 2_000
/** How long the set of replicas must be stable before shards move to one with fewer. */
const CALM_MS = 20_000
const TAKEN_AT_ONCE = 8
const AGAIN_MS = 10_000
/** A store that a move is about to open. */
const MOVING_MS = 2_000

/** Runs one of several replicas: renews its Lease, takes its assigned shards, and gives back others. */
export function createReplica(options: ReplicaOptions): Replica {
  const { clock, warn } = options
  const leases = createLeases({ ...options, onChange: () => wake() })
  const works = new Map<string, Work>()
  /** Earliest next attempt after a failure. */
  const notBefore = new Map<string, number>()
  /** The epoch of a store whose Lease was deleted: the next one must be greater. */
  const floors = new Map<string, number>()
  let wasHere = true
  let renewedMs = Number.NEGATIVE_INFINITY
  let lived = { names: '', sinceMs: 0 }
  let wakeUp = () => {}
  let woken = false
  const wake = () => {
    woken = true
    wakeUp()
  }

  const start = (shard: Shard, held: readonly Held[], signal: AbortSignal): void => {
    const stop = new AbortController()
    const name = nameOf(shard)
    const both = AbortSignal.any([signal, stop.signal])
    options.note(`${options.name} works on ${shard.atoms.join(', ')}`)
    const done = options
      .work(shard, held, both)
      .catch((error: unknown) => {
        if (both.aborted || error instanceof StaleEpoch) return
        warn(`${name}: ${error instanceof Error ? error.message : String(error)}`)
        notBefore.set(name, clock.monotonicMs() + AGAIN_MS)
      })
      .then(async () => {
        for (const { store } of held) await store.close()
        options.note(`${options.name} no longer works on ${shard.atoms.join(', ')}`)
        work.ended = true
        wake()
      })
    const work: Work = { shard, stop, done }
    works.set(name, work)
  }

  const begin = async (shard: Shard, signal: AbortSignal): Promise<void> => {
    if (clock.monotonicMs() < (notBefore.get(nameOf(shard)) ?? 0)) return
    const held: Held[] = []
    for (const atom of shard.atoms) {
      const epoch = await leases.take(atom, (floors.get(atom) ?? 0) + 1, signal)
      if (epoch === undefined) break
      try {
        held.push({ store: await options.openStore(atom, epoch), epoch })
      } catch (error) {
        if (error instanceof StoreMoved) notBefore.set(nameOf(shard), clock.monotonicMs() + MOVING_MS)
        else if (error instanceof StaleEpoch) floors.set(atom, error.current)
        else if (!signal.aborted) warn(`${atom}: ${error instanceof Error ? error.message : String(error)}`)
        break
      }
    }
    if (held.length === shard.atoms.length && !signal.aborted) start(shard, held, signal)
    else for (const { store } of held) await store.close()
  }

  const end = async (work: Work): Promise<void> => {
    work.stop.abort()
    await work.done
    works.delete(nameOf(work.shard))
  }

  const reconcile = async (signal: AbortSignal): Promise<void> => {
    const shards = options.shards()
    if (shards === undefined || !leases.synced()) return
    const living = leases.living()
    const loads = shards.map((shard) => {
      const holder = shard.atoms
        .map((atom) => leases.holderOf(atom))
        .find((one) => one !== undefined && living.has(one))
      return { name: nameOf(shard), weight: shard.objects.length + 1, ...(holder === undefined ? {} : { holder }) }
    })
    const names = [...living].sort().join()
    if (names !== lived.names) lived = { names, sinceMs: clock.monotonicMs() }
    const given = assign(loads, [...living], clock.monotonicMs() - lived.sinceMs < CALM_MS)
    const here = leases.isHere()
    if (here !== wasHere)
      options.note(here ? 'the estate is here' : 'the estate is elsewhere, or moves: nothing is done')
    wasHere = here
    const own = shards.filter((shard) => here && given.get(nameOf(shard)) === leases.identity)
    const mine = new Map(own.map(byName))
    const over = [...works.values()].filter(({ shard, ended }) => {
      const now = mine.get(nameOf(shard))
      return ended || now === undefined || !sameAtoms(now, shard) || !shard.atoms.every((atom) => leases.isMine(atom))
    })
    await Promise.all(over.map(end))
    const wanted = new Set([...mine.values()].flatMap(({ atoms }) => atoms))
    const surplus = leases.mine().filter((atom) => !wanted.has(atom))
    await inParallel(surplus, TAKEN_AT_ONCE, (atom) => leases.giveBack(atom))
    const open = [...mine.values()].filter((shard) => !works.has(nameOf(shard)))
    await inParallel(open, TAKEN_AT_ONCE, (shard) => begin(shard, signal))
  }

  const rest = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (woken) {
      woken = false
      // Wait a little, so that constant changes cause few looks per second.
      return clock.sleep(LOOK_MS / 5, signal)
    }
    const over = new AbortController()
    wakeUp = () => over.abort()
    await clock.sleep(ms, AbortSignal.any([signal, over.signal]))
    wakeUp = () => {}
    woken = false
  }

  const renew = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const triedMs = clock.monotonicMs()
      const late = new AbortController()
      const asked = AbortSignal.any([signal, late.signal])
      void clock.sleep(RENEWAL_MS, asked).then(() => late.abort())
      if (await leases.renew(asked)) renewedMs = triedMs
      late.abort()
      await clock.sleep(RENEW_MS - Math.min(RENEW_MS, clock.monotonicMs() - triedMs), signal)
    }
  }

  return {
    working: () => [...works.values()].filter(({ ended }) => !ended).map(({ shard }) => nameOf(shard)),
    alive: () => clock.monotonicMs() - renewedMs < LEASE_MS,
    wake,
    async run(signal) {
      const over = new AbortController()
      const both = AbortSignal.any([signal, over.signal])
      const following = leases.run(both)
      // Runs beside all other work: a slow end must not make us look dead.
      const ended = new AbortController()
      let failure: { readonly error: unknown } | undefined
      const renewing = renew(ended.signal).catch((error: unknown) => {
        failure = { error }
        over.abort()
      })
      try {
        const arrivedMs = clock.monotonicMs()
        while (!both.aborted) {
          if (renewedMs >= 0 && clock.monotonicMs() - arrivedMs >= ARRIVE_MS) await reconcile(both)
          await rest(LOOK_MS, both)
        }
      } finally {
        await Promise.all([...works.values()].map(end))
        ended.abort()
        await renewing
        await inParallel(leases.mine(), TAKEN_AT_ONCE, (atom) => leases.giveBack(atom))
        await leases.leave()
        over.abort()
        await following
      }
      if (failure !== undefined) throw failure.error
    },
  }
}

function nameOf({ atoms: [first = ''] }: Shard): string {
  return first
}

function byName(shard: Shard): readonly [string, Shard] {
  return [nameOf(shard), shard]
}

function sameAtoms(one: Shard, other: Shard): boolean {
  return one.atoms.join('\n') === other.atoms.join('\n')
}

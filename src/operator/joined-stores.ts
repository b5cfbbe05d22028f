import type { Intention, ResourceRecord } from '../model/record.ts'
import { StaleEpoch, type Store } from '../store/port.ts'

/** One of several stores used together. */
export interface JoinedPart {
  /** The connection or cluster whose records and intentions lie in it. */
  readonly name: string
  readonly store: Store
  /** The epoch held on it. */
  readonly epoch?: number
}

/**
 * Joins several stores: records of a connection are in its own store, so that connections can be separated later. Small
 * values are in all of them, history and the rest in the first. Writes are atomic per connection only.
 */
export function joinStores(parts: readonly [JoinedPart, ...JoinedPart[]]): Store {
  const [home] = parts
  const stores = parts.map(({ store }) => store)
  /** The epoch of each store, by its place. */
  let epochs = parts.map((part) => part.epoch ?? 0)
  let epoch = joinedEpoch(epochs)

  const placeOf = (connection: string): number =>
    Math.max(
      0,
      parts.findIndex(({ name }) => name === connection),
    )
  const placeOfIntention = (intention: Intention): number =>
    placeOf('connection' in intention ? intention.connection : (intention.key.split('/').at(-1) ?? ''))
  const epochOf = (mine: number, place: number): number => {
    if (mine !== epoch || mine === 0) throw new StaleEpoch(mine, epoch)
    return epochs[place] ?? 0
  }
  const storeAt = (place: number): Store => stores[place] ?? home.store
  const gather = async <T>(read: (store: Store) => Promise<readonly T[]>): Promise<readonly T[]> =>
    (await Promise.all(stores.map(read))).flat()
  const each = async (mine: number, write: (store: Store, epoch: number) => Promise<void>): Promise<void> => {
    for (const [place, store] of stores.entries()) await write(store, epochOf(mine, place))
  }

  return {
    async beginEpoch() {
      const begun: number[] = []
      for (const store of stores) begun.push(await store.beginEpoch())
      epochs = begun
      epoch = joinedEpoch(begun)
      return epoch
    },
    isFresh: async () => (await Promise.all(stores.map((store) => store.isFresh()))).some(Boolean),
    markComplete: (mine) => each(mine, (store, own) => store.markComplete(own)),

    async intend(mine, intention) {
      const place = placeOfIntention(intention)
      await storeAt(place).intend(epochOf(mine, place), intention)
    },
    async noteTask(mine, id, taskId) {
      for (const [place, store] of stores.entries()) {
        if (!(await store.intentions()).some((one) => one.id === id)) continue
        return store.noteTask(epochOf(mine, place), id, taskId)
      }
      return home.store.noteTask(epochOf(mine, 0), id, taskId)
    },
    settle: (mine, id) => each(mine, (store, own) => store.settle(own, id)),
    intentions: async () => [...(await gather((store) => store.intentions()))].sort((a, b) => a.atMs - b.atMs),

    async putRecords(mine, records) {
      const byPlace = new Map<number, ResourceRecord[]>()
      for (const record of records) {
        // A cluster's own record has no connection.
        const name = record.connection === '' ? (record.key.split('/').at(-1) ?? '') : record.connection
        const place = placeOf(name)
        byPlace.set(place, [...(byPlace.get(place) ?? []), record])
      }
      for (const [place, own] of byPlace) await storeAt(place).putRecords(epochOf(mine, place), own)
      // A resource that moved to another connection has its record only there.
      for (const [place, store] of stores.entries()) {
        const elsewhere = new Set(
          records.filter((record) => !byPlace.get(place)?.includes(record)).map(({ key }) => key),
        )
        if (elsewhere.size === 0) continue
        for (const { key } of await store.records())
          if (elsewhere.has(key)) await store.dropRecord(epochOf(mine, place), key)
      }
    },
    dropRecord: (mine, key) => each(mine, (store, own) => store.dropRecord(own, key)),
    async records() {
      const all = await gather((store) => store.records())
      return all.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    },
    async record(key) {
      for (const store of stores) {
        const found = await store.record(key)
        if (found !== undefined) return found
      }
      return undefined
    },

    appendEvents: async (mine, events) => home.store.appendEvents(epochOf(mine, 0), events),
    events: (filter) => home.store.events(filter),

    async getValue(name) {
      for (const store of stores) {
        const found = await store.getValue(name)
        if (found !== undefined) return found
      }
      return undefined
    },
    valueNames: async () => [...new Set(await gather((store) => store.valueNames()))].sort(),
    putValue: (mine, name, value) => each(mine, (store, own) => store.putValue(own, name, value)),
    keepValue: (mine, name, value) => each(mine, (store, own) => store.keepValue(own, name, value)),

    appendAudit: (entry) => home.store.appendAudit(entry),
    audit: (filter) => home.store.audit(filter),
    async putRequests(name, value) {
      for (const store of stores) await store.putRequests(name, value)
    },

    async close() {
      for (const store of stores) await store.close()
    },
  }
}

/** Greater than any before, whichever of the stores was used alone meanwhile. */
export function joinedEpoch(epochs: readonly number[]): number {
  return epochs.reduce((sum, one) => sum + one, 0)
}

import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { Intention, ResourceRecord } from '../../model/record.ts'
import type { Store } from '../../store/port.ts'
import { OBJECTS } from '../operator.ts'
import type { Shard } from '../partition.ts'

/** The part of a store that moves with an estate. */
export interface Contents {
  readonly complete: boolean
  readonly records: readonly ResourceRecord[]
  readonly intentions: readonly Intention[]
  readonly values: ReadonlyMap<string, string>
}

/** Values about the estate move. Others belong to the computer: its fetches, notices and keyed hashes. */
const MOVING = /^(?:cluster-|power-|controller\/wishes$)/

export async function readContents(store: Store): Promise<Contents> {
  const values = new Map<string, string>()
  for (const name of await store.valueNames()) {
    const value = MOVING.test(name) ? await store.getValue(name) : undefined
    if (value !== undefined) values.set(name, value)
  }
  return {
    complete: !(await store.isFresh()),
    records: await store.records(),
    intentions: await store.intentions(),
    values,
  }
}

/** Makes a store hold these and no others. Doing it again changes nothing. */
export async function replaceContents(store: Store, epoch: number, contents: Contents): Promise<void> {
  const keys = new Set(contents.records.map(({ key }) => key))
  for (const { key } of await store.records()) if (!keys.has(key)) await store.dropRecord(epoch, key)
  await store.putRecords(epoch, contents.records)
  const ids = new Set(contents.intentions.map(({ id }) => id))
  for (const { id } of await store.intentions()) if (!ids.has(id)) await store.settle(epoch, id)
  for (const intention of contents.intentions) await store.intend(epoch, intention)
  for (const [name, value] of contents.values) await store.putValue(epoch, name, value)
  if (contents.complete) await store.markComplete(epoch)
}

/** Merges several stores, as read from a cluster. Of duplicates, the first wins. */
export function mergeContents(all: readonly Contents[]): Contents {
  const records = new Map<ResourceKey, ResourceRecord>()
  const intentions = new Map<string, Intention>()
  const values = new Map<string, string>()
  for (const one of all) {
    for (const record of one.records) if (!records.has(record.key)) records.set(record.key, record)
    for (const intention of one.intentions) if (!intentions.has(intention.id)) intentions.set(intention.id, intention)
    for (const [name, value] of one.values) if (!values.has(name)) values.set(name, value)
  }
  return {
    complete: all.some(({ complete }) => complete),
    records: [...records.values()],
    intentions: [...intentions.values()].sort((a, b) => a.atMs - b.atMs),
    values,
  }
}

/**
 * Divides the contents by shard index. A record goes with its object; without an object, with its connection, or else
 * with the unassigned objects. Pure.
 */
export function divideContents({ complete, ...all }: Contents, shards: readonly Shard[]): readonly Contents[] {
  const byKey = new Map<ResourceKey, number>()
  const byName = new Map<string, number>()
  for (const [place, { atoms, objects }] of shards.entries()) {
    for (const { key } of objects) {
      byKey.set(key, place)
      byName.set(lastOf(key), byName.get(lastOf(key)) ?? place)
    }
    for (const atom of atoms) byName.set(lastOf(atom), place)
  }
  const rest = shards.length - 1
  const placeOf = (key: ResourceKey, connection: string) =>
    byKey.get(ownerOf(key)) ?? byName.get(connection === '' ? lastOf(key) : connection) ?? rest
  const parts = shards.map(() => ({
    complete,
    records: [] as ResourceRecord[],
    intentions: [] as Intention[],
    values: new Map<string, string>(),
  }))
  for (const record of all.records) parts[placeOf(record.key, record.connection)]?.records.push(record)
  for (const intention of all.intentions)
    parts[placeOf(intention.key, 'connection' in intention ? intention.connection : '')]?.intentions.push(intention)
  for (const [name, value] of all.values) {
    const place = name.startsWith('controller/') ? undefined : (byName.get(lastOf(name)) ?? rest)
    for (const [index, part] of parts.entries())
      if (place === undefined || place === index) part.values.set(name, value)
  }
  for (const part of parts) part.values.set(OBJECTS, JSON.stringify(knownIn(part.records)))
  return parts
}

/** Returns the owners of the records: keys without an object count as vanished, and are left alone. */
function knownIn(records: readonly ResourceRecord[]): readonly ResourceKey[] {
  return [...new Set(records.map(({ key }) => ownerOf(key)))].sort()
}

function lastOf(key: string): string {
  return key.split('/').at(-1) ?? key
}

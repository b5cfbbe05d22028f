import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { type Bounds, mayBeCalled } from '../../model/grant.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { isGuest, type ObservedResource } from '../../model/resource.ts'
import { isDeclaredHere } from './proof.ts'
import { isUnread } from './unread.ts'
import type { Ledger, World } from './world.ts'

/** A renamed resource, and its guest. */
export interface Rename {
  readonly from: ResourceKey
  readonly uid: string
  readonly observed: ObservedResource
}

/**
 * Finds resources that were renamed: declared under a new name with the same content, while the old name is no longer
 * declared. They are the same thing, not one to destroy and one to create. Only for unambiguous pairs. Pure.
 */
export function renames(
  estate: Estate,
  worlds: ReadonlyMap<string, World>,
  ledger: Ledger,
): ReadonlyMap<ResourceKey, Rename> {
  const found = new Map<ResourceKey, Rename>()
  // An unreadable file may still declare the old name.
  if (estate.incomplete) return found
  const declared = new Set(estate.resources.map(({ key }) => key))
  const left = new Map<string, ResourceRecord[]>()
  for (const record of ledger.records.values()) {
    if (declared.has(record.key) || isUnread(record.key, estate) || !isGuest(record.type)) continue
    if (estate.partlyRead?.some((source) => mayBeCalled(record.key, source)) === true) continue
    if (ledger.intentions.has(record.key) || !isDeclaredHere(record, estate.sources)) continue
    // It left at an earlier revision, or stays on purpose: then a new machine of the same content is another one.
    if (record.absent === true || record.status === 'Orphaned') continue
    push(left, contentOf(record.connection, record.type, record.generation), record)
  }
  if (left.size === 0) return found
  const fresh = new Map<string, ResourceKey[]>()
  const bounds = new Map<ResourceKey, Bounds>()
  for (const { key, uid, connection, generation, desired, bounds: held } of estate.resources) {
    if (held !== undefined) bounds.set(key, held)
    if (!isGuest(desired.type) || ledger.records.has(key) || ledger.intentions.has(key)) continue
    if ((worlds.get(connection)?.marked.get(uid)?.length ?? 0) > 0) continue
    push(fresh, contentOf(connection, desired.type, generation), key)
  }
  for (const [content, keys] of fresh) {
    const records = left.get(content) ?? []
    const [key] = keys
    const [record] = records
    if (key === undefined || record === undefined || keys.length !== 1 || records.length !== 1) continue
    const held = bounds.get(key)
    // A source must not take over a thing that its grant would not allow.
    if (held !== undefined && !mayBeCalled(record.key, held)) continue
    const marked = worlds.get(record.connection)?.marked.get(record.uid) ?? []
    const [observed] = marked
    if (observed !== undefined && marked.length === 1) found.set(key, { from: record.key, uid: record.uid, observed })
  }
  return found
}

function contentOf(connection: string, type: string, generation: string): string {
  return `${connection} ${type} ${generation}`
}

function push<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name)
  if (list === undefined) lists.set(name, [item])
  else list.push(item)
}

import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { isGuest, type Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { claimantOf, leftKey } from './left-key.ts'
import { onItsSystem, saidGone } from './systems.ts'
import { isUnread } from './unread.ts'
import type { Ledger, World } from './world.ts'

/** The records as the plan uses them, and the changes that the store lacks. */
export interface Holdings {
  readonly ledger: Ledger
  readonly changed: readonly ResourceRecord[]
  readonly dropped: readonly ResourceKey[]
}

/** The key that claims each listed thing, by list and id, then by connection. */
export type PlaceClaims = ReadonlyMap<string, ReadonlyMap<string, ResourceKey>>

export function claimsIn(resources: readonly Resource[], rulesOf: ReadonlyMap<string, Rules>): PlaceClaims {
  const claims = new Map<string, Map<string, ResourceKey>>()
  for (const resource of resources) {
    const place = placeOf(resource, rulesOf.get(resource.driver))
    if (place === undefined) continue
    const name = nameOf({ type: resource.desired.type, ...place })
    const by = claims.get(name)
    if (by === undefined) claims.set(name, new Map([[resource.connection, resource.key]]))
    else by.set(resource.connection, resource.key)
  }
  return claims
}

/** Returns who claims a record's listed thing. Two connections may reach one system: a claim on either keeps it. */
export function claimantsOf(claims: PlaceClaims, thing: ListedThing): ReadonlyMap<string, ResourceKey> {
  return (thing.externalId === undefined ? undefined : claims.get(nameOf(thing))) ?? NO_CLAIM
}

type ListedThing = Partial<Pick<ResourceRecord, 'list' | 'externalId'>> & Pick<ResourceRecord, 'type'>

const NO_CLAIM: ReadonlyMap<string, ResourceKey> = new Map()

/** An object's list contains its API version; the object is the same in all of them. */
function nameOf({ type, list = '', externalId = '' }: ListedThing): string {
  return type === 'object' || type === 'item' ? `${type} ${externalId}` : `${list} ${externalId}`
}

function placeOf(resource: Resource, rules: Rules | undefined) {
  if (rules?.keeps(resource) !== true) return undefined
  const list = rules.listOf(resource)
  const externalId = rules.declaredId(resource)
  return list === undefined || externalId === undefined ? undefined : { list, externalId }
}

/**
 * Makes each record match the place that its key claims. If a declaration moves to another place, the record of the old
 * place gets its own key and leaves under the usual guards. If another declaration claims the place of a listed thing,
 * it takes over the record, since an account or a storage entry is identified by its id, not by the object's name in
 * Git.
 */
export function holdings(
  estate: Estate,
  worlds: ReadonlyMap<string, World>,
  ledger: Ledger,
  rulesOf: ReadonlyMap<string, Rules>,
  nowMs: number,
): Holdings {
  const { resources } = estate
  const records = new Map(ledger.records)
  const gone = saidGone(estate, nowMs)
  const declared = new Map(resources.map((resource) => [resource.key, resource]))
  const claims = claimsIn(resources, rulesOf)
  for (const record of ledger.records.values()) {
    if (ledger.intentions.has(record.key)) continue
    const resource = declared.get(record.key)
    const there = onItsSystem(record, resource?.connection, worlds, gone)
    if (there !== undefined) records.set(record.key, there)
    else if (resource === undefined) records.delete(record.key)
    else records.set(record.key, unplaced(record, resource))
  }
  for (const record of records.values()) {
    const resource = declared.get(record.key)
    if (resource === undefined || !hasLeft(record, resource, worlds, rulesOf.get(resource.driver))) continue
    const { externalId = '', connection } = record
    records.set(record.key, unplaced(record, resource))
    if (!isHeld(record)) continue
    const key = leftKey(record.key, connection, externalId)
    records.set(key, { ...record, key })
  }
  for (const record of records.values()) {
    const former = declared.get(claimantOf(record.key))
    if (former !== undefined && former.key !== record.key && isAt(worlds.get(former.connection), record))
      records.delete(record.key)
    if (declared.has(record.key) || record.status === 'Orphaned' || ledger.intentions.has(record.key)) continue
    if (isUnread(record.key, estate)) continue
    const heir = claimantsOf(claims, record).get(record.connection)
    const resource = heir === undefined ? undefined : declared.get(heir)
    if (heir === undefined || resource === undefined || records.get(heir)?.externalId !== undefined) continue
    const { stalledGeneration: _, absent: __, ...known } = record
    records.set(heir, { ...known, key: heir, uid: resource.uid })
    records.delete(record.key)
  }
  const changed = [...records.values()].filter((record) => ledger.records.get(record.key) !== record)
  const dropped = [...ledger.records.keys()].filter((key) => !records.has(key))
  return changed.length + dropped.length === 0
    ? { ledger, changed, dropped }
    : { ledger: { ...ledger, records }, changed, dropped }
}

/** Reports whether a guest on one connection is also on the other: both reach the same system. */
function isAt(world: World | undefined, { externalId = '', uid, birth }: ResourceRecord): boolean {
  const there = world?.guests.get(externalId)
  return birth !== undefined && there?.mark?.uid === uid && there.close?.birth === birth
}

/** Reports whether the declaration names another place than its record does. */
function hasLeft(
  record: ResourceRecord,
  resource: Resource,
  worlds: ReadonlyMap<string, World>,
  rules: Rules | undefined,
): boolean {
  const { connection, externalId, list } = record
  if (externalId === undefined || rules?.keeps(resource) !== true) return false
  if (list === undefined) {
    if (!isGuest(record.type) || connection === resource.connection) return false
    // The connection was renamed, or a second one reaches the same system: the guest has not moved.
    return worlds.get(resource.connection)?.guests.get(externalId)?.mark?.uid !== resource.uid
  }
  const place = placeOf(resource, rules)
  if (place === undefined) return false
  if (connection !== resource.connection || place.externalId !== externalId) return true
  return place.list !== list && !isInSeveralLists(resource)
}

/**
 * Reports whether it can be in several lists: a guest's setting changes its list when the guest moves, a file of a
 * shared storage is in the lists of all its hosts, and an object is in one per version of its API.
 */
function isInSeveralLists({ desired }: Resource): boolean {
  if (desired.type !== 'setting') return true
  const { vmid, container } = desired.setting.scope ?? {}
  return vmid !== undefined || container !== undefined
}

/** A guest that was seen, or a listed thing that croft made or may have marked. */
function isHeld({ type, seenMs, made, status }: ResourceRecord): boolean {
  if (status === 'Orphaned') return false
  return made === true || type === 'item' || type === 'object' || (isGuest(type) && seenMs !== undefined)
}

/** The record of a declaration whose object does not exist yet. */
function unplaced(record: ResourceRecord, { connection }: Resource): ResourceRecord {
  const { key, uid, type, generation, declaredBy, source, composedBy, policy, createdMs } = record
  return {
    key,
    uid,
    connection,
    type,
    generation,
    policy,
    createdMs,
    conditions: [],
    status: 'Pending',
    ...(declaredBy === undefined ? {} : { declaredBy }),
    ...(source === undefined ? {} : { source }),
    ...(composedBy === undefined ? {} : { composedBy }),
  }
}

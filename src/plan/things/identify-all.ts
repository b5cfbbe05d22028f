import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { IdRange } from '../../model/grant.ts'
import type { Rules } from '../../model/rules.ts'
import { identify, type ThingIdentity } from './identify.ts'
import { renames } from './renames.ts'
import type { Ledger, World } from './world.ts'

export interface IdentifyInput {
  readonly estate: Estate
  /** By connection name. */
  readonly worlds: ReadonlyMap<string, World>
  readonly ledger: Ledger
  /** The pure rules of each driver, by driver name. */
  readonly rules: ReadonlyMap<string, Rules>
}

export interface Identified {
  readonly identity: ThingIdentity
  readonly allocatedId: string | undefined
}

/** Returns the thing of each resource, and the id for its creation if it does not exist. */
export function identifyAll(input: IdentifyInput): ReadonlyMap<ResourceKey, Identified> {
  const renamed = renames(input.estate, input.worlds, input.ledger)
  const identities = new Map<ResourceKey, Identified>()
  const wanting = new Map<string, ResourceKey[]>()
  const declared = new Map<string, Set<string>>()
  const ranges = new Map<ResourceKey, IdRange>()
  for (const resource of input.estate.resources) {
    if (resource.bounds?.ids !== undefined) ranges.set(resource.key, resource.bounds.ids)
    const world = input.worlds.get(resource.connection)
    const rules = input.rules.get(resource.driver)
    if (world === undefined || rules === undefined) continue
    if (!rules.keeps(resource)) {
      identities.set(resource.key, { identity: { is: 'unknown' }, allocatedId: undefined })
      continue
    }
    const id = rules.declaredId(resource)
    const rename = renamed.get(resource.key)
    const identity: ThingIdentity =
      rename === undefined
        ? identify(resource, rules, world, input.ledger)
        : { is: 'adoptable', observed: rename.observed }
    identities.set(resource.key, { identity, allocatedId: undefined })
    if (id !== undefined) setOf(declared, resource.connection).add(id)
    if (identity.is === 'absent' && id === undefined && rules.choosesId(resource)) {
      const keys = wanting.get(resource.connection)
      if (keys === undefined) wanting.set(resource.connection, [resource.key])
      else keys.push(resource.key)
    }
  }
  for (const [connection, keys] of wanting) {
    const world = input.worlds.get(connection)
    if (world === undefined) continue
    const ids = allocateIds(keys, setOf(declared, connection), world, input.ledger, (key) => ranges.get(key))
    for (const [key, id] of ids) identities.set(key, { identity: { is: 'absent' }, allocatedId: id })
  }
  return identities
}

function setOf(sets: Map<string, Set<string>>, name: string): Set<string> {
  const found = sets.get(name)
  if (found !== undefined) return found
  const made = new Set<string>()
  sets.set(name, made)
  return made
}

/**
 * Chooses the external id for each resource that needs one, before any call. The same inputs give the same choice, and
 * a choice stays: the id of an intention or a record is reused, so that a repeated create meets its own earlier attempt
 * instead of creating a duplicate.
 */
export function allocateIds(
  keys: readonly ResourceKey[],
  declared: ReadonlySet<string>,
  world: World,
  ledger: Ledger,
  rangeOf: (key: ResourceKey) => IdRange | undefined = () => undefined,
): ReadonlyMap<ResourceKey, string> {
  const chosen = new Map<ResourceKey, string>()
  const used = new Set<string>([...world.guests.keys(), ...declared])
  for (const [id, state] of world.probes) if (state === 'taken') used.add(id)
  const wanting = new Set(keys)
  for (const intention of ledger.intentions.values()) if (!wanting.has(intention.key)) used.add(intention.externalId)
  for (const record of ledger.records.values()) {
    if (!wanting.has(record.key) && record.externalId !== undefined) used.add(record.externalId)
  }
  const waiting: ResourceKey[] = []
  for (const key of [...keys].sort()) {
    const before = ledger.intentions.get(key)?.externalId ?? ledger.records.get(key)?.externalId
    if (before !== undefined && !used.has(before)) {
      chosen.set(key, before)
      used.add(before)
    } else waiting.push(key)
  }
  const nexts = new Map<string, number>()
  for (const key of waiting) {
    const { from, to } = rangeOf(key) ?? world.connection.ids
    const range = `${from}-${to}`
    let next = nexts.get(range) ?? from
    while (next <= to && used.has(String(next))) next++
    nexts.set(range, next)
    if (next > to) continue
    chosen.set(key, String(next))
    used.add(String(next))
  }
  return chosen
}

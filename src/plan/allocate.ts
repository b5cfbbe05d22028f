import type { ResourceKey } from '../model/key.ts'
import type { Ledger, World } from './world.ts'

/**
 * Chooses the external id for each resource that needs one, before any call is made. The same inputs give the same
 * choice, and what was chosen once stays: an id in an intention or a record is used again, so that a repeated create
 * meets its own earlier attempt instead of making a twin.
 */
export function allocateIds(
  keys: readonly ResourceKey[],
  declared: ReadonlySet<string>,
  world: World,
  ledger: Ledger,
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
  let next = world.connection.ids.from
  for (const key of waiting) {
    while (next <= world.connection.ids.to && used.has(String(next))) next++
    if (next > world.connection.ids.to) break
    chosen.set(key, String(next))
    next++
  }
  return chosen
}

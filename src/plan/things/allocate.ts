import type { IdRange } from '../../model/grant.ts'
import type { ResourceKey } from '../../model/key.ts'
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

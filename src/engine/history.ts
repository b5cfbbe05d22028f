import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import { unprovenKeys } from '../plan/things/removals.ts'
import type { Ledger, World } from '../plan/things/world.ts'

/**
 * Adds the history of marked, undeclared things without a record: the commits that removed them. Read only while there
 * are such things.
 */
export async function withHistory(
  estate: Estate,
  worlds: ReadonlyMap<string, World>,
  ledger: Ledger,
  nowMs: number,
  signal: AbortSignal,
): Promise<Estate> {
  if (estate.history === undefined) return estate
  const known = estate.removed ?? new Map()
  const keys = new Set<ResourceKey>()
  for (const world of worlds.values()) for (const key of unprovenKeys(estate, world, ledger, nowMs)) keys.add(key)
  if (keys.size === 0) return estate
  const removed = await estate.history([...keys], signal)
  return removed.size === 0 ? estate : { ...estate, removed: new Map([...known, ...removed]) }
}

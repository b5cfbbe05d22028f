import type { ResourceKey } from '../../model/declaration.ts'

/** A thing and its prerequisites. */
export interface Ordered {
  readonly key: ResourceKey
  readonly needs: readonly ResourceKey[]
}

/**
 * Sorts needs before their dependents; within one rank by key, so that the same input gives the same plan. Members of a
 * cycle come last and are named, since none of them can be first.
 */
export function inOrder<T extends Ordered>(
  items: readonly T[],
): { readonly sorted: readonly T[]; readonly cycle: readonly ResourceKey[] } {
  const byKey = new Map(items.map((item) => [item.key, item]))
  const missing = new Map<ResourceKey, number>()
  const unlocks = new Map<ResourceKey, ResourceKey[]>()
  for (const item of items) {
    const needs = item.needs.filter((need) => byKey.has(need))
    missing.set(item.key, needs.length)
    for (const need of needs) {
      const list = unlocks.get(need)
      if (list === undefined) unlocks.set(need, [item.key])
      else list.push(item.key)
    }
  }
  const sorted: T[] = []
  let rank = items
    .filter((item) => missing.get(item.key) === 0)
    .map((item) => item.key)
    .sort()
  while (rank.length > 0) {
    const next: ResourceKey[] = []
    for (const key of rank) {
      const item = byKey.get(key)
      if (item !== undefined) sorted.push(item)
      for (const unlocked of unlocks.get(key) ?? []) {
        const left = (missing.get(unlocked) ?? 0) - 1
        missing.set(unlocked, left)
        if (left === 0) next.push(unlocked)
      }
    }
    rank = next.sort()
  }
  const done = new Set(sorted.map((item) => item.key))
  const cycle = items
    .map((item) => item.key)
    .filter((key) => !done.has(key))
    .sort()
  for (const key of cycle) {
    const item = byKey.get(key)
    if (item !== undefined) sorted.push(item)
  }
  return { sorted, cycle }
}

import { LIMITS } from '../../lib/limits.ts'
import type { ClusterLook } from '../../model/cluster-look.ts'

/** Since when each wait is known. Lost with the process: then it counts from the next look. */
export type KnownWaits = Map<string, number>

/**
 * When to look at clusters again. The longer something has been waited for, the longer the pause: a wait is noticed to
 * be over within a fortieth of its time, so that a fast thing is fast and a slow thing costs little.
 */
export function nextClusterLookMs(looks: readonly ClusterLook[], known: KnownWaits, nowMs: number): number {
  const current = new Map<string, number>()
  let next: number = LIMITS.sweepIntervalMs
  for (const { declaration, decision } of looks) {
    if (decision.steps.length > 0) next = Math.min(next, LIMITS.clusterLook.shortestMs)
    for (const wait of decision.waits) {
      const name = `${declaration.key} ${wait.node ?? ''} ${wait.awaits}`
      const sinceMs = Math.min(known.get(name) ?? nowMs, nowMs)
      current.set(name, sinceMs)
      next = Math.min(next, paceMs(nowMs - sinceMs))
      // A soak or a pause that ends at a known moment is looked at then, and not much before.
      if (wait.untilMs !== undefined && wait.untilMs > nowMs) next = Math.min(next, wait.untilMs - nowMs)
    }
  }
  known.clear()
  for (const [name, sinceMs] of current) known.set(name, sinceMs)
  return Math.max(next, LIMITS.clusterLook.shortestMs)
}

function paceMs(waitedMs: number): number {
  const { shortestMs, longestMs, share } = LIMITS.clusterLook
  return Math.min(longestMs, Math.max(shortestMs, Math.round(waitedMs * share)))
}

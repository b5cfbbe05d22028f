import { ageMs, type Clock, type Mono, monoNow } from '../../../lib/clock.ts'
import { LIMITS } from '../../../lib/limits.ts'

/** When each record was first seen pending, by this computer's clock: the writer's clock may be an hour behind. */
const firstSeen = new WeakMap<Pick<Clock, 'monotonicMs'>, Map<string, Mono>>()

/**
 * Reports whether the Helm that wrote this pending record has died: the record has not changed for longer than people
 * let a Helm run (`--timeout 30m`). `version`: the record's uid and version.
 */
export function isLeftPending(version: string, clock: Pick<Clock, 'monotonicMs'>): boolean {
  const records = firstSeen.get(clock) ?? new Map<string, Mono>()
  firstSeen.set(clock, records)
  const since = records.get(version)
  if (since !== undefined) return ageMs(since, clock) > LIMITS.releaseStuckMs
  records.set(version, monoNow(clock))
  const [oldest] = records.keys()
  if (records.size > LIMITS.renderingsKept && oldest !== undefined) records.delete(oldest)
  return false
}

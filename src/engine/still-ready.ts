import type { Condition } from '../model/record.ts'
import type { ObservedResource } from '../model/resource.ts'
import { conditionOf } from './conditions.ts'

/** Tolerance, since hosts count uptime in whole seconds on their own clocks. */
const UPTIME_SLACK_MS = 30_000

/** Reports whether it was Ready and was not restarted since: then its agent need not be asked again. */
export function stillReady(conditions: readonly Condition[], observed: ObservedResource, nowMs: number): boolean {
  const ready = conditionOf(conditions, 'Ready')
  if (ready?.status !== 'True' || observed.close?.agent === 'down') return false
  if (observed.uptimeSeconds === undefined) return true
  return observed.uptimeSeconds * 1000 + UPTIME_SLACK_MS >= nowMs - ready.sinceMs
}

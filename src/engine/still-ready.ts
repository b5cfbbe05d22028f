import type { Condition } from '../model/record.ts'
import type { Sighting } from '../model/resource.ts'
import { conditionOf } from './conditions.ts'

/** Hosts count uptime in whole seconds and with their own clock. */
const UPTIME_SLACK_MS = 30_000

/** Was it Ready, and has it not been restarted since by anyone? Then its agent need not be asked again. */
export function stillReady(conditions: readonly Condition[], sighting: Sighting, nowMs: number): boolean {
  const ready = conditionOf(conditions, 'Ready')
  if (ready?.status !== 'True' || sighting.close?.agent === 'down') return false
  if (sighting.uptimeSeconds === undefined) return true
  return sighting.uptimeSeconds * 1000 + UPTIME_SLACK_MS >= nowMs - ready.sinceMs
}

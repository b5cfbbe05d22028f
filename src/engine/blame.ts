import { ObservationFailed } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedResource } from '../model/resource.ts'
import { type WhoChanged, whoChanged } from '../plan/things/who-changed.ts'
import { conditionOf } from './conditions.ts'
import type { Observation } from './observation.ts'

/** Hosts count tasks in whole seconds. */
const SECOND_MS = 1_000

/**
 * Finds who changed what has drifted. Reads the tasks once, when a drift is first seen and before it is corrected: then
 * croft's own correction would be the newest task. A task from before the last match is croft's own.
 */
export async function blame(
  { plan, factsByConnection }: Pick<Observation, 'plan' | 'factsByConnection'>,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  nowMs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<ResourceKey, WhoChanged>> {
  const found = new Map<ResourceKey, WhoChanged>()
  let asked = 0
  for (const { key, drift, connection, externalId } of plan.entries) {
    const record = records.get(key)
    const id = externalId ?? record?.externalId
    if (drift !== true || record === undefined || record.driftSinceMs !== undefined || id === undefined) continue
    const facts = factsByConnection.get(connection)
    if (facts === undefined || signal.aborted || ++asked > LIMITS.blamedPerPass) continue
    const syncedMs = conditionOf(record.conditions, 'Synced')?.sinceMs ?? 0
    const sinceMs = Math.max(syncedMs + SECOND_MS, nowMs - LIMITS.driftBlameMs)
    const seen = facts.close.get(id) ?? facts.seen.get(id)
    const tasks = seen === undefined ? undefined : await recent(facts, seen, sinceMs, signal)
    const who = whoChanged(tasks ?? facts.survey.tasks, id, sinceMs)
    if (who !== undefined) found.set(key, who)
  }
  return found

  async function recent(
    facts: NonNullable<ReturnType<typeof factsByConnection.get>>,
    seen: ObservedResource,
    sinceMs: number,
    until: AbortSignal,
  ) {
    try {
      return await facts.session.hosts?.recentTasks(seen, sinceMs, until)
    } catch (error) {
      // The drift is reported even if its author is unknown.
      if (error instanceof ObservationFailed) return undefined
      throw error
    }
  }
}

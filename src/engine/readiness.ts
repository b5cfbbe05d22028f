import { ifObserved } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { World } from '../plan/things/world.ts'
import { readDetails, worldOf } from './connection-facts.ts'
import type { ConnectionMemory } from './connections.ts'
import type { Observation } from './observation.ts'
import type { Happening } from './resource-pass.ts'
import { stillReady } from './still-ready.ts'

/**
 * Asks the agents of running machines that are not known to be Ready. A machine is Ready only after it has answered
 * itself; then it is not asked again until it changes.
 */
export async function lookForReadiness(
  estate: Estate,
  observation: Observation,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  happenings: ReadonlyMap<ResourceKey, readonly Happening[]>,
  nowMs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, World>> {
  const settled = new Map(observation.plan.entries.map((entry) => [entry.key, entry]))
  const worlds = new Map(observation.worlds)
  for (const [name, facts] of observation.factsByConnection) {
    const asked: string[] = []
    for (const resource of estate.resources) {
      if (resource.connection !== name || resource.desired.type !== 'vm' || resource.desired.vm.agent?.enabled !== true)
        continue
      const entry = settled.get(resource.key)
      if (entry?.action.do !== 'nothing' || entry.externalId === undefined || happenings.has(resource.key)) continue
      const seen = facts.close.get(entry.externalId)
      const runs = (seen?.close?.power ?? seen?.power) === 'running'
      const record = records.get(resource.key)
      const known = seen !== undefined && record !== undefined && stillReady(record.conditions, seen, nowMs)
      const booting = seen?.close?.agent !== 'up' || seen.close.cloudInit?.state === 'running'
      if (!runs || !booting || known) facts.memory.waited.delete(entry.externalId)
      else if (isItsTurn(facts.memory, entry.externalId, nowMs)) asked.push(entry.externalId)
    }
    if (asked.length === 0) continue
    await inParallel(asked, facts.connection.limits.reads, async (externalId) => {
      await ifObserved(() => readDetails(facts, externalId, { agent: true }, signal))
    })
    worlds.set(name, worldOf(facts))
  }
  return worlds
}

/** Reports whether a machine's agent is due. Slow machines are asked with growing pauses, to spare the host. */
export function isItsTurn({ waited }: ConnectionMemory, externalId: string, nowMs: number): boolean {
  const known = waited.get(externalId)
  // If the wall clock was set back, restart the wait: otherwise it would last until the clock has caught up.
  const before = known !== undefined && known.askedMs <= nowMs ? known : undefined
  const sinceMs = before?.sinceMs ?? nowMs
  const { share, longestMs } = LIMITS.agentPatience
  const pauseMs = Math.min(longestMs, Math.max(LIMITS.readinessPollMs / 2, (nowMs - sinceMs) * share))
  if (before !== undefined && nowMs - before.askedMs < pauseMs) return false
  waited.set(externalId, { sinceMs, askedMs: nowMs })
  return true
}

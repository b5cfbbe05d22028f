import { LIMITS } from '../lib/limits.ts'
import type { MissingFact, Plan } from '../model/plan.ts'
import type { ObservedResource } from '../model/resource.ts'
import type { FactsByConnection } from './connection-facts.ts'
import type { ConnectionMemory, Made } from './connections.ts'

/**
 * Learns from new guests that were read: if one needs no change, guests of the same request and host are assumed to
 * match too and are not read. Returns the connections with additional such guests.
 */
export function learnAlike({ entries }: Plan, factsByConnection: FactsByConnection): readonly string[] {
  const taught: string[] = []
  for (const [name, { memory, seen, close, asMade, survey }] of factsByConnection) {
    if (memory.made.size === 0) continue
    for (const { connection, externalId = '', action } of entries) {
      const made = connection === name ? memory.made.get(externalId) : undefined
      if (made === undefined || close.get(externalId)?.close === undefined) continue
      if (action.do === 'nothing') memory.proved.add(made.words)
      memory.made.delete(externalId)
    }
    const before = asMade.size
    for (const [externalId, made] of memory.made) {
      const observed = seen.get(externalId)
      if (observed === undefined || close.has(externalId) || asMade.has(externalId)) continue
      if (!memory.proved.has(made.words) || !showsNothingElse(observed, made, survey.atMs)) continue
      asMade.set(externalId, { ...observed, asMade: made.step })
    }
    if (asMade.size > before) taught.push(name)
  }
  return taught
}

/**
 * Reports whether a survey shows only a successful creation's result. Its tags are current; names and power may lag.
 */
export function showsNothingElse(observed: ObservedResource, { step, atMs }: Made, nowMs: number): boolean {
  const { mark, lock, host, power = 'unknown', template } = observed
  if (mark === undefined || lock !== undefined || template === true || host !== step.host) return false
  return (power === 'unknown' || power === 'stopped') && nowMs - atMs < LIMITS.asMadeMs
}

/** Returns one sample of new guests with equal requests, unless one was read already and did not match. */
export function samplesOf(
  facts: readonly MissingFact[],
  { made, sampled }: Pick<ConnectionMemory, 'made' | 'sampled'>,
): readonly MissingFact[] {
  const chosen = new Set<string>()
  return facts.filter((fact) => {
    const words = 'externalId' in fact ? made.get(fact.externalId)?.words : undefined
    if (words === undefined || sampled.has(words)) return true
    if (chosen.has(words)) return false
    chosen.add(words)
    return true
  })
}

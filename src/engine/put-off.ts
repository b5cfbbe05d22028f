import { LIMITS } from '../lib/limits.ts'
import type { Estate } from '../model/estate.ts'
import { isDoing, type MissingFact, type Plan, type PlanEntry } from '../model/plan.ts'
import { isGuest } from '../model/resource.ts'
import type { ConnectionFacts, missingFacts } from './connection-facts.ts'
import { samplesOf } from './made-alike.ts'

export type MissingFacts = ReturnType<typeof missingFacts>

export const NOTHING: MissingFacts = new Map()

/** The facts that a plan lacks, and what decides when to read them. */
export interface Lacking {
  readonly missing: MissingFacts
  /** The part of the plan that starts now. */
  readonly beginning: readonly PlanEntry[]
  /** Unread leaving guests: their hosts by id, by connection. */
  readonly leaving: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Connections whose first leaving guests were read in this pass. */
  readonly tried: ReadonlySet<string>
  readonly factsByConnection: ReadonlyMap<string, Pick<ConnectionFacts, 'memory'>>
}

export interface PutOff {
  readonly now: MissingFacts
  readonly later: MissingFacts
  /** Connections whose first leaving guests were read already. */
  readonly tried: ReadonlySet<string>
}

/**
 * Puts off reading some machines until everything else is read and others start, since Proxmox would wait for reads
 * otherwise. New machines of this process: nothing depends on them in this pass. (Those of an earlier process are read
 * at once, so that the first pass does what the plan shows.) And leaving machines, except as many as can start: if none
 * can, all are read, so that a hold shows all of them.
 */
export function putOff({ missing, beginning, leaving, tried, factsByConnection }: Lacking): PutOff {
  const now = new Map<string, readonly MissingFact[]>()
  const later = new Map<string, readonly MissingFact[]>()
  const first = new Set<string>()
  for (const [connection, all] of missing) {
    const memory = factsByConnection.get(connection)?.memory
    const hosts = leaving.get(connection) ?? new Map<string, string>()
    const isNew = (fact: MissingFact) =>
      fact.look === 'config' && memory?.born.has(fact.externalId) === true && memory.begun.has(fact.externalId)
    const leaves = (fact: MissingFact) => fact.look === 'config' && hosts.has(fact.externalId)
    const urgent = all.filter((fact) => !isNew(fact) && !leaves(fact))
    const going = all.filter(leaves)
    const born = all.filter(isNew)
    const fresh = memory === undefined ? born : samplesOf(born, memory)
    const acts = beginning.some((one) => one.connection === connection && isDoing(one.action))
    const some = LIMITS.firstWindow.host * new Set(hosts.values()).size
    if (acts || urgent.length > 0) {
      now.set(connection, urgent)
      later.set(connection, [...fresh, ...going])
    } else if (going.length > some && !tried.has(connection)) {
      now.set(connection, going.slice(0, some))
      later.set(connection, fresh)
      first.add(connection)
    } else now.set(connection, [...going, ...fresh])
  }
  return { now, later, tried: new Set([...tried, ...first]) }
}

/** Returns guests of a plan that leave once they are read. */
export function leavingIn(plan: Plan, { resources }: Pick<Estate, 'resources'>): Lacking['leaving'] {
  const found = new Map<string, Map<string, string>>()
  let declared: ReadonlySet<string> | undefined
  for (const { key, connection, type, host = '', action } of plan.entries) {
    if (action.do !== 'wait' || action.missing?.look !== 'config' || !isGuest(type)) continue
    declared ??= new Set(resources.map((one) => one.key))
    if (declared.has(key)) continue
    const here = found.get(connection) ?? new Map<string, string>()
    found.set(connection, here.set(action.missing.externalId, host))
  }
  return found
}

import { ifObserved, ObservationFailed, type Session } from '../drivers/port.ts'
import { causeOf } from '../lib/failed-on.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Connection } from '../model/estate.ts'
import type { MissingFact, Plan } from '../model/plan.ts'
import type { ObservedResource, PowerState, Resource, Survey } from '../model/resource.ts'
import type { Refusal } from '../model/step.ts'
import type { PlanInput } from '../plan/planner.ts'
import { observedWorld, type World } from '../plan/things/world.ts'
import type { ConnectionMemory } from './connections.ts'
import { desertedIn } from './deserted.ts'
import { type DetailCache, remember } from './detail-cache.ts'

/** A pass's facts about one connection; they grow while the plan lacks some. */
export interface ConnectionFacts {
  readonly connection: Connection
  readonly session: Session
  readonly survey: Survey
  /** Abandoned creations: their task ended and nothing will resume them. */
  readonly deserted: ReadonlySet<string>
  /** The survey's resources by external id, as an index for close looks. */
  readonly seen: ReadonlyMap<string, ObservedResource>
  readonly looks: DetailCache
  readonly memory: ConnectionMemory
  readonly close: Map<string, ObservedResource>
  /** New guests that were not read and are assumed to match their creation request. */
  readonly asMade: Map<string, ObservedResource>
  readonly gone: Set<string>
  readonly lists: Map<string, readonly ObservedResource[]>
  readonly probes: Map<string, 'free' | 'taken'>
  /** Ids that existed once and are assumed free, since they were free a moment ago. */
  readonly believed: Set<string>
  /** Facts that could not be read, with the API's error. */
  readonly failed: Map<string, string>
}

export type FactsByConnection = ReadonlyMap<string, ConnectionFacts>

/** Limit of the rounds of planning and reading. More would mean that reading does not help. */
export const LOOK_ROUNDS = 6

/** Surveys one connection. Returns a failure as data instead of throwing. */
export async function surveyConnection(
  connection: Connection,
  session: Session,
  { looks, memory }: { readonly looks: DetailCache; readonly memory: ConnectionMemory },
  signal: AbortSignal,
  wanted: readonly Resource[] = [],
): Promise<ConnectionFacts | Refusal> {
  try {
    const survey = await session.survey(signal, wanted)
    const close = remember(looks, survey.resources, survey.atMs)
    // If an id appears twice, the first one counts.
    const seen = new Map(survey.resources.toReversed().map((observed) => [observed.externalId, observed]))
    return {
      connection,
      session,
      survey,
      deserted: desertedIn(survey, memory.idle),
      seen,
      looks,
      memory,
      close,
      asMade: new Map(),
      gone: new Set(),
      lists: new Map(),
      probes: new Map(),
      believed: new Set(),
      failed: new Map(),
    }
  } catch (error) {
    if (error instanceof ObservationFailed) return error.refusal
    if (signal.aborted) throw error
    const message = `croft failed while it looked there: ${causeOf(error)}`
    return { reason: 'Failed', meaning: 'backoff', message, connectionWide: true }
  }
}

export function worldOf(facts: ConnectionFacts): World {
  const survey: Survey =
    facts.gone.size === 0
      ? facts.survey
      : { ...facts.survey, resources: facts.survey.resources.filter((s) => !facts.gone.has(s.externalId)) }
  const close = facts.asMade.size === 0 ? facts.close : new Map([...facts.asMade, ...facts.close])
  return { ...observedWorld(facts.connection, survey, close, facts.lists, facts.probes), deserted: facts.deserted }
}

/** Returns the worlds of these connections, including later reads. */
export function worldsSince(worlds: PlanInput['worlds'], factsByConnection: FactsByConnection): PlanInput['worlds'] {
  return new Map([...worlds, ...[...factsByConnection].map(([name, one]) => [name, worldOf(one)] as const)])
}

/** Returns the facts that a plan lacks, by connection, each once. */
export function missingFacts(plan: Plan): ReadonlyMap<string, readonly MissingFact[]> {
  const missing = new Map<string, Map<string, MissingFact>>()
  for (const { connection, action } of plan.entries) {
    if (action.do !== 'wait' || action.missing === undefined) continue
    const found = missing.get(connection) ?? new Map<string, MissingFact>()
    found.set(JSON.stringify(action.missing), action.missing)
    missing.set(connection, found)
  }
  return new Map([...missing].map(([name, found]) => [name, [...found.values()]]))
}

/**
 * Reads the missing facts, until the deadline. Returns how many reads succeeded; after a failed one the fact stays
 * missing.
 */
export async function readMissing(
  facts: ConnectionFacts,
  missing: readonly MissingFact[],
  signal: AbortSignal,
  isDue: (fact: MissingFact) => boolean = () => true,
): Promise<number> {
  const { brought: listed, rest } = await powersInBulk(facts, missing, signal)
  let brought = listed
  await inParallel(rest, facts.connection.limits.reads, async (fact) => {
    if (signal.aborted || !isDue(fact)) return
    if (await fill(facts, fact, signal)) brought++
  })
  return brought
}

async function fill(facts: ConnectionFacts, fact: MissingFact, signal: AbortSignal): Promise<boolean> {
  try {
    switch (fact.look) {
      case 'config':
        return await readDetails(facts, fact.externalId, {}, signal)
      case 'power':
        return await readDetails(facts, fact.externalId, { power: true }, signal)
      case 'id':
        facts.probes.set(fact.externalId, (await isFree(facts, fact, signal)) ? 'free' : 'taken')
        return true
      case 'list':
        facts.lists.set(fact.list, await listFor(facts, fact, signal))
        return true
    }
  } catch (error) {
    // One failed read must not fail the others. The fact stays unread in this pass.
    if (error instanceof ObservationFailed) {
      facts.failed.set(JSON.stringify(fact), error.message)
      return false
    }
    if (signal.aborted) throw error
    facts.failed.set(JSON.stringify(fact), `croft failed while it looked: ${causeOf(error)}`)
    return false
  }
}

/** Reads a list. An empty result is cached until a retry, since many waiting creations ask for the same. */
async function listFor(
  { session, memory, survey }: ConnectionFacts,
  { list, remainsOf }: Extract<MissingFact, { look: 'list' }>,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  if (remainsOf === undefined) return session.list(list, signal)
  const known = memory.bare.get(remainsOf) ?? new Map<string, number>()
  const atMs = known.get(list)
  if (atMs !== undefined && survey.atMs - atMs < LIMITS.idCheckMs) return []
  const found = await session.list(list, signal)
  if (found.length === 0) memory.bare.set(remainsOf, known.set(list, survey.atMs))
  return found
}

/**
 * Reports whether an id is free. If a survey shows every guest, a missing id is free, unless it held something of ours.
 * The answer is cached briefly: if the id is taken meanwhile, the creation is refused and another id is chosen.
 */
async function isFree(
  { session, memory, survey, believed }: ConnectionFacts,
  { externalId, vanished, anew }: Extract<MissingFact, { look: 'id' }>,
  signal: AbortSignal,
): Promise<boolean> {
  const recent = (atMs: number | undefined) => atMs !== undefined && survey.atMs - atMs < LIMITS.idCheckMs
  believed.delete(externalId)
  if (anew !== true && recent(memory.free.get(externalId))) {
    if (vanished === true) believed.add(externalId)
    return true
  }
  if (vanished !== true) {
    if (!recent(memory.everything?.atMs)) memory.everything = { is: session.seesEverything(signal), atMs: survey.atMs }
    if (await everythingSeen(memory)) return true
  }
  const free = await session.idIsFree(externalId, signal)
  if (free) memory.free.set(externalId, survey.atMs)
  else memory.free.delete(externalId)
  return free
}

/** Reads it once for all callers. An error is not cached. */
async function everythingSeen(memory: ConnectionMemory): Promise<boolean> {
  try {
    return (await memory.everything?.is) === true
  } catch (error) {
    delete memory.everything
    throw error
  }
}

/** Reads the power of one host's guests, as far as this pass read all else, in a single list. */
async function powersInBulk(
  facts: ConnectionFacts,
  missing: readonly MissingFact[],
  signal: AbortSignal,
): Promise<{ readonly brought: number; readonly rest: readonly MissingFact[] }> {
  const { session } = facts
  const byHost = new Map<string, ObservedResource[]>()
  const answered = new Set<string>()
  for (const fact of missing) {
    const seen = fact.look === 'power' ? facts.close.get(fact.externalId) : undefined
    if (seen?.close === undefined || seen.close.atMs < facts.survey.atMs || seen.type !== 'vm') continue
    if (seen.power === 'unknown' && facts.memory.born.has(seen.externalId)) {
      knowPower(facts, seen, 'stopped')
      answered.add(seen.externalId)
      continue
    }
    const there = byHost.get(seen.host)
    if (there === undefined) byHost.set(seen.host, [seen])
    else there.push(seen)
  }
  for (const [host, guests] of byHost) {
    const { hosts } = session
    if (hosts === undefined || signal.aborted) continue
    const powers = await ifObserved(() => hosts.powers(host, signal))
    for (const seen of guests) {
      const power = powers?.get(seen.externalId)
      if (power === undefined || power === 'unknown') continue
      // The list shows paused guests as running.
      if (seen.power === 'paused' && power === 'running') continue
      knowPower(facts, seen, power)
      answered.add(seen.externalId)
    }
  }
  return {
    brought: answered.size,
    rest: missing.filter((fact) => !('externalId' in fact) || fact.look !== 'power' || !answered.has(fact.externalId)),
  }
}

function knowPower(facts: ConnectionFacts, seen: ObservedResource, power: PowerState): void {
  if (seen.close === undefined) return
  const found: ObservedResource = { ...seen, close: { ...seen.close, power } }
  facts.close.set(seen.externalId, found)
  facts.looks.set(seen.externalId, found)
}

/** Reads one guest closely and stores the look. Returns false if the survey lacks it. */
export async function readDetails(
  facts: ConnectionFacts,
  externalId: string,
  ask: { readonly power?: boolean; readonly agent?: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const seen = facts.close.get(externalId) ?? facts.seen.get(externalId)
  if (seen === undefined) return false
  const words = facts.memory.made.get(externalId)?.words
  if (words !== undefined) facts.memory.sampled.add(words)
  const observed = await facts.session.observe(seen, ask, signal)
  const surveyedName = facts.seen.get(externalId)?.name
  const found =
    observed?.close === undefined || surveyedName === undefined || surveyedName === observed.name
      ? observed
      : { ...observed, close: { ...observed.close, surveyedName } }
  if (found === undefined) {
    facts.gone.add(externalId)
    facts.close.delete(externalId)
    facts.looks.delete(externalId)
  } else {
    facts.close.set(externalId, found)
    facts.looks.set(externalId, found)
  }
  return true
}

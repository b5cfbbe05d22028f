import { ifSeen, LookFailed, type Session } from '../drivers/port.ts'
import { LIMITS } from '../lib/limits.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Connection } from '../model/estate.ts'
import type { MissingFact, Plan } from '../model/plan.ts'
import type { PowerState, Resource, Sighting, Survey } from '../model/resource.ts'
import type { Refusal } from '../model/step.ts'
import { seenWorld, unseenWorld, type World } from '../plan/things/world.ts'
import { type CloseLooks, remember } from './close-looks.ts'
import type { ConnectionMemory } from './connections.ts'

/** What a pass has seen of one connection so far; grows while the plan finds that it lacks something. */
export interface Looking {
  readonly connection: Connection
  readonly session: Session
  readonly survey: Survey
  /** The survey's sightings by external id: looked up once for every guest that is read closely. */
  readonly seen: ReadonlyMap<string, Sighting>
  readonly looks: CloseLooks
  readonly memory: ConnectionMemory
  readonly close: Map<string, Sighting>
  readonly gone: Set<string>
  readonly lists: Map<string, readonly Sighting[]>
  readonly probes: Map<string, 'free' | 'taken'>
  /** Ids that were there once and are believed to be free because they were a moment ago. */
  readonly believed: Set<string>
  /** What was asked for and could not be read, with the words of whoever was asked. */
  readonly failed: Map<string, string>
}

/** Rounds of "the plan lacks something, look, plan again". More would mean that looking does not help. */
export const LOOK_ROUNDS = 6

/** Surveys one connection. A connection that cannot be seen is a fact about the world, not an exception. */
export async function surveyConnection(
  connection: Connection,
  session: Session,
  { looks, memory }: { readonly looks: CloseLooks; readonly memory: ConnectionMemory },
  signal: AbortSignal,
  wanted: readonly Resource[] = [],
): Promise<Looking | Refusal> {
  try {
    const survey = await session.survey(signal, wanted)
    const close = remember(looks, survey.sightings, survey.atMs)
    // Should an id stand there twice, the first counts.
    const seen = new Map(survey.sightings.toReversed().map((sighting) => [sighting.externalId, sighting]))
    return {
      connection,
      session,
      survey,
      seen,
      looks,
      memory,
      close,
      gone: new Set(),
      lists: new Map(),
      probes: new Map(),
      believed: new Set(),
      failed: new Map(),
    }
  } catch (error) {
    if (error instanceof LookFailed) return error.refusal
    throw error
  }
}

export function worldOf(looking: Looking): World {
  const survey: Survey =
    looking.gone.size === 0
      ? looking.survey
      : { ...looking.survey, sightings: looking.survey.sightings.filter((s) => !looking.gone.has(s.externalId)) }
  return seenWorld(looking.connection, survey, looking.close, looking.lists, looking.probes)
}

export function worldUnseen(connection: Connection, refusal: Refusal): World {
  return unseenWorld(connection, refusal)
}

/** What a plan could not decide for want of looking, by connection, each thing once. */
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

/** Looks at what was lacking. Answers how many looks brought something; a failed look leaves the lack standing. */
export async function readMissing(
  looking: Looking,
  missing: readonly MissingFact[],
  signal: AbortSignal,
): Promise<number> {
  const { brought: listed, rest } = await powersInBulk(looking, missing, signal)
  let brought = listed
  await inParallel(rest, looking.connection.limits.reads, async (fact) => {
    if (signal.aborted) return
    if (await fill(looking, fact, signal)) brought++
  })
  return brought
}

async function fill(looking: Looking, fact: MissingFact, signal: AbortSignal): Promise<boolean> {
  try {
    switch (fact.look) {
      case 'config':
        return await lookClosely(looking, fact.externalId, {}, signal)
      case 'power':
        return await lookClosely(looking, fact.externalId, { power: true }, signal)
      case 'id':
        looking.probes.set(fact.externalId, (await isFree(looking, fact, signal)) ? 'free' : 'taken')
        return true
      case 'list':
        looking.lists.set(fact.list, await listFor(looking, fact, signal))
        return true
    }
  } catch (error) {
    // One thing that cannot be read must not blind us to the others: it stays "not read yet" in this pass.
    if (error instanceof LookFailed) {
      looking.failed.set(JSON.stringify(fact), error.message)
      return false
    }
    throw error
  }
}

/** What was not there stays away until something is tried again: many that wait for their turn are asked about once. */
async function listFor(
  { session, memory, survey }: Looking,
  { list, remainsOf }: Extract<MissingFact, { look: 'list' }>,
  signal: AbortSignal,
): Promise<readonly Sighting[]> {
  if (remainsOf === undefined) return session.list(list, signal)
  const known = memory.bare.get(remainsOf) ?? new Map<string, number>()
  const atMs = known.get(list)
  if (atMs !== undefined && survey.atMs - atMs < LIMITS.idCheckMs) return []
  const found = await session.list(list, signal)
  if (found.length === 0) memory.bare.set(remainsOf, known.set(list, survey.atMs))
  return found
}

/**
 * Where a survey shows every guest, an id that it does not show is free, unless something of ours was there before. An
 * answer holds for a while: should somebody take the id meanwhile, the creation is refused and another one is chosen.
 */
async function isFree(
  { session, memory, survey, believed }: Looking,
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

/** Asked once for all who want to know; what could not be answered is asked anew next time. */
async function everythingSeen(memory: ConnectionMemory): Promise<boolean> {
  try {
    return (await memory.everything?.is) === true
  } catch (error) {
    delete memory.everything
    throw error
  }
}

/** The power of guests of one host, read in this pass but for that, is asked for in one list, however many they are. */
async function powersInBulk(
  looking: Looking,
  missing: readonly MissingFact[],
  signal: AbortSignal,
): Promise<{ readonly brought: number; readonly rest: readonly MissingFact[] }> {
  const { session } = looking
  const byHost = new Map<string, Sighting[]>()
  const answered = new Set<string>()
  for (const fact of missing) {
    const seen = fact.look === 'power' ? looking.close.get(fact.externalId) : undefined
    if (seen?.close === undefined || seen.close.atMs < looking.survey.atMs || seen.type !== 'vm') continue
    if (seen.power === 'unknown' && looking.memory.born.has(seen.externalId)) {
      knowPower(looking, seen, 'stopped')
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
    const powers = await ifSeen(() => hosts.powers(host, signal))
    for (const seen of guests) {
      const power = powers?.get(seen.externalId)
      if (power === undefined || power === 'unknown') continue
      // The list calls what is paused running.
      if (seen.power === 'paused' && power === 'running') continue
      knowPower(looking, seen, power)
      answered.add(seen.externalId)
    }
  }
  return {
    brought: answered.size,
    rest: missing.filter((fact) => !('externalId' in fact) || fact.look !== 'power' || !answered.has(fact.externalId)),
  }
}

function knowPower(looking: Looking, seen: Sighting, power: PowerState): void {
  if (seen.close === undefined) return
  const found: Sighting = { ...seen, close: { ...seen.close, power } }
  looking.close.set(seen.externalId, found)
  looking.looks.set(seen.externalId, found)
}

/** Reads one guest closely and remembers it. False: it was not in the survey. */
export async function lookClosely(
  looking: Looking,
  externalId: string,
  ask: { readonly power?: boolean; readonly agent?: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  const seen = looking.close.get(externalId) ?? looking.seen.get(externalId)
  if (seen === undefined) return false
  const observed = await looking.session.observe(seen, ask, signal)
  const surveyedName = looking.seen.get(externalId)?.name
  const found =
    observed?.close === undefined || surveyedName === undefined || surveyedName === observed.name
      ? observed
      : { ...observed, close: { ...observed.close, surveyedName } }
  if (found === undefined) {
    looking.gone.add(externalId)
    looking.close.delete(externalId)
    looking.looks.delete(externalId)
  } else {
    looking.close.set(externalId, found)
    looking.looks.set(externalId, found)
  }
  return true
}

import type { Session } from '../drivers/port.ts'
import { LookFailed } from '../drivers/port.ts'
import { inParallel } from '../lib/parallel.ts'
import type { Lack } from '../model/action.ts'
import type { Connection } from '../model/connection.ts'
import type { Plan } from '../model/plan.ts'
import type { Resource } from '../model/resource.ts'
import type { Sighting } from '../model/sighting.ts'
import type { Survey } from '../model/survey.ts'
import type { Refusal } from '../model/verdict.ts'
import { seenWorld, unseenWorld, type World } from '../plan/world.ts'
import { type CloseLooks, remember } from './close-looks.ts'

/** What a pass has seen of one connection so far; grows while the plan finds that it lacks something. */
export interface Looking {
  readonly connection: Connection
  readonly session: Session
  readonly survey: Survey
  /** The survey's sightings by external id: looked up once for every guest that is read closely. */
  readonly seen: ReadonlyMap<string, Sighting>
  readonly looks: CloseLooks
  readonly close: Map<string, Sighting>
  readonly gone: Set<string>
  readonly lists: Map<string, readonly Sighting[]>
  readonly probes: Map<string, 'free' | 'taken'>
  /** What was asked for and could not be read, with the words of whoever was asked. */
  readonly failed: Map<string, string>
}

/** Rounds of "the plan lacks something, look, plan again". More would mean that looking does not help. */
export const LOOK_ROUNDS = 6

/** Surveys one connection. A connection that cannot be seen is a fact about the world, not an exception. */
export async function surveyConnection(
  connection: Connection,
  session: Session,
  looks: CloseLooks,
  signal: AbortSignal,
  wanted: readonly Resource[] = [],
): Promise<Looking | Refusal> {
  try {
    const survey = await session.survey(signal, wanted)
    const close = remember(looks, survey.sightings)
    // Should an id stand there twice, the first counts.
    const seen = new Map(survey.sightings.toReversed().map((sighting) => [sighting.externalId, sighting]))
    return {
      connection,
      session,
      survey,
      seen,
      looks,
      close,
      gone: new Set(),
      lists: new Map(),
      probes: new Map(),
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
export function lacksOf(plan: Plan): ReadonlyMap<string, readonly Lack[]> {
  const lacks = new Map<string, Map<string, Lack>>()
  for (const { connection, action } of plan.entries) {
    if (action.do !== 'wait' || action.lack === undefined) continue
    const found = lacks.get(connection) ?? new Map<string, Lack>()
    found.set(JSON.stringify(action.lack), action.lack)
    lacks.set(connection, found)
  }
  return new Map([...lacks].map(([name, found]) => [name, [...found.values()]]))
}

/** Looks at what was lacking. Answers how many looks brought something; a failed look leaves the lack standing. */
export async function fillLacks(looking: Looking, lacks: readonly Lack[], signal: AbortSignal): Promise<number> {
  let brought = 0
  await inParallel(lacks, looking.connection.limits.reads, async (lack) => {
    if (signal.aborted) return
    if (await fill(looking, lack, signal)) brought++
  })
  return brought
}

async function fill(looking: Looking, lack: Lack, signal: AbortSignal): Promise<boolean> {
  try {
    switch (lack.look) {
      case 'config':
        return await lookClosely(looking, lack.externalId, {}, signal)
      case 'power':
        return await lookClosely(looking, lack.externalId, { power: true }, signal)
      case 'id':
        looking.probes.set(
          lack.externalId,
          (await looking.session.idIsFree(lack.externalId, signal)) ? 'free' : 'taken',
        )
        return true
      case 'list':
        looking.lists.set(lack.list, await looking.session.list(lack.list, signal))
        return true
    }
  } catch (error) {
    // One thing that cannot be read must not blind us to the others: it stays "not read yet" in this pass.
    if (error instanceof LookFailed) {
      looking.failed.set(JSON.stringify(lack), error.message)
      return false
    }
    throw error
  }
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
  const found = await looking.session.observe(seen, ask, signal)
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

import { isDeepStrictEqual } from 'node:util'
import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Plan } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedDetails, ObservedResource, Survey } from '../model/resource.ts'
import { isTrue } from './conditions.ts'
import type { ConnectionFacts } from './connection-facts.ts'
import { stillReady } from './still-ready.ts'

/** The observed facts of one connection that a plan uses. */
export type ObservedFacts = Pick<
  ConnectionFacts,
  'survey' | 'seen' | 'close' | 'asMade' | 'gone' | 'lists' | 'probes' | 'believed' | 'failed'
>

/** All inputs of a pass over machines, files and settings, except the time. */
export interface QuietGround {
  readonly estate: Estate
  readonly seen: ReadonlyMap<string, ObservedFacts>
  /** The number of unreachable connections. */
  readonly unseen: number
  readonly records: ReadonlyMap<ResourceKey, ResourceRecord>
  /** Number of effects with an unknown result. */
  readonly inFlight: number
}

/** A pass that found everything as declared, and until when only time passing cannot change that. */
export interface Quiet {
  readonly standing: QuietGround
  readonly plan: Plan
  /** On the monotonic clock. */
  readonly untilMs: number
}

/** The rules for quiet passes. */
export interface QuietRules {
  after: typeof quietAfter
  sameGround: typeof sameGround
  sameLooks: typeof sameLooks
}

/** Fields that change constantly and decide nothing in a plan without effects; uptime is judged separately. */
const PASSING: ReadonlySet<string> = new Set([
  'load',
  'memoryUsedBytes',
  'usedBytes',
  'temperatureC',
  'watts',
  'uptimeSeconds',
])
/** A close look's own time, and its copy of the survey. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['atMs', 'surveyedName'])
/** Fields that only some looks read: compared only if both have them, as during a machine's first boot. */
const ASKED_APART: ReadonlySet<string> = new Set(['power', 'agent', 'addresses', 'cloudInit'])
const NONE: ReadonlySet<string> = new Set()
const MARKED: ReadonlySet<string> = new Set([...PASSING, 'mark', 'close'])

/**
 * Returns the state if a pass left nothing to do, so that the next pass plans only if an input differs. Undefined
 * otherwise. Anything that waits, is held, refused or retried depends on the time, and so do clusters, Powers and
 * `readyWhen`: with any of them each pass plans. Pure.
 */
export function quietAfter(standing: QuietGround, plan: Plan, steadyMs: number): Quiet | undefined {
  const { estate, records, seen } = standing
  if ((estate.clusters?.length ?? 0) + (estate.powers?.length ?? 0) + (estate.idleHosts?.length ?? 0) > 0)
    return undefined
  if (standing.unseen + standing.inFlight + plan.notes.length > 0) return undefined
  // The declaration depends on observed values.
  if (estate.later !== undefined) return undefined
  if (estate.resources.some(({ policy }) => policy.readyWhen !== undefined)) return undefined
  const isAtRest = ({ key, action }: Plan['entries'][number]) => action.do === 'nothing' && isSteady(records.get(key))
  if (!plan.entries.every(isAtRest)) return undefined
  for (const facts of seen.values())
    if (facts.gone.size + facts.probes.size + facts.believed.size + facts.failed.size + facts.asMade.size > 0)
      return undefined
  const leftMs = Math.min(LIMITS.quietMs, ...seedsLeftMs(plan, standing))
  return { standing, plan, untilMs: steadyMs + leftMs }
}

function isSteady(record: ResourceRecord | undefined): boolean {
  if (record === undefined || record.failure !== undefined || record.stalledGeneration !== undefined) return false
  return record.status === 'Orphaned' || isTrue(record.conditions, 'Ready')
}

/** Returns the times until machines have been up long enough to delete the image of their first boot. */
function seedsLeftMs({ entries }: Plan, { estate, seen }: QuietGround): readonly number[] {
  const ids = new Map(entries.map(({ key, externalId }) => [key, externalId]))
  return estate.resources.flatMap(({ key, connection, desired }) => {
    const after = desired.type === 'vm' ? desired.vm.seed?.removeAfterSeconds : undefined
    if (after === undefined) return []
    const left = after - (seen.get(connection)?.seen.get(ids.get(key) ?? '')?.uptimeSeconds ?? 0)
    return left > 0 ? [left * 1000] : []
  })
}

/** Reports whether survey and store equal those of the quiet pass. `sameLooks` compares closer looks. Pure. */
export function sameGround(
  quiet: Quiet,
  now: QuietGround,
  time: { readonly nowMs: number; readonly steadyMs: number },
) {
  const { standing: before, plan } = quiet
  if (time.steadyMs >= quiet.untilMs || before.estate !== now.estate) return false
  if (now.unseen + now.inFlight > 0 || now.seen.size !== before.seen.size) return false
  for (const [name, { survey, seen }] of now.seen) {
    const known = before.seen.get(name)
    if (known === undefined || !sameSurvey(known, { survey, seen })) return false
  }
  return sameRecords(before.records, now.records) && sameReadiness(plan, before, now, time.nowMs)
}

/** Reports whether the reads beside the surveys are the same: configurations, files, settings. Pure. */
export function sameLooks(before: QuietGround, now: QuietGround): boolean {
  for (const [name, { close, lists, gone, failed }] of now.seen) {
    const known = before.seen.get(name)
    if (known === undefined || gone.size + failed.size > 0) return false
    if (known.close.size !== close.size || known.lists.size !== lists.size) return false
    for (const [id, observed] of close) if (!sameLook(known.close.get(id), observed)) return false
    for (const [list, things] of lists) if (!sameList(known.lists.get(list), things)) return false
  }
  return true
}

function sameSurvey(
  before: Pick<ObservedFacts, 'survey' | 'seen'>,
  now: Pick<ObservedFacts, 'survey' | 'seen'>,
): boolean {
  const [was, is] = [before.survey, now.survey]
  // With a duplicate id only the first would be compared, so it never counts as the same.
  if (is.resources.length !== now.seen.size) return false
  if (was.resources.length !== is.resources.length || before.seen.size !== now.seen.size) return false
  for (const [id, observed] of now.seen) {
    const known = before.seen.get(id)
    if (known === undefined || known.mark?.uid !== observed.mark?.uid) return false
    if (!sameFields(known, observed, MARKED)) return false
  }
  return (
    sameByName(was.hosts, is.hosts, ({ name }) => name) &&
    sameByName(was.storages, is.storages, ({ host, name }) => `${host}/${name}`) &&
    sameByName(was.tasks, is.tasks, ({ id }) => id) &&
    isDeepStrictEqual(rest(was), rest(is))
  )
}

/** All other fields of a survey. */
function rest({ hosts: _h, storages: _s, resources: _r, tasks: _t, atMs: _a, ...others }: Survey): object {
  return others
}

function sameByName<T extends object>(before: readonly T[], now: readonly T[], nameOf: (one: T) => string): boolean {
  if (before.length !== now.length) return false
  const known = new Map(before.map((one) => [nameOf(one), one]))
  return now.every((one) => {
    const was = known.get(nameOf(one))
    return was !== undefined && sameFields(was, one, PASSING)
  })
}

function sameList(before: readonly ObservedResource[] | undefined, now: readonly ObservedResource[]): boolean {
  const known = new Map(before?.map((one) => [one.externalId, one]))
  if (before?.length !== now.length || known.size !== now.length) return false
  return now.every((one) => {
    const was = known.get(one.externalId)
    if (was === undefined || !sameFields(was, one, MARKED) || !isDeepStrictEqual(was.mark, one.mark)) return false
    return was.close === undefined || one.close === undefined
      ? was.close === one.close
      : sameClose(was.close, one.close)
  })
}

function sameLook(before: ObservedResource | undefined, now: ObservedResource): boolean {
  const [was, is]: readonly (ObservedDetails | undefined)[] = [before?.close, now.close]
  if (before === undefined || was === undefined || is === undefined) return false
  // A repeated close look may be newer than the survey.
  if (was !== is && !(sameClose(was, is) && sameFields(before, now, MARKED))) return false
  return before.mark === now.mark || isDeepStrictEqual(before.mark, now.mark)
}

function sameClose(before: ObservedDetails, now: ObservedDetails): boolean {
  return sameFields(before, now, OF_THE_MOMENT, ASKED_APART)
}

/** Compares all fields of both, so that a new field counts until it is listed as irrelevant. */
function sameFields(
  before: object,
  now: object,
  apart: ReadonlySet<string>,
  ifBoth: ReadonlySet<string> = NONE,
): boolean {
  const [was, is] = [before as Record<string, unknown>, now as Record<string, unknown>]
  const unasked = (name: string) => ifBoth.has(name) && (was[name] === undefined || is[name] === undefined)
  for (const name in is) if (!apart.has(name) && !sameValue(was[name], is[name]) && !unasked(name)) return false
  for (const name in was)
    if (!apart.has(name) && was[name] !== undefined && is[name] === undefined && !unasked(name)) return false
  return true
}

function sameValue(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && isDeepStrictEqual(one, other))
}

function sameRecords(before: QuietGround['records'], now: QuietGround['records']): boolean {
  if (before.size !== now.size) return false
  for (const [key, record] of now) if (!sameValue(before.get(key), record)) return false
  return true
}

/** Reports whether no machine restarted since it became Ready (a lower uptime means a restart). */
function sameReadiness({ entries }: Plan, before: QuietGround, now: QuietGround, nowMs: number): boolean {
  return entries.every(({ key, connection, externalId }) => {
    const record = now.records.get(key)
    const observed = now.seen.get(connection)?.seen.get(externalId ?? '')
    if (record === undefined || observed === undefined) return true
    const { uptimeSeconds: was } = before.seen.get(connection)?.seen.get(externalId ?? '') ?? {}
    if ((was === undefined) !== (observed.uptimeSeconds === undefined)) return false
    return !isTrue(record.conditions, 'Ready') || stillReady(record.conditions, observed, nowMs)
  })
}

export const QUIET_RULES: QuietRules = { after: quietAfter, sameGround, sameLooks }

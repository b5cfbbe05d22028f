import { defined } from '../lib/defined.ts'
import type { Random } from '../lib/random.ts'
import type { Action } from '../model/plan.ts'
import type { CreationAttempt, NewEvent, ResourceRecord } from '../model/record.ts'
import { isGuest } from '../model/resource.ts'
import { attemptAt, attemptOf } from '../plan/things/attempt.ts'
import { judgeConditions, statusWord } from './judge-conditions.ts'
import { eventsOf } from './judge-events.ts'
import { judgeFailures } from './judge-failures.ts'
import type { Happening, ResourcePass } from './resource-pass.ts'

/** The results of a pass for one resource: its record and events. */
export interface Verdict {
  readonly record: ResourceRecord
  readonly events: readonly NewEvent[]
}

const MAKING_VERBS: ReadonlySet<string> = new Set(['create', 'download'])

/** Turns decision and results into the resource's record. Pure, except for the given jitter. */
export function judge(one: ResourcePass, nowMs: number, random: Random): Verdict {
  const before = one.before ?? newRecord(one, nowMs)
  const renewed = before.generation !== one.generation
  const failures = judgeFailures(one, before, renewed, nowMs, random)
  const removedByUs = one.happenings.some((h) => h.what === 'succeeded' && h.step.verb === 'delete')
  // A merely planned id is not recorded: it would look like a used one.
  const used = one.present || one.happenings.length > 0
  const created = one.happenings.some((h) => h.what !== 'failed' && MAKING_VERBS.has(h.step.verb))
  // A recreated thing is another one than was seen before.
  const externalId = used ? (one.entry.externalId ?? before.externalId) : before.externalId
  const isSamePlace = before.connection === one.entry.connection && before.externalId === externalId
  const knownMs = created || removedByUs || !isSamePlace ? undefined : before.seenMs
  const seenMs = one.present && !removedByUs ? (knownMs ?? nowMs) : knownMs
  const made = created || (!removedByUs && isSamePlace && before.made === true)
  const attempt = attemptAfter(one, before, externalId, nowMs)
  const host = one.entry.host ?? before.host
  const conditions = judgeConditions(one, before, failures, nowMs)
  const drift = driftOf(one, before, nowMs)
  // Facts about the former thing do not apply to its successor.
  const isAnother = removedByUs || one.happenings.some((h) => h.what !== 'failed' && h.step.verb === 'create')
  const details = { ...(isAnother ? {} : before.details), ...one.details, ...learned(one.happenings) }
  const record: ResourceRecord = {
    key: one.entry.key,
    uid: one.entry.uid,
    connection: one.entry.connection,
    type: one.entry.type,
    generation: one.generation,
    ...defined({ declaredBy: one.declaredBy, source: one.source, composedBy: one.composedBy }),
    policy: one.policy,
    conditions,
    createdMs: before.createdMs,
    status: statusWord(one, conditions, failures),
    ...defined({ externalId, host, seenMs, birth: birthOf(one, before, externalId) }),
    ...defined({ system: systemOf(one, before, isSamePlace) }),
    ...drift,
    ...(one.absent === true ? { absent: true } : {}),
    ...(isHeldForCount(one) ? { awaitsApproval: true } : {}),
    ...declaredHostOf(one, before),
    ...addressesOf(one, before, created),
    ...defined({ list: one.list }),
    ...(made ? { made } : {}),
    ...defined({ attempt }),
    ...defined({ failure: failures.failure, lastEffect: failures.lastEffect }),
    ...(failures.stalled ? { stalledGeneration: one.generation } : {}),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  }
  return { record, events: eventsOf(one, before, record, nowMs) }
}

/** Returns the birth, known from the first close look at our thing, and again after a step that changes it. */
function birthOf(one: ResourcePass, before: ResourceRecord, externalId: string | undefined): string | undefined {
  const { entry, happenings, birth, policy } = one
  if (happenings.length > 0 && givesBirth(entry.action)) return undefined
  const isHeld = before.externalId === externalId && before.connection === entry.connection
  const isNew = happenings.some(({ what, step }) => what !== 'failed' && MAKING_VERBS.has(step.verb))
  const known = isHeld && !isNew ? before.birth : undefined
  return birth !== undefined && birth === policy.birth ? birth : (known ?? birth)
}

/** The first look that shows the thing, and the call that makes it, say which system it is on; later ones are compared with it. */
function systemOf(one: ResourcePass, before: ResourceRecord, isSamePlace: boolean): ResourceRecord['system'] {
  if (isSamePlace && before.system !== undefined) return before.system
  return one.present || one.happenings.length > 0 ? one.system : undefined
}

function givesBirth(action: Action): boolean {
  if (action.do === 'update') return action.changes.some(({ path }) => /^(?:smbios|nics)\b/.test(path))
  return action.do === 'create' || action.do === 'replace' || action.do === 'adopt'
}

/**
 * Returns the open creation after this pass. The start of a creation opens one. The first survey with the whole guest
 * closes it, and so does its deletion, unless that only clears the place. A survey is older than its pass's calls.
 */
function attemptAfter(
  { entry, happenings, whole }: ResourcePass,
  before: ResourceRecord,
  externalId: string | undefined,
  nowMs: number,
): CreationAttempt | undefined {
  if (!isGuest(entry.type)) return undefined
  const { connection } = entry
  const open = attemptOf(before)
  const starts = happenings.some(({ what, step }) => what !== 'failed' && step.verb === 'create')
  const ended = happenings.some(({ what, step }) => what === 'succeeded' && step.verb === 'create')
  if (starts && externalId !== undefined && !(ended && whole === true))
    return attemptAt(before, connection, externalId) ?? { connection, externalId, sinceMs: nowMs }
  const isRemoved = happenings.some(({ what, step }) => what === 'succeeded' && step.verb === 'delete')
  return whole === true || (isRemoved && entry.action.do !== 'create') ? undefined : open
}

/** Returns which generation was last seen applied, and since when the world differs from it. */
function driftOf(
  { entry, generation, seen, driftBy }: ResourcePass,
  before: ResourceRecord,
  nowMs: number,
): Pick<ResourceRecord, 'syncedGeneration' | 'driftSinceMs' | 'driftBy'> {
  const insync = seen && entry.action.do === 'nothing'
  const syncedGeneration = insync ? generation : before.syncedGeneration
  const drifts = entry.drift === true && entry.action.do !== 'nothing'
  const over = insync || before.generation !== generation
  const driftSinceMs = drifts ? (before.driftSinceMs ?? nowMs) : over ? undefined : before.driftSinceMs
  const by = before.driftSinceMs === undefined ? driftBy : before.driftBy
  return {
    ...defined({ syncedGeneration, driftSinceMs }),
    ...(driftSinceMs === undefined || by === undefined ? {} : { driftBy: by }),
  }
}

function isHeldForCount({ entry: { action }, before, seen }: ResourcePass): boolean {
  if (!seen || action.do === 'wait') return before?.awaitsApproval === true
  return action.do === 'hold' && action.guard === 'blast-radius'
}

function declaredHostOf(one: ResourcePass, before: ResourceRecord): Pick<ResourceRecord, 'declaredHost'> {
  const host = one.seen && one.entry.action.do === 'nothing' ? one.declaredHost : before.declaredHost
  return host === undefined ? {} : { declaredHost: host }
}

/** A change of addresses that waits, is held or is ignored has no effect: the machine keeps those of its creation. */
function addressesOf(one: ResourcePass, before: ResourceRecord, created: boolean): Pick<ResourceRecord, 'addresses'> {
  const isInForce = created || (one.seen && one.entry.action.do === 'nothing' && one.readsOther !== true)
  const addresses = isInForce ? one.addresses : before.addresses
  return addresses === undefined || addresses.length === 0 ? {} : { addresses }
}

/** Returns facts from the steps that ended in this pass. */
function learned(happenings: readonly Happening[]): Readonly<Record<string, string>> {
  const facts: Record<string, string> = {}
  for (const happening of happenings) {
    const { learns } = happening.step
    if (happening.what === 'succeeded') Object.assign(facts, learns?.done)
    if (happening.what === 'failed' && happening.refusal.reason === learns?.failed?.reason)
      Object.assign(facts, learns.failed.facts)
  }
  return facts
}

function newRecord(one: ResourcePass, nowMs: number): ResourceRecord {
  return {
    key: one.entry.key,
    uid: one.entry.uid,
    connection: one.entry.connection,
    type: one.entry.type,
    generation: one.generation,
    policy: one.policy,
    conditions: [],
    createdMs: nowMs,
    status: 'Pending',
  }
}

import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import { type Action, isDoing } from '../model/action.ts'
import type { Change } from '../model/change.ts'
import type { Condition } from '../model/condition.ts'
import type { EventCause, NewEvent } from '../model/event.ts'
import type { PlanEntry } from '../model/plan.ts'
import type { Policy } from '../model/policy.ts'
import type { FailureRun, LastEffect, ResourceRecord } from '../model/record.ts'
import type { Readiness } from '../model/rules.ts'
import type { Step } from '../model/step.ts'
import type { Refusal } from '../model/verdict.ts'
import { conditionOf, isTrue, withCondition } from './conditions.ts'
import { countFailure, isStalled } from './failures.ts'

/** What happened to one resource in this pass: an effect that ended well, one that failed, or neither. */
export type Happening =
  | { readonly what: 'succeeded'; readonly step: Step }
  | { readonly what: 'started'; readonly step: Step }
  | { readonly what: 'failed'; readonly step: Step; readonly refusal: Refusal }
  | { readonly what: 'unclear'; readonly step: Step; readonly message: string }

export interface Case {
  readonly entry: PlanEntry
  readonly policy: Policy
  readonly generation: string
  readonly before: ResourceRecord | undefined
  /** Undefined: not there, or not looked at closely. */
  readonly readiness: Readiness | undefined
  readonly present: boolean
  /** The list that would show it was not read in this pass: that it is not present says nothing. */
  readonly unread?: true
  /** The list that shows it, for what a survey does not show. */
  readonly list?: string
  /** False: the connection could not be seen in this pass. */
  readonly seen: boolean
  /** How long the connection has not been seen. */
  readonly unseenMs: number
  readonly happenings: readonly Happening[]
  readonly details?: Readonly<Record<string, string>>
  readonly commit?: string
  /** Of a guest: the host that is declared, wherever it is. */
  readonly declaredHost?: string
  /** Who moved it, where it has just been seen to have drifted. */
  readonly driftBy?: ResourceRecord['driftBy']
}

/** What an attempt means: the new record, the events worth telling. */
export interface Verdict {
  readonly record: ResourceRecord
  readonly events: readonly NewEvent[]
}

/** A connection that answers again within this time changes nobody's conditions. */
const UNSEEN_GRACE_MS = 30_000

/** Turns what was decided and what happened into the resource's standing. Pure but for the jitter it is handed. */
export function judge(one: Case, nowMs: number, random: Random): Verdict {
  const before = one.before ?? newRecord(one, nowMs)
  const renewed = before.generation !== one.generation
  const failures = judgeFailures(one, before, renewed, nowMs, random)
  const removedByUs = one.happenings.some((h) => h.what === 'succeeded' && h.step.verb === 'delete')
  const seenMs = one.present ? (before.seenMs ?? nowMs) : removedByUs ? undefined : before.seenMs
  // An id that was only planned is not remembered: it would be mistaken for one that was used.
  const used = one.present || one.happenings.length > 0
  const created = one.happenings.some((h) => h.what !== 'failed' && MAKING_VERBS.has(h.step.verb))
  const made = !removedByUs && (before.made === true || created)
  const externalId = used ? (one.entry.externalId ?? before.externalId) : before.externalId
  const host = one.entry.host ?? before.host
  const conditions = judgeConditions(one, before, failures, nowMs)
  const drift = driftOf(one, before, nowMs)
  const details = { ...(removedByUs ? {} : before.details), ...one.details, ...learned(one.happenings) }
  const record: ResourceRecord = {
    key: one.entry.key,
    uid: one.entry.uid,
    connection: one.entry.connection,
    type: one.entry.type,
    generation: one.generation,
    policy: one.policy,
    conditions,
    createdMs: before.createdMs,
    status: statusWord(one, conditions, failures),
    ...(externalId === undefined ? {} : { externalId }),
    ...(host === undefined ? {} : { host }),
    ...(seenMs === undefined ? {} : { seenMs }),
    ...drift,
    ...declaredHostOf(one, before),
    ...(one.list === undefined ? {} : { list: one.list }),
    ...(made ? { made } : {}),
    ...(failures.failure === undefined ? {} : { failure: failures.failure }),
    ...(failures.lastEffect === undefined ? {} : { lastEffect: failures.lastEffect }),
    ...(failures.stalled ? { stalledGeneration: one.generation } : {}),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  }
  return { record, events: eventsOf(one, before, record, nowMs) }
}

/** Which generation was last seen in force, and since when the world has moved away from it. */
function driftOf(
  { entry, generation, seen, driftBy }: Case,
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
    ...(syncedGeneration === undefined ? {} : { syncedGeneration }),
    ...(driftSinceMs === undefined ? {} : { driftSinceMs }),
    ...(driftSinceMs === undefined || by === undefined ? {} : { driftBy: by }),
  }
}

function declaredHostOf(one: Case, before: ResourceRecord): Pick<ResourceRecord, 'declaredHost'> {
  const host = one.seen && one.entry.action.do === 'nothing' ? one.declaredHost : before.declaredHost
  return host === undefined ? {} : { declaredHost: host }
}

/** What the steps that ended in this pass have taught. */
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

function newRecord(one: Case, nowMs: number): ResourceRecord {
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

interface Failures {
  readonly failure: FailureRun | undefined
  readonly stalled: boolean
  readonly lastEffect: LastEffect | undefined
}

function judgeFailures(one: Case, before: ResourceRecord, renewed: boolean, nowMs: number, random: Random): Failures {
  let failure = renewed ? undefined : before.failure
  let stalled = !renewed && before.stalledGeneration === one.generation
  let lastEffect = renewed ? undefined : before.lastEffect
  for (const happening of one.happenings) {
    if (happening.what === 'failed') {
      failure = countFailure(failure, happening.refusal, nowMs, random)
      stalled = isStalled(happening.refusal, failure)
    } else if (happening.what === 'succeeded') {
      const signature = signatureOf(happening.step)
      if (lastEffect?.signature === signature) {
        const refusal = noEffect(happening.step)
        failure = countFailure(failure, refusal, nowMs, random)
        stalled = isStalled(refusal, failure)
      } else if (failure?.reason !== NO_EFFECT) {
        failure = undefined
        stalled = false
      }
      lastEffect = { signature, verb: happening.step.verb, atMs: nowMs }
    }
  }
  const settled = one.entry.action.do === 'nothing' && one.happenings.length === 0
  if (settled && one.seen)
    return { failure: undefined, stalled: false, lastEffect: one.readiness?.ready === false ? lastEffect : undefined }
  return { failure, stalled, lastEffect }
}

const NO_EFFECT = 'NoEffect'

function noEffect(step: Step): Refusal {
  return {
    reason: NO_EFFECT,
    meaning: 'backoff',
    message: `"${step.summary}" succeeded before and did not stay: something else changes it back, or the system does not keep it`,
  }
}

/** The same call again, whatever version of the configuration it was based on. */
export function signatureOf(step: Step): string {
  const { digest: _, ...params } = step.call.params
  return `${step.call.method} ${step.call.path} ${JSON.stringify(params)}`
}

function judgeConditions(one: Case, before: ResourceRecord, failures: Failures, nowMs: number): readonly Condition[] {
  if (!one.seen && one.unseenMs < UNSEEN_GRACE_MS && before.conditions.length > 0) return before.conditions
  let conditions = withCondition(before.conditions, { type: 'Synced', ...synced(one.entry.action, one.seen) }, nowMs)
  conditions = withCondition(conditions, { type: 'Ready', ...ready(one) }, nowMs)
  const stall = failures.stalled
    ? {
        status: 'True' as const,
        reason: failures.failure?.reason ?? 'Stalled',
        message: failures.failure?.message ?? '',
      }
    : { status: 'False' as const, reason: 'NotStalled', message: '' }
  return withCondition(conditions, { type: 'Stalled', ...stall }, nowMs)
}

type Standing = Pick<Condition, 'status' | 'reason' | 'message'>

function synced(action: Action, seen: boolean): Standing {
  if (!seen)
    return { status: 'Unknown', reason: 'ConnectionNotSeen', message: 'message' in action ? action.message : '' }
  switch (action.do) {
    case 'nothing':
      return { status: 'True', reason: 'InSync', message: 'as declared' }
    case 'wait':
      return { status: 'False', reason: action.reason, message: action.message }
    case 'forget':
      return { status: 'True', reason: 'Forgotten', message: action.reason }
    case 'hold':
      return { status: 'False', reason: 'Held', message: `${action.reason}; ${action.allow}` }
    case 'refuse':
      return { status: 'False', reason: 'Refused', message: `${action.reason}; ${action.allow}` }
    default:
      return { status: 'False', reason: 'OutOfSync', message: action.reason }
  }
}

function ready(one: Case): Standing {
  if (!one.seen) return { status: 'Unknown', reason: 'ConnectionNotSeen', message: 'the connection cannot be seen' }
  const power = one.happenings.find((happening) => happening.what !== 'failed' && POWER_VERBS.has(happening.step.verb))
  if (power !== undefined) return { status: 'False', reason: 'PowerChanging', message: power.step.summary }
  if (one.readiness !== undefined) {
    const { reason, message } = one.readiness
    return { status: one.readiness.ready ? 'True' : 'False', reason, message }
  }
  // Something is under way and it was not read in this pass: what was known of it stands.
  const was = one.before === undefined ? undefined : conditionOf(one.before.conditions, 'Ready')
  if (one.present || (one.unread === true && was !== undefined))
    return was ?? { status: 'False', reason: 'NotReadClosely', message: 'it has not been read closely yet' }
  return { status: 'False', reason: 'Absent', message: 'it is not there' }
}

const MAKING_VERBS: ReadonlySet<string> = new Set(['create', 'download'])

/** After one of these the machine has to show anew that it is Ready. */
const POWER_VERBS: ReadonlySet<string> = new Set(['start', 'shutdown', 'stop', 'reboot', 'delete'])

function statusWord(one: Case, conditions: readonly Condition[], failures: Failures): string {
  if (one.entry.action.do === 'forget') return 'Orphaned'
  if (failures.stalled) return 'Stalled'
  if (!one.seen) return one.before?.status ?? 'Unknown'
  const doing = one.happenings.at(-1)
  if (doing !== undefined && doing.what === 'started') return DOING_WORDS[doing.step.verb]
  switch (one.entry.action.do) {
    case 'nothing':
      return one.readiness?.status ?? (one.before?.status === 'Orphaned' ? 'Orphaned' : 'Unknown')
    case 'wait':
      return one.entry.action.reason === 'InProgress' ? (one.before?.status ?? 'Working') : 'Waiting'
    case 'hold':
      return 'Held'
    case 'refuse':
      return 'Refused'
    default:
      return isTrue(conditions, 'Ready') ? (one.readiness?.status ?? 'Pending') : 'Pending'
  }
}

const DOING_WORDS: Readonly<Record<Step['verb'], string>> = {
  create: 'Creating',
  configure: 'Configuring',
  resize: 'Resizing',
  start: 'Starting',
  shutdown: 'Stopping',
  stop: 'Stopping',
  reboot: 'Restarting',
  template: 'Converting',
  delete: 'Deleting',
  download: 'Downloading',
  verify: 'Verifying',
  move: 'Moving',
  mark: 'Adopting',
  upload: 'Seeding',
  insert: 'Seeding',
  eject: 'Unseeding',
  discard: 'Unseeding',
}

function eventsOf(one: Case, before: ResourceRecord, after: ResourceRecord, nowMs: number): readonly NewEvent[] {
  const events: NewEvent[] = []
  const tell = (type: NewEvent['type'], reason: string, message: string, step?: Step) => {
    const cause = causeOf(one.entry, step)
    events.push({
      atMs: nowMs,
      key: one.entry.key,
      type,
      reason,
      message,
      ...(one.commit === undefined ? {} : { commit: one.commit }),
      ...(cause === undefined ? {} : { cause }),
    })
  }
  if (after.driftSinceMs !== undefined && before.driftSinceMs === undefined)
    tell('Warning', 'Drift', driftText(one.entry.action, after.driftBy))
  for (const happening of one.happenings) {
    switch (happening.what) {
      case 'started':
        tell('Normal', 'Started', happening.step.summary, happening.step)
        break
      case 'succeeded':
        tell('Normal', 'Done', happening.step.summary, happening.step)
        break
      case 'failed':
        tell(
          'Warning',
          happening.refusal.reason,
          `${happening.step.summary}: ${happening.refusal.message}`,
          happening.step,
        )
        break
      case 'unclear':
        tell('Warning', 'NoAnswer', `${happening.step.summary}: ${happening.message}`, happening.step)
        break
    }
  }
  for (const type of ['Ready', 'Stalled'] as const) {
    const was = conditionOf(before.conditions, type)
    const is = conditionOf(after.conditions, type)
    if (is === undefined || was?.status === is.status) continue
    if (was?.status !== 'True' && is.status !== 'True') continue
    const bad = (type === 'Stalled') === (is.status === 'True')
    tell(
      bad ? 'Warning' : 'Normal',
      is.status === 'True' ? type : `Not${type}`,
      is.message === '' ? is.reason : is.message,
    )
  }
  const was = conditionOf(before.conditions, 'Synced')
  const is = conditionOf(after.conditions, 'Synced')
  if (is !== undefined && is.message !== was?.message && (is.reason === 'Held' || is.reason === 'Refused')) {
    tell('Warning', is.reason, is.message)
  }
  if (after.status === 'Orphaned' && before.status !== 'Orphaned') {
    tell(
      'Normal',
      'Orphaned',
      `id ${after.externalId ?? '?'} on ${after.host ?? '?'} stays and is no longer kept by croft`,
    )
  }
  return events
}

/** From the plan's reason to the call. Parameters stay out: they hold more than a reader needs. */
function causeOf({ action, drift }: PlanEntry, step: Step | undefined): EventCause | undefined {
  const plan = isDoing(action) ? action.reason : undefined
  const call = step === undefined ? undefined : `${step.call.method} ${step.call.path}`
  if (plan === undefined && call === undefined) return undefined
  return {
    ...(plan === undefined ? {} : { plan }),
    ...(call === undefined ? {} : { call }),
    ...(drift === undefined ? {} : { drift }),
  }
}

function driftText(action: Action, by: ResourceRecord['driftBy']): string {
  const doing = action.do === 'hold' ? action.held : action
  const who = by === undefined ? '' : ` (${by.user}, ${by.task})`
  if (doing.do === 'create') return `it is gone, and Git still declares it${who}`
  if (!('changes' in doing)) return `it differs from what Git declares${who}`
  const fields = doing.changes.map(
    (change) => `${change.path} ${shown(change.to, change)} → ${shown(change.from, change)}`,
  )
  return `${fields.join(', ')}${who}`
}

function shown(value: unknown, { secret }: Change): string {
  if (secret === true) return '***'
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > LIMITS.shownValueLength ? `${text.slice(0, LIMITS.shownValueLength)}…` : text
}

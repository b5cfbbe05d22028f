import type { Action } from '../model/plan.ts'
import type { Condition, ResourceRecord } from '../model/record.ts'
import type { Step } from '../model/step.ts'
import { conditionOf, isTrue, withCondition } from './conditions.ts'
import type { Failures } from './judge-failures.ts'
import type { ResourcePass } from './resource-pass.ts'

/** A connection that answers again within this time changes no conditions. */
const UNSEEN_GRACE_MS = 30_000

export function judgeConditions(
  one: ResourcePass,
  before: ResourceRecord,
  failures: Failures,
  nowMs: number,
): readonly Condition[] {
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

type ConditionState = Pick<Condition, 'status' | 'reason' | 'message'>

function synced(action: Action, seen: boolean): ConditionState {
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

function ready(one: ResourcePass): ConditionState {
  if (!one.seen) return { status: 'Unknown', reason: 'ConnectionNotSeen', message: 'the connection cannot be seen' }
  const power = one.happenings.find((happening) => happening.what !== 'failed' && POWER_VERBS.has(happening.step.verb))
  if (power !== undefined) return { status: 'False', reason: 'PowerChanging', message: power.step.summary }
  if (one.readiness !== undefined) {
    const { reason, message } = one.readiness
    return { status: one.readiness.ready ? 'True' : 'False', reason, message }
  }
  // Something is under way and it was not read in this pass: its last condition stays.
  const was = one.before === undefined ? undefined : conditionOf(one.before.conditions, 'Ready')
  if (one.present || (one.unread === true && was !== undefined))
    return was ?? { status: 'False', reason: 'NotReadClosely', message: 'it has not been read closely yet' }
  return { status: 'False', reason: 'Absent', message: 'it is not there' }
}

/** After one of these verbs the machine has to become Ready again. */
const POWER_VERBS: ReadonlySet<string> = new Set(['start', 'shutdown', 'stop', 'reboot', 'delete'])

/** Returns the status word that `croft get` shows. */
export function statusWord(one: ResourcePass, conditions: readonly Condition[], failures: Failures): string {
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

import { resourceUid } from '../../model/declaration.ts'
import type { PowerDecision, PowerPlan } from '../../model/observed-power.ts'
import type { Condition, NewEvent, ResourceRecord } from '../../model/record.ts'
import type { Step } from '../../model/step.ts'
import { conditionOf, withCondition } from '../conditions.ts'
import { eventsOfAttempts, objectionSentence, pascal, type StepAttempt } from '../steps.ts'
import { noteWaits } from './noted-waits.ts'

/** Turns the observation of a Power and its steps into its record and events. Pure. */
export function judgePower(
  look: PowerPlan,
  attempts: readonly StepAttempt<'power'>[],
  before: ResourceRecord | undefined,
  goesOn: (step: Step<'power'>) => boolean,
  lastWords: readonly string[],
  nowMs: number,
): { readonly record: ResourceRecord; readonly events: readonly NewEvent[] } {
  const { declaration, decision } = look
  const record: ResourceRecord = {
    key: declaration.key,
    uid: resourceUid('power', declaration.key),
    connection: '',
    type: 'cluster',
    generation: declaration.generation,
    policy: declaration.policy,
    conditions: conditionsOf(decision, before?.conditions ?? [], nowMs),
    createdMs: before?.createdMs ?? nowMs,
    status: decision.phase,
    details: {
      wanted: decision.wanted.state,
      why: decision.wanted.why,
      ...(decision.warnings.length === 0 ? {} : { warnings: decision.warnings.join('\n') }),
      ...(decision.waits.length === 0 ? {} : { waits: noteWaits(decision.waits, before?.details?.waits, nowMs) }),
    },
  }
  return { record, events: eventsOf(look, attempts, before, record, goesOn, lastWords, nowMs) }
}

/** Reports whether the Power only waits for a person, a schedule or a pod. */
export function isPowerSettled({ decision }: PowerPlan): boolean {
  if (decision.ended !== undefined) return false
  if (decision.phase === 'Held') return true
  return decision.steps.length === 0 && (decision.phase === 'On' || decision.phase === 'Off')
}

/** Off as declared is as good as on: both are wanted. */
function conditionsOf(decision: PowerDecision, before: readonly Condition[], nowMs: number): readonly Condition[] {
  const { phase } = decision
  const [hold] = [...decision.refusals, ...decision.holds]
  const settled = phase === 'On' || phase === 'Off'
  const [wait] = decision.waits
  const [step] = decision.steps
  const message =
    hold === undefined
      ? wait === undefined
        ? (step?.summary ?? '')
        : `${wait.what}: ${wait.awaits}`
      : objectionSentence(hold)
  const synced: Omit<Condition, 'sinceMs'> = settled
    ? { type: 'Synced', status: 'True', reason: 'AsWanted', message: '' }
    : { type: 'Synced', status: 'False', reason: phase, message }
  const ready: Omit<Condition, 'sinceMs'> = settled
    ? {
        type: 'Ready',
        status: 'True',
        reason: phase,
        message: `wanted ${decision.wanted.state}: ${decision.wanted.why}`,
      }
    : { type: 'Ready', status: 'False', reason: phase, message }
  const stalled: Omit<Condition, 'sinceMs'> =
    decision.refusals[0] === undefined
      ? { type: 'Stalled', status: 'False', reason: 'Progressing', message: '' }
      : { type: 'Stalled', status: 'True', reason: 'Refused', message: objectionSentence(decision.refusals[0]) }
  return [synced, ready, stalled].reduce((all, next) => withCondition(all, next, nowMs), before)
}

function eventsOf(
  { declaration, decision }: PowerPlan,
  attempts: readonly StepAttempt<'power'>[],
  before: ResourceRecord | undefined,
  after: ResourceRecord,
  goesOn: (step: Step<'power'>) => boolean,
  lastWords: readonly string[],
  nowMs: number,
): readonly NewEvent[] {
  const tell = (type: NewEvent['type'], reason: string, message: string): NewEvent => ({
    atMs: nowMs,
    key: declaration.key,
    type,
    reason,
    message,
  })
  const events = [...eventsOfAttempts(attempts, tell, ({ step }) => goesOn(step))]
  if (before?.status !== after.status) {
    events.push(tell('Normal', after.status, `${PHRASES[decision.phase]}${begins(decision)} (${decision.wanted.why})`))
  }
  const known = before === undefined ? undefined : conditionOf(before.conditions, 'Ready')?.message
  const [hold] = [...decision.refusals, ...decision.holds]
  if (hold !== undefined && known !== objectionSentence(hold))
    events.push(tell('Warning', pascal(hold.guard), objectionSentence(hold)))
  if (decision.ended?.result === 'aborted') {
    events.push(tell('Warning', 'Aborted', `gave up the power-off and switches back on: ${decision.ended.reason}`))
  }
  const warned = new Set(before?.details?.warnings?.split('\n'))
  for (const warning of decision.warnings) if (!warned.has(warning)) events.push(tell('Warning', 'Deadline', warning))
  for (const line of lastWords) events.push(tell('Normal', 'LastWords', line))
  return events
}

/** Returns what the power change starts with: a step, maybe for one new or stopped machine, or a wait. */
function begins({ phase, steps: [step], waits: [wait] }: PowerDecision): string {
  if (phase !== 'PoweringOn' && phase !== 'PoweringOff') return ''
  if (step !== undefined) return `: ${step.summary}`
  return wait === undefined ? '' : `: ${wait.what} waits for ${wait.awaits}`
}

const PHRASES: Readonly<Record<PowerDecision['phase'], string>> = {
  On: 'everything is on',
  Off: 'everything is off',
  PoweringOff: 'powering off',
  PoweringOn: 'powering on',
  Held: 'held',
  Unknown: 'not known',
}

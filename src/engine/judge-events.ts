import { defined } from '../lib/defined.ts'
import { LIMITS } from '../lib/limits.ts'
import { showProof } from '../model/estate.ts'
import { maskChange } from '../model/masked/masked-change.ts'
import { maskEvent } from '../model/masked/masked-event.ts'
import { type Action, isDoing, type PlanEntry } from '../model/plan.ts'
import type { EventCause, NewEvent, ResourceRecord } from '../model/record.ts'
import { callLine, toldStep } from '../model/shown-step.ts'
import type { Step } from '../model/step.ts'
import { conditionOf } from './conditions.ts'
import type { ResourcePass } from './resource-pass.ts'

/** Returns a pass's events: effects, drift, and every change of a condition. */
export function eventsOf(
  one: ResourcePass,
  before: ResourceRecord,
  after: ResourceRecord,
  nowMs: number,
): readonly NewEvent[] {
  const events: NewEvent[] = []
  const tell = (type: NewEvent['type'], reason: string, message: string, step?: Step) => {
    const cause = causeOf(one.entry, step)
    const event = { atMs: nowMs, key: one.entry.key, type, reason, message, ...defined({ commit: one.commit, cause }) }
    events.push(maskEvent(event))
  }
  if (after.driftSinceMs !== undefined && before.driftSinceMs === undefined)
    tell('Warning', 'Drift', driftText(one.entry.action, after.driftBy))
  for (const happening of one.happenings) {
    switch (happening.what) {
      case 'started':
        tell('Normal', 'Started', toldStep(happening.step), happening.step)
        break
      case 'succeeded':
        tell('Normal', 'Done', toldStep(happening.step), happening.step)
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
      `id ${after.externalId ?? '?'} on ${after.host ?? '?'} stays; croft no longer manages it`,
    )
  }
  return events
}

/** Returns the causes from the plan's reason to the call, without parameters, which hold too much for a reader. */
function causeOf({ action, drift, consents }: PlanEntry, step: Step | undefined): EventCause | undefined {
  const plan = isDoing(action) ? action.reason : undefined
  const proof = action.do === 'delete' ? action.proof : undefined
  const call = step === undefined ? undefined : callLine(step)
  if (plan === undefined && call === undefined) return undefined
  return {
    ...defined({ plan, call, drift, actor: consents?.[0]?.by }),
    ...(proof === undefined ? {} : { proof: showProof(proof) }),
  }
}

function driftText(action: Action, by: ResourceRecord['driftBy']): string {
  const doing = action.do === 'hold' ? action.held : action
  const who = by === undefined ? '' : ` (${by.user}, ${by.task})`
  if (doing.do === 'create') return `it is gone, and Git still declares it${who}`
  if (!('changes' in doing)) return `it differs from what Git declares${who}`
  const fields = doing.changes
    .map(maskChange)
    .map((change) => `${change.path} ${shown(change.to)} → ${shown(change.from)}`)
  return `${fields.join(', ')}${who}`
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > LIMITS.shownValueLength ? `${text.slice(0, LIMITS.shownValueLength)}…` : text
}

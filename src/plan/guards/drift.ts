import type { Action, Doing } from '../../model/plan.ts'
import { driftedFields } from '../drifted-fields.ts'
import type { Guard } from './guard.ts'

export const drift: Guard = {
  name: 'drift',
  stops: 'reverting a change that somebody made outside Git, where croft.dev/drift is report or ignore',
  approvable: true,
  judge(action, { policy, entry }, { estate: { reverts } }) {
    const kept = policy.drift ?? 'correct'
    if (entry.drift !== true || kept === 'correct') return action
    if (reverts?.has(entry.key) === true && isAsSeen(action, reverts.get(entry.key))) return action
    // A thing that is gone altogether is nothing that one can look past.
    if (kept === 'ignore' && action.do === 'update') return { do: 'nothing' }
    const what = 'changes' in action ? action.changes.map((change) => change.path).join(', ') : 'it'
    return {
      do: 'hold',
      guard: 'drift',
      held: action,
      reason: `${what} changed in the world, not in Git`,
      allow: 'revert it, adopt it into Git, or set the annotation croft.dev/drift to correct',
    }
  },
}

/** What was changed once more after a person had asked to revert it is nothing that this person has seen. */
function isAsSeen(action: Action & Doing, seen: Readonly<Record<string, string>> | undefined): boolean {
  if (seen === undefined) return true
  const now = driftedFields(action)
  if (now === undefined) return Object.keys(seen).length === 0
  return Object.entries(now).every(([path, value]) => seen[path] === value)
}

import type { Guard } from './guard.ts'

export const drift: Guard = {
  name: 'drift',
  stops: 'reverting a change that somebody made outside Git, where croft.dev/drift is report or ignore',
  approvable: true,
  judge(action, { policy, entry }, { estate: { consents } }) {
    const kept = policy.drift ?? 'correct'
    if (entry.drift !== true || kept === 'correct') return action
    const asked = consents?.some(({ key, guard }) => key === entry.key && guard === 'drift') === true
    // A missing thing cannot be ignored as drift.
    if (kept === 'ignore' && action.do === 'update' && !asked) return { do: 'nothing' }
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

import type { Guard } from './guard.ts'

export const replacement: Guard = {
  name: 'replacement',
  stops: 'destroying a thing to create it again, unless its declaration allows that',
  judge(action, { policy, entry }) {
    if (action.do !== 'replace' || policy.replace === 'allowed') return action
    return {
      do: 'refuse',
      guard: 'replacement',
      reason: `${entry.key} would have to be destroyed and created again: ${action.reason}`,
      allow: 'set the annotation croft.dev/replace: allowed, or take the change back',
    }
  },
}

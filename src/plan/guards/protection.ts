import type { Guard } from './guard.ts'

export const protection: Guard = {
  name: 'protection',
  stops: 'deleting or replacing a resource that is protected',
  judge(action, { policy, entry }) {
    if (!policy.protect || (action.do !== 'delete' && action.do !== 'replace')) return action
    return {
      do: 'refuse',
      guard: 'protection',
      reason: `${entry.key} is protected from deletion`,
      allow:
        'lift the protection (annotation croft.dev/protect, field protect or protection) in one commit, and remove the declaration in a later one',
    }
  },
}

import type { Guard } from './guard.ts'

export const paused: Guard = {
  name: 'paused',
  stops: 'every write to a resource that a person has paused',
  judge(action, { policy, entry }) {
    if (!policy.paused) return action
    return {
      do: 'hold',
      guard: 'paused',
      held: action,
      reason: `${entry.key} is paused`,
      allow: 'remove the annotation crossplane.io/paused (or croft.dev/paused)',
    }
  },
}

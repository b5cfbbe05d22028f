import type { Guard } from './guard.ts'

export const observeOnly: Guard = {
  name: 'observe-only',
  stops: 'every write to a resource whose managementPolicies are [Observe]',
  judge(action, { policy, entry }) {
    if (policy.manage === 'full') return action
    return {
      do: 'hold',
      guard: 'observe-only',
      held: action,
      reason: `${entry.key} is only observed`,
      allow: 'set managementPolicies to ["*"]',
    }
  },
}

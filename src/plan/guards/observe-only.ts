import { policyGuard } from './guard.ts'

export const observeOnly = policyGuard(
  'observe-only',
  'every write to a resource whose managementPolicies are [Observe]',
  ({ key, policy }) =>
    policy.manage === 'full'
      ? undefined
      : { reason: `${key} is only observed`, allow: 'set managementPolicies to ["*"]' },
)

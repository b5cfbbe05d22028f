import { policyGuard } from './guard.ts'

export const paused = policyGuard('paused', 'every write to a resource that a person has paused', ({ key, policy }) =>
  policy.paused
    ? { reason: `${key} is paused`, allow: 'remove the annotation crossplane.io/paused (or croft.dev/paused)' }
    : undefined,
)

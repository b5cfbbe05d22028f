import { policyGuard } from './guard.ts'

export const paused = policyGuard('paused', 'every write to a resource that a person has paused', ({ key, policy }) => {
  if (!policy.paused) return undefined
  return policy.pausedUntil === undefined
    ? { reason: `${key} is paused`, allow: 'remove the annotation crossplane.io/paused (or croft.dev/paused)' }
    : { reason: `${key} waits until ${policy.pausedUntil}`, allow: 'croft goes on by itself' }
})

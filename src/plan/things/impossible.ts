import type { Action } from '../../model/plan.ts'
import type { Change, ObservedResource, Resource, Survey } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'

/** An impossible change blocks all changes of the resource: half of a declaration is not what was declared. */
export function blocked({ key, policy }: Resource, changes: readonly Change[]): Action | undefined {
  // A read-only policy shows the difference instead.
  if (policy.manage === 'observe') return undefined
  const reasons = changes.flatMap((change) => change.blocked ?? [])
  const [first] = reasons
  if (first === undefined) return undefined
  const reason = [...new Set(reasons.map(({ message }) => message))].join('; ')
  return { do: 'refuse', guard: 'impossible', reason: `${key}: ${reason}`, allow: first.allow }
}

/** Returns changes that its host cannot support, as for a new thing. */
export function unfit(
  resource: Resource,
  observed: ObservedResource,
  rules: Rules,
  changes: readonly Change[],
  survey: Survey | undefined,
): Action | undefined {
  if (resource.policy.manage === 'observe' || survey === undefined) return undefined
  const [first] = rules.changeObstacles?.(resource, observed, changes, survey) ?? []
  return first === undefined
    ? undefined
    : { do: 'refuse', guard: 'placement', reason: first.message, allow: first.allow }
}

/** A permission to replace a machine does not permit to destroy the data on its disks. */
export function dataAtStake(
  { key }: Resource,
  { externalId, host }: ObservedResource,
  changes: readonly Change[],
  lost: readonly string[],
): Action {
  return {
    do: 'refuse',
    guard: 'data',
    reason: `${notInPlace(changes)}, and recreating ${key} would destroy the data on ${lost.join(', ')} of id ${externalId} on ${host}`,
    allow: 'take the change back, or move the data elsewhere and remove these disks by hand first',
  }
}

/** Names the changes that need a new thing. */
export function notInPlace(changes: readonly Change[]): string {
  const fields = changes.filter(({ effect }) => effect === 'replace').map(fieldOf)
  return `${fields.join(', ')} cannot be changed in place`
}

function fieldOf({ path, from, to }: Change): string {
  const shrinks = path.endsWith('.sizeGb') && typeof from === 'number' && typeof to === 'number' && to < from
  return shrinks ? `${path} (a disk never shrinks: it has ${from} GiB, ${to} GiB are declared)` : path
}

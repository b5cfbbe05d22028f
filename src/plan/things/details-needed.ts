import type { Action } from '../../model/plan.ts'
import type { ObservedResource } from '../../model/resource.ts'

/** Returns what must be read of a guest first: nothing is decided on a survey alone. */
export function detailsNeeded({ externalId, host }: ObservedResource, look: 'config' | 'power'): Action {
  return {
    do: 'wait',
    reason: 'NotReadClosely',
    message: `the ${look} of id ${externalId} on ${host} has not been read yet`,
    lookAgainMs: 1_000,
    missing: { look, externalId },
  }
}

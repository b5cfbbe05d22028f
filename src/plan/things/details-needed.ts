import type { Action } from '../../model/plan.ts'
import type { ObservedResource } from '../../model/resource.ts'

/** Nothing is decided about a guest that was seen from afar only: this says what must be read of it first. */
export function detailsNeeded({ externalId, host }: ObservedResource, look: 'config' | 'power'): Action {
  return {
    do: 'wait',
    reason: 'NotReadClosely',
    message: `the ${look} of id ${externalId} on ${host} has not been read yet`,
    lookAgainMs: 1_000,
    missing: { look, externalId },
  }
}

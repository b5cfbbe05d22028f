import { isDeepStrictEqual } from 'node:util'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { MachineOrder } from '../clusters/membership.ts'
import type { World } from './world.ts'

/**
 * Reports whether a thing was created as it is declared now, with no step left: then it need not be read first. If
 * others wait for its readiness, or a cluster needs it, a closer look decides. Pure.
 */
export function isAsMade(
  {
    resource,
    rules,
    world,
    order,
  }: { readonly resource: Resource; readonly rules: Rules; readonly world: World; readonly order?: MachineOrder },
  { asMade, externalId }: ObservedResource,
): boolean {
  if (asMade?.lane !== 'rest' || order !== undefined || resource.policy.readyWhen !== undefined) return false
  const [only, ...more] = rules.createSteps(resource, externalId, world.survey)
  return only !== undefined && more.length === 0 && isDeepStrictEqual(only.call, asMade.call)
}

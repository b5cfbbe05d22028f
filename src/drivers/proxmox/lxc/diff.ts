import type { Change } from '../../../model/change.ts'
import type { ContainerSpec } from '../../../model/container.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Sighting } from '../../../model/sighting.ts'
import { diffGuest } from '../guest-diff.ts'
import { compareAll, wantedOf } from '../option.ts'
import { possible } from './blocked.ts'
import { OPTIONS } from './options.ts'
import { movingContainer } from './volumes.ts'

export function diffContainer(resource: Resource, container: ContainerSpec, sighting: Sighting): readonly Change[] {
  return diffGuest(resource, container, sighting, {
    options: OPTIONS,
    moving: movingContainer(container),
    possible: (change, config, running) => possible(container, change, config, running, resource.rootLane),
  })
}

/** What of a declaration a new container could not be given. */
export function neverPossible(resource: Resource, container: ContainerSpec): readonly Change[] {
  const wanted = wantedOf(resource, container, '0')
  return compareAll(OPTIONS, wanted, {})
    .map((change) => possible(container, change, {}, false, resource.rootLane))
    .filter((change) => change.blocked !== undefined)
}

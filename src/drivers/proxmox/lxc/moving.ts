import type { ContainerSpec } from '../../../model/container.ts'
import type { Moving } from '../move-guest.ts'
import { declaredVolumes } from './volumes.ts'

/** What of a container goes along when it is moved to another host. */
export function movingContainer(container: ContainerSpec): Moving {
  const { host, moveHere } = container
  return {
    type: 'container',
    host,
    ...(moveHere === undefined ? {} : { moveHere }),
    volumes: declaredVolumes(container).flatMap(({ key, storage }) =>
      storage === undefined ? [] : [{ slot: key, storage }],
    ),
  }
}

import type { Change } from '../../../model/change.ts'
import type { ContainerSpec } from '../../../model/container.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Sighting } from '../../../model/sighting.ts'
import { comparePending, comparePool, comparePower, compareTemplate, withoutTakenBack } from '../guest-diff.ts'
import { hostChange } from '../move-guest.ts'
import { compareAll, type Params } from '../option.ts'
import { isUp, powerOf } from '../vm/power.ts'
import { wantedOf } from '../vm/wanted.ts'
import { possible } from './blocked.ts'
import { movingContainer } from './moving.ts'
import type { ContainerWanted } from './option.ts'
import { OPTIONS } from './options.ts'

/** Differences between a container and its declaration. Pure. */
export function diffContainer(resource: Resource, container: ContainerSpec, sighting: Sighting): readonly Change[] {
  const { close } = sighting
  if (close === undefined) return []
  const move = hostChange(movingContainer(container), sighting)
  if (move !== undefined) return [move]
  const wanted = wantedOf(resource, container, sighting.externalId, sighting.mark, close.pending)
  const configured = withoutTakenBack(close, (config) => compareAll(OPTIONS, wanted, config))
  const changes: Change[] = [...configured.changes]
  comparePool(container, sighting, changes)
  compareTemplate(container, sighting, changes)
  const running = isUp(powerOf(sighting))
  if (running && container.restart !== 'never' && configured.pending.length > 0)
    comparePending(
      new Set([...Object.keys(createParams(wanted)), ...(wanted.mark.devices ?? [])]),
      configured.pending,
      changes,
    )
  comparePower(container, sighting, changes)
  return changes.map((change) => {
    const next = possible(container, change, close.config, running, resource.rootLane)
    return !running && next.effect === 'restart' ? { ...next, effect: 'live' } : next
  })
}

/** What of a declaration a new container could not be given. */
export function neverPossible(resource: Resource, container: ContainerSpec): readonly Change[] {
  const wanted = wantedOf(resource, container, '0')
  return compareAll(OPTIONS, wanted, {})
    .map((change) => possible(container, change, {}, false, resource.rootLane))
    .filter((change) => change.blocked !== undefined)
}

/** All parameters of a creation. Also tells which keys of a configuration a declaration has a say in. */
export function createParams(wanted: ContainerWanted): Params {
  const params: Params = { vmid: wanted.externalId }
  for (const option of OPTIONS) option.create(wanted, params)
  if (wanted.spec.pool !== undefined) params.pool = wanted.spec.pool
  return params
}

import type { Change } from '../../../model/change.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Sighting } from '../../../model/sighting.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { comparePending, comparePool, comparePower, compareTemplate, withoutTakenBack } from '../guest-diff.ts'
import { hostChange } from '../move-guest.ts'
import { compareAll } from '../option.ts'
import { withoutMoving } from './move-disk.ts'
import { movingVm } from './moving.ts'
import type { VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'
import { isUp, powerOf } from './power.ts'
import { withoutRoot } from './root-only.ts'
import { compareSeed } from './seed.ts'
import { createParams, wantedOf } from './wanted.ts'

/** Differences between a VM and its declaration. Pure, and called for every VM of every pass. */
export function diffVm(resource: Resource, vm: VmSpec, sighting: Sighting): readonly Change[] {
  const close = sighting.close
  if (close === undefined) return []
  const move = hostChange(movingVm(vm), sighting)
  if (move !== undefined) return [move]
  const wanted = wantedOf(resource, vm, sighting.externalId, sighting.mark, close.pending)
  const configured = withoutTakenBack(close, (config) => compareAll(OPTIONS, wanted, config))
  const changes: Change[] = [...configured.changes]
  compareSeed(vm, sighting, changes)
  comparePool(vm, sighting, changes)
  compareTemplate(vm, sighting, changes)
  const running = isUp(powerOf(sighting))
  if (running && vm.restart !== 'never' && configured.pending.length > 0)
    comparePending(keysOf(wanted), configured.pending, changes)
  comparePower(vm, sighting, changes)
  return changes.map((change) => {
    const possible = withoutMoving(withoutRoot(vm, change, resource.rootLane), close.config, sighting)
    // Without a running guest there is nothing to restart.
    return !running && possible.effect === 'restart' ? { ...possible, effect: 'live' } : possible
  })
}

/** The keys that the declaration has a say in, also where it says that there is to be none. */
function keysOf(wanted: VmWanted): ReadonlySet<string> {
  const { audio, watchdog } = wanted.spec
  return new Set([
    ...Object.keys(createParams(wanted)),
    ...(wanted.mark.devices ?? []),
    ...(audio === false ? ['audio0'] : []),
    ...(watchdog === false ? ['watchdog'] : []),
  ])
}

/** What of a declaration a new guest could not be given. */
export function neverPossible(resource: Resource, vm: VmSpec): readonly Change[] {
  const wanted = wantedOf(resource, vm, '0')
  return compareAll(OPTIONS, wanted, {})
    .map((change) => withoutRoot(vm, change, resource.rootLane))
    .filter((change) => change.blocked !== undefined)
}

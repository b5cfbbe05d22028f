import type { Change, ObservedResource, Resource } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { diffGuest } from '../guest-diff.ts'
import { compareAll, wantedOf } from '../option.ts'
import { movingVm, withoutMoving } from './move-disk.ts'
import { OPTIONS } from './options.ts'
import { withoutRoot } from './root-only.ts'
import { compareSeed } from './seed.ts'

export function diffVm(resource: Resource, vm: VmSpec, observed: ObservedResource): readonly Change[] {
  return diffGuest(resource, vm, observed, {
    options: OPTIONS,
    moving: movingVm(vm),
    also: (changes) => compareSeed(vm, observed, changes),
    // If its absence is declared.
    keys: [...(vm.audio === false ? ['audio0'] : []), ...(vm.watchdog === false ? ['watchdog'] : [])],
    possible: (change, config) => withoutMoving(withoutRoot(vm, change, resource.rootLane), config, observed),
  })
}

/** Declared values that cannot be set at creation. */
export function neverPossible(resource: Resource, vm: VmSpec): readonly Change[] {
  const wanted = wantedOf(resource, vm, '0')
  return compareAll(OPTIONS, wanted, {})
    .map((change) => withoutRoot(vm, change, resource.rootLane))
    .filter((change) => change.blocked !== undefined)
}

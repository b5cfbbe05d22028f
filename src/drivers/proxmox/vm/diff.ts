import type { Change } from '../../../model/change.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Sighting } from '../../../model/sighting.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { withoutMoving } from './move-disk.ts'
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
  const changes: Change[] = []
  const wanted = wantedOf(resource, vm, sighting.externalId, sighting.mark)
  for (const option of OPTIONS) option.compare(wanted, close.config, changes)
  compareSeed(vm, sighting, changes)
  comparePool(vm, sighting, changes)
  compareTemplate(vm, sighting, changes)
  const running = isUp(powerOf(sighting))
  if (running && vm.restart !== 'never') comparePending(wanted, close.pending, changes)
  comparePower(vm, sighting, changes)
  return changes.map((change) => {
    const possible = withoutMoving(withoutRoot(vm, change), close.config, sighting)
    // Without a running guest there is nothing to restart.
    return !running && possible.effect === 'restart' ? { ...possible, effect: 'live' } : possible
  })
}

/** What of a declaration a new guest could not be given. */
export function neverPossible(resource: Resource, vm: VmSpec): readonly Change[] {
  const changes: Change[] = []
  const wanted = wantedOf(resource, vm, '0')
  for (const option of OPTIONS) option.compare(wanted, {}, changes)
  return changes.map((change) => withoutRoot(vm, change)).filter((change) => change.blocked !== undefined)
}

function comparePool(vm: VmSpec, sighting: Sighting, changes: Change[]): void {
  if (vm.pool === undefined || vm.pool === sighting.pool) return
  changes.push({ path: 'pool', from: sighting.pool, to: vm.pool, effect: 'live' })
}

function compareTemplate(vm: VmSpec, sighting: Sighting, changes: Change[]): void {
  const from = sighting.template === true
  if (vm.template === undefined || vm.template === from) return
  // Clones may stand on a template's disks, so there is no safe way back.
  changes.push({ path: 'template', from, to: vm.template, effect: vm.template ? 'live' : 'replace' })
}

/**
 * Values that are written and wait for a restart look like the wanted ones in the configuration. Only those that the
 * declaration has a say in count: a restart for somebody else's change is not ours to make.
 */
function comparePending(wanted: VmWanted, pending: readonly string[] | undefined, changes: Change[]): void {
  if (pending === undefined || pending.length === 0) return
  const declared = createParams(wanted)
  const waiting = pending.filter((key) => key in declared)
  if (waiting.length === 0) return
  changes.push({ path: 'restart', from: `pending: ${waiting.sort().join(', ')}`, to: 'in force', effect: 'restart' })
}

function comparePower(vm: VmSpec, sighting: Sighting, changes: Change[]): void {
  if (vm.power === undefined || vm.template === true || sighting.template === true) return
  const from = powerOf(sighting)
  // Nothing is concluded from "unknown": the host may only be out of sight.
  if (from === 'unknown' || from === vm.power) return
  changes.push({ path: 'power', from, to: vm.power, effect: 'live' })
}

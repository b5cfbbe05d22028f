import { type Destruction, destroying } from '../../../model/destruction.ts'
import type { Change, Mark, ObservedResource, Resource, Survey } from '../../../model/resource.ts'
import type { Step } from '../../../model/step.ts'
import type { VmClone, VmSpec } from '../../../model/vm.ts'
import { isUp, powerOf } from '../../guests.ts'
import * as guests from '../guest-steps.ts'
import { called, type GuestPlace, guestStep, shutdownStep } from '../guest-steps.ts'
import { splitDescription } from '../marks.ts'
import { moveGuestSteps } from '../move-guest.ts'
import { createParams, wantedOf } from '../option.ts'
import { hostQueue } from '../steps.ts'
import { cloneParams, cloneStep } from './clone.ts'
import { growing } from './disks.ts'
import { movedDrives, movingVm } from './move-disk.ts'
import type { VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'
import { bornWith, seedMoves } from './seed.ts'
import { seedingOf, seedingOfNew, seedSteps, unseedSteps } from './seed-steps.ts'

export function createVmSteps(resource: Resource, vm: VmSpec, externalId: string, survey?: Survey): readonly Step[] {
  const guest = guestAt(vm.host, externalId)
  const wanted = wantedOf(resource, vm, externalId, bornWith(vm, survey))
  const steps: Step[] =
    vm.clone === undefined ? madeSteps(guest, wanted, survey) : clonedSteps(guest, wanted, vm.clone, survey)
  for (const { slot, sizeGb, storage, importFrom } of vm.disks) {
    if ((importFrom === undefined && vm.clone === undefined) || sizeGb === undefined) continue
    steps.push(guests.growStep(guest, { slot, sizeGb, storage }, undefined, survey))
  }
  if (vm.template === true) steps.push(guests.templateStep(guest))
  else if (wanted.mark.seeding !== undefined)
    steps.push(...seedSteps(FIRST_BOOT, seedingOfNew(vm, externalId, writtenMark(steps, wanted), survey), undefined))
  // Not `start=1` on creation: its task succeeds even if the start failed.
  else if (vm.power === 'running') steps.push(guests.startStep(guest))
  return steps
}

/** A password is sent separately: Proxmox hashes it in a change of a VM, but stores plain text at its creation. */
function madeSteps(guest: guests.GuestPlace, wanted: VmWanted, survey?: Survey): Step[] {
  const { cipassword, ...params } = createParams(OPTIONS, wanted)
  const create = guests.createStep(guest, wanted.spec.name, params, storagesOf(wanted.spec), survey)
  if (cipassword === undefined) return [create]
  const summary = `set cipassword of ${guests.called(guest)} on ${guest.host}`
  return [create, guests.guestStep(guest, 'PUT', '/config', { verb: 'configure', summary, params: { cipassword } })]
}

function clonedSteps(guest: guests.GuestPlace, wanted: VmWanted, clone: VmClone, survey?: Survey): Step[] {
  const summary = `mark ${guests.called(guest)} on ${guest.host} and set what is declared`
  const parts = { verb: 'configure', summary, params: cloneParams(wanted) } as const
  return [cloneStep(wanted, clone, survey), guests.guestStep(guest, 'PUT', '/config', parts)]
}

/** Returns the mark as these steps write it: later steps must keep their additions. */
function writtenMark(steps: readonly Step[], { mark }: VmWanted): Mark {
  const description = steps.flatMap(({ call }) => call?.params.description ?? []).at(-1)
  return splitDescription(description).line?.mark ?? mark
}

const FIRST_BOOT = ['upload', 'insert', 'start', 'eject', 'discard', 'finish'] as const

/** The first step carries the digest of the close look; each later one follows a new look or needs none. */
export function updateVmSteps(
  resource: Resource,
  vm: VmSpec,
  observed: ObservedResource,
  changes: readonly Change[],
  survey?: Survey,
): readonly Step[] {
  const guest = guestAt(observed.host, observed.externalId)
  if (changes.some(({ path }) => path === 'host')) return moveGuestSteps(movingVm(vm), observed, survey)
  const chosen = new Set(changes.filter((change) => change.effect !== 'replace').map((change) => change.path))
  const wanted = wantedOf(resource, vm, guest.externalId, observed.mark)
  const writing = (paths: ReadonlySet<string>) => writingOf(vm, paths)
  const steps = guests.configureSteps(OPTIONS, guest, wanted, observed, chosen, writing, survey)
  const digest = () => (steps.length === 0 ? observed.close?.digest : undefined)
  for (const move of movedDrives(vm, chosen)) steps.push(guests.moveStep(guest, move, digest(), survey))
  for (const disk of growing(vm.disks, chosen)) steps.push(guests.growStep(guest, disk, digest(), survey))
  if (chosen.has('pool') && vm.pool !== undefined) steps.push(guests.poolStep(guest, vm.pool))
  if (chosen.has('template') && vm.template === true) {
    if (isUp(powerOf(observed))) steps.push(...guests.shutdownSteps(guest, powerOf(observed)))
    return [...steps, guests.templateStep(guest)]
  }

  const moves = seedMoves(vm, observed)
  const seeds = chosen.has('seed') || chosen.has('seed.image') || (chosen.has('power') && moves[0] === 'start')
  if (seeds) steps.push(...seedSteps(moves, seedingOf(vm, observed, survey), digest()))

  const power = powerOf(observed)
  const restarts = changes.some((change) => change.effect === 'restart')
  // The seed's steps include shutdown and start.
  if (seeds && moves.includes('start')) return steps
  if (chosen.has('power') && vm.power === 'stopped') return [...steps, ...guests.shutdownSteps(guest, power)]
  const restart = isUp(power) && restarts && vm.restart !== 'never'
  // A paused guest cannot be asked to restart.
  if (chosen.has('power') || (restart && power === 'paused')) steps.push(guests.startStep(guest, power === 'paused'))
  if (restart) steps.push(guests.rebootStep(guest))
  return steps
}

function writingOf({ disks, efiDisk, tpm, cloudInit }: VmSpec, chosen: ReadonlySet<string>) {
  const newDisks = disks.filter((disk) => chosen.has(`disks.${disk.slot}`))
  const allocates = [
    ...newDisks.map((disk) => disk.storage),
    ...(chosen.has('efiDisk') && efiDisk !== undefined ? [efiDisk.storage] : []),
    ...(chosen.has('tpm') && tpm !== undefined ? [tpm.storage] : []),
    ...(chosen.has('cloudInit.storage') && cloudInit !== undefined ? [cloudInit.storage] : []),
  ]
  // PUT answers when done, within thirty seconds; copying an image takes longer, so that is a task.
  return { allocates, method: newDisks.some((disk) => disk.importFrom !== undefined) ? 'POST' : 'PUT' } as const
}

export function adoptVmSteps(resource: Resource, vm: VmSpec, observed: ObservedResource): readonly Step[] {
  return guests.adoptGuestSteps(OPTIONS, guestAt(observed.host, observed.externalId), resource, vm, observed)
}

function guestAt(host: string, externalId: string): guests.GuestPlace {
  return { type: 'vm', host, externalId }
}

/** Returns the storages that a new VM allocates on. */
export function storagesOf(vm: VmSpec): string[] {
  const storages = vm.disks.map((disk) => disk.storage)
  if (vm.efiDisk !== undefined) storages.push(vm.efiDisk.storage)
  if (vm.tpm !== undefined) storages.push(vm.tpm.storage)
  if (vm.cloudInit !== undefined) storages.push(vm.cloudInit.storage)
  return storages
}

/** Also for containers: deleting a guest needs nothing of its declaration. */
export function deleteGuestSteps(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const { host, externalId, close } = observed
  const guest: GuestPlace = { type: observed.type === 'container' ? 'container' : 'vm', host, externalId }
  // A guest under deletion is not awaited if it ignores the shutdown.
  const stop = isUp(powerOf(observed)) ? [shutdownStep(guest, { forceStop: '1', timeout: '60' })] : []
  const last = guestStep(guest, 'DELETE', '', {
    verb: 'delete',
    summary: `delete ${called(guest)} on ${host} with its disks`,
    // A volume outside its configuration is in no plan, and stays.
    params: { purge: '1', 'destroy-unreferenced-disks': '0' },
    queues: [hostQueue(host)],
    disruption: 'data-loss',
    ...destroying(destruction),
  })
  return [...stop, ...unseedSteps(observed, stop.length === 0 ? close?.digest : undefined), last]
}

import type { Change } from '../../../model/change.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Mark, Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import type { Survey } from '../../../model/survey.ts'
import type { VmClone, VmSpec } from '../../../model/vm.ts'
import { splitDescription } from '../marks.ts'
import { moveGuestSteps } from '../move-guest.ts'
import { beforeOthers, withoutDigest } from '../slots.ts'
import { guestPath, hostQueue, makeStep, storageQueues } from '../steps.ts'
import { cloneParams, cloneStep } from './clone.ts'
import { growing } from './disks.ts'
import { moveSteps } from './move-disk.ts'
import { movingVm } from './moving.ts'
import type { Params, VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'
import { isUp, powerOf } from './power.ts'
import { bornWith, seedMoves } from './seed.ts'
import { seedingOf, seedingOfNew, seedSteps } from './seed-steps.ts'
import {
  configureStep,
  growStep,
  poolStep,
  rebootStep,
  shutdownStep,
  startStep,
  templateStep,
  withDigest,
} from './single-steps.ts'
import { createParams, wantedOf } from './wanted.ts'

export function createVmSteps(resource: Resource, vm: VmSpec, externalId: string, survey?: Survey): readonly Step[] {
  const wanted = wantedOf(resource, vm, externalId, bornWith(vm, survey))
  const { host } = vm
  const steps = vm.clone === undefined ? [newStep(wanted, survey)] : clonedSteps(wanted, vm.clone, survey)
  for (const disk of vm.disks) {
    if ((disk.importFrom === undefined && vm.clone === undefined) || disk.sizeGb === undefined) continue
    steps.push(growStep(host, externalId, disk.slot, disk.sizeGb, disk.storage, undefined, survey))
  }
  if (vm.template === true) steps.push(templateStep(host, externalId))
  else if (wanted.mark.seeding !== undefined)
    steps.push(...seedSteps(FIRST_BOOT, seedingOfNew(vm, externalId, writtenMark(steps, wanted), survey), undefined))
  // Not `start=1` on creation: its task ends well even when the start failed.
  else if (vm.power === 'running') steps.push(startStep(host, externalId, false))
  return steps
}

function newStep(wanted: VmWanted, survey?: Survey): Step {
  const { spec: vm, externalId } = wanted
  return makeStep({
    verb: 'create',
    summary: `create VM ${externalId} (${vm.name}) on ${vm.host}`,
    host: vm.host,
    method: 'POST',
    path: guestPath(vm.host, 'vm'),
    params: createParams(wanted),
    queues: [hostQueue(vm.host), ...storageQueues(vm.host, storagesOf(vm), survey)],
  })
}

function clonedSteps(wanted: VmWanted, clone: VmClone, survey?: Survey): Step[] {
  const { spec: vm, externalId } = wanted
  const configure = makeStep({
    verb: 'configure',
    summary: `mark VM ${externalId} on ${vm.host} and set what is declared`,
    host: vm.host,
    method: 'PUT',
    path: `${guestPath(vm.host, 'vm', externalId)}/config`,
    params: cloneParams(wanted),
  })
  return [cloneStep(wanted, clone, survey), configure]
}

/** The mark as these steps write it: later ones must leave in it what they add. */
function writtenMark(steps: readonly Step[], { mark }: VmWanted): Mark {
  const description = steps.flatMap(({ call }) => call?.params.description ?? []).at(-1)
  return splitDescription(description).line?.mark ?? mark
}

const FIRST_BOOT = ['upload', 'insert', 'start', 'eject', 'discard', 'finish'] as const

/** The first step carries the digest of the close look; each later one follows a new look or stands by itself. */
export function updateVmSteps(
  resource: Resource,
  vm: VmSpec,
  sighting: Sighting,
  changes: readonly Change[],
  survey?: Survey,
): readonly Step[] {
  const { host, externalId } = sighting
  if (changes.some(({ path }) => path === 'host')) return moveGuestSteps(movingVm(vm), sighting, survey)
  const chosen = new Set(changes.filter((change) => change.effect !== 'replace').map((change) => change.path))
  const steps: Step[] = []
  const digest = () => (steps.length === 0 ? sighting.close?.digest : undefined)

  const wanted = wantedOf(resource, vm, externalId, sighting.mark)
  const first = beforeOthers(vm, sighting.close?.config ?? {}, chosen)
  const lift = first === undefined ? undefined : configureStep(wanted, sighting, first, survey)
  const rest = first === undefined ? chosen : new Set([...chosen].filter((path) => !first.has(path)))
  const configure = configureStep(wanted, sighting, rest, survey)
  if (lift !== undefined) steps.push(lift)
  if (configure !== undefined) steps.push(lift === undefined ? configure : withoutDigest(configure))
  steps.push(...moveSteps(vm, sighting, chosen, digest, survey))
  for (const disk of growing(vm.disks, chosen))
    steps.push(growStep(host, externalId, disk.slot, disk.sizeGb, disk.storage, digest(), survey))
  if (chosen.has('pool') && vm.pool !== undefined) steps.push(poolStep(host, externalId, vm.pool))
  if (chosen.has('template') && vm.template === true) {
    if (isUp(powerOf(sighting))) steps.push(shutdownStep(host, externalId))
    return [...steps, templateStep(host, externalId)]
  }

  const moves = seedMoves(vm, sighting)
  const seeds = chosen.has('seed') || chosen.has('seed.image') || (chosen.has('power') && moves[0] === 'start')
  if (seeds) steps.push(...seedSteps(moves, seedingOf(vm, sighting, survey), digest()))

  const power = powerOf(sighting)
  const restarts = changes.some((change) => change.effect === 'restart')
  // The seed brings its own shutting down and starting along.
  if (seeds && moves.includes('start')) return steps
  if (chosen.has('power') && vm.power === 'stopped') steps.push(shutdownStep(host, externalId))
  else if (chosen.has('power')) steps.push(startStep(host, externalId, power === 'paused'))
  else if (isUp(power) && restarts && vm.restart !== 'never') steps.push(rebootStep(host, externalId))
  return steps
}

export function adoptVmSteps(resource: Resource, vm: VmSpec, sighting: Sighting): readonly Step[] {
  const { host, externalId } = sighting
  const params: Params = {}
  const wanted = wantedOf(resource, vm, externalId, sighting.mark)
  const chosen = new Set(['mark'])
  for (const option of OPTIONS) option.update(wanted, sighting.close?.config ?? {}, params, chosen)
  return [
    makeStep({
      verb: 'mark',
      summary: `mark VM ${externalId} on ${host} as ${resource.key}`,
      host,
      method: 'PUT',
      path: `${guestPath(host, 'vm', externalId)}/config`,
      params: withDigest(params, sighting.close?.digest),
    }),
  ]
}

/** Storages that a new VM takes room on. */
export function storagesOf(vm: VmSpec): string[] {
  const storages = vm.disks.map((disk) => disk.storage)
  if (vm.efiDisk !== undefined) storages.push(vm.efiDisk.storage)
  if (vm.tpm !== undefined) storages.push(vm.tpm.storage)
  if (vm.cloudInit !== undefined) storages.push(vm.cloudInit.storage)
  return storages
}

import { seedImage } from '../../cloudinit/image.ts'
import { defined } from '../../lib/defined.ts'
import { type Destruction, destroying } from '../../model/destruction.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import { Sealed } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { VmDisk, VmSpec } from '../../model/vm.ts'
import { isUp, powerOf } from '../guests.ts'
import {
  declaredValues,
  diskIn,
  diskToWrite,
  outsideValues,
  seedInConfig,
  seedToWrite,
  strays,
  wantedMark,
} from './declared.ts'
import { seedMove } from './diff.ts'
import { printMark } from './marks.ts'
import { configOf, seedHashIn, shortHash } from './names.ts'
import { discardStep, domainPath, hostQueue, makeStep, poolPath, poolQueue, shutdownStep, startStep } from './steps.ts'

/**
 * The domain comes first, with its mark and its disks named: after any failure it is found again and shows what is
 * missing. Then come its volumes, the seed, and the start.
 */
export function createVmSteps(resource: Resource, vm: VmSpec, uuid: string): readonly Step[] {
  const { host } = vm
  const { uid } = resource
  const seed = seedToWrite(vm, uid)
  const options: Readonly<Record<string, string>> = {
    uuid,
    name: vm.name,
    type: vm.emulated === true ? 'qemu' : 'kvm',
    ...defined({ machine: vm.machine, bios: vm.bios, architecture: vm.cpu?.architecture }),
  }
  const values: Record<string, unknown> = {
    mark: printMark(wantedMark(resource, vm, undefined)),
    ...defined({ description: vm.description, tags: vm.tags?.map((tag) => tag.toLowerCase()) }),
  }
  for (const { path, to, effect } of declaredValues(vm, uid)) {
    // Fields of a new device are set with the device.
    if (effect !== 'replace' && !/^(?:disks|nics)\.[^.]+\./.test(path)) values[path] = to
  }
  if (seed !== undefined) values.seed = seed
  const steps: Step[] = [
    makeStep({
      verb: 'create',
      summary: `define domain ${vm.name} (${uuid}) on ${host}`,
      host,
      do: 'make',
      object: '/domains',
      options,
      values,
      queues: [hostQueue(host)],
    }),
    ...vm.disks.flatMap((disk) => volumeSteps(host, uuid, disk, diskToWrite(disk, uid).volume)),
  ]
  if (seed !== undefined) steps.push(...uploadSteps(host, vm, uid))
  if (vm.onBoot === true) steps.push(autostartStep(host, uuid, true, undefined))
  if (vm.power === 'running') steps.push(startStep(host, uuid, {}))
  return steps
}

/** Returns all calls for these changes. The first carries the digest of the close look. */
export function updateVmSteps(
  resource: Resource,
  vm: VmSpec,
  observed: ObservedResource,
  changes: readonly Change[],
): readonly Step[] {
  const { host, externalId: uuid } = observed
  const config = configOf(observed)
  const uid = observed.mark?.uid ?? resource.uid
  const chosen = new Set(changes.filter(({ effect }) => effect !== 'replace').map(({ path }) => path))
  const steps: Step[] = []
  const digest = () => (steps.length === 0 ? observed.close?.digest : undefined)

  const configure = configureStep(resource, vm, observed, chosen)
  if (configure !== undefined) steps.push(configure)
  for (const disk of vm.disks) {
    const path = `disks.${disk.slot}`
    const volume = diskIn(config?.domain, disk.slot)?.volume ?? diskToWrite(disk, uid).volume
    // A newly attached disk needs its volume, unless an earlier one still exists.
    const made = config?.ours.includes(`${disk.storage}:${volume}`) === true
    if (chosen.has(`${path}.volume`) || (chosen.has(path) && !made))
      steps.push(...volumeSteps(host, uuid, disk, volume))
    else if (chosen.has(`${path}.sizeGb`)) steps.push(growStep(observed, disk, digest()))
  }
  const move = seedMove(vm, observed)
  if (chosen.has('seed') || (chosen.has('seed.image') && move === 'upload')) steps.push(...uploadSteps(host, vm, uid))
  else if (chosen.has('seed.image')) steps.push(...clearSeedSteps(vm, observed, digest()))
  if (chosen.has('onBoot') && vm.onBoot !== undefined) steps.push(autostartStep(host, uuid, vm.onBoot, digest()))

  const power = powerOf(observed)
  const restarts = changes.some(({ effect }) => effect === 'restart') && vm.restart !== 'never'
  if (chosen.has('power') && vm.power === 'stopped') steps.push(shutdownStep(host, uuid, false))
  else if (chosen.has('power')) steps.push(startStep(host, uuid, { paused: power === 'paused' }))
  // A reboot would keep the old hardware: only a domain that was off starts with its new definition.
  else if (isUp(power) && restarts) steps.push(shutdownStep(host, uuid, false), startStep(host, uuid, { again: true }))
  return steps
}

export function adoptVmSteps(resource: Resource, vm: VmSpec, observed: ObservedResource): readonly Step[] {
  const { host, externalId: uuid } = observed
  const mark = printMark(wantedMark(resource, vm, observed))
  return [
    makeStep({
      verb: 'mark',
      summary: `mark domain ${uuid} on ${host} as ${resource.key}`,
      host,
      do: 'set',
      object: domainPath(uuid),
      values: { mark },
      digest: observed.close?.digest,
    }),
  ]
}

/** Removes the mark from the domain: its metadata element and its description line. */
export function leaveVmSteps({ host, externalId: uuid, mark, close }: ObservedResource): readonly Step[] {
  if (mark === undefined) return []
  return [
    makeStep({
      verb: 'mark',
      summary: `take croft's mark off domain ${uuid} on ${host}`,
      host,
      do: 'set',
      object: domainPath(uuid),
      values: { mark: null },
      digest: close?.digest,
    }),
  ]
}

/** Deletes only volumes that are named after the machine: all others on it predate croft. */
export function deleteVmSteps(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const { host, externalId: uuid } = observed
  const ours = configOf(observed)?.ours ?? []
  return [
    ...(isUp(powerOf(observed)) ? [shutdownStep(host, uuid, true)] : []),
    makeStep({
      verb: 'delete',
      summary: `undefine domain ${uuid} on ${host}${ours.length === 0 ? '' : ` and delete ${ours.join(', ')}`}`,
      host,
      do: 'delete',
      object: domainPath(uuid),
      options: { volumes: ours.join(',') },
      queues: [hostQueue(host)],
      disruption: 'data-loss',
      ...destroying(destruction),
    }),
  ]
}

function configureStep(
  resource: Resource,
  vm: VmSpec,
  observed: ObservedResource,
  chosen: ReadonlySet<string>,
): Step | undefined {
  const { host, externalId: uuid } = observed
  const uid = observed.mark?.uid ?? resource.uid
  const values: Record<string, unknown> = {}
  for (const { path, to } of [...outsideValues(resource, vm, observed), ...declaredValues(vm, uid)])
    if (chosen.has(path)) values[path] = to
  const config = configOf(observed)
  for (const { path } of config === undefined ? [] : strays(vm, config.domain))
    if (chosen.has(path)) values[path] = null
  if (chosen.has('seed') && vm.seed !== undefined) {
    const mark = { ...wantedMark(resource, vm, observed), seed: shortHash(vm.seed.hash) }
    values.mark = printMark(mark)
    values.seed = seedToWrite(vm, uid)
  }
  const names = Object.keys(values)
  if (names.length === 0) return undefined
  return makeStep({
    verb: names.length === 1 && names[0] === 'mark' ? 'mark' : 'configure',
    summary: `set ${names.join(', ')} of domain ${uuid} on ${host}`,
    host,
    do: 'set',
    object: domainPath(uuid),
    values,
    digest: observed.close?.digest,
  })
}

function volumeSteps(host: string, uuid: string, disk: VmDisk, volume: string): readonly Step[] {
  const { storage: pool, importFrom, sizeGb } = disk
  const backing = importFrom !== undefined && disk.backing === true
  const how = importFrom === undefined ? 'empty' : backing ? `on ${importFrom}` : `as a copy of ${importFrom}`
  const step = makeStep({
    verb: 'configure',
    summary: `make ${pool}:${volume} ${how} on ${host}`,
    host,
    do: 'make',
    object: poolPath(pool),
    options: {
      name: volume,
      format: disk.format ?? 'qcow2',
      ...(sizeGb === undefined ? {} : { sizeGb: String(sizeGb) }),
      ...defined({ [backing ? 'backing' : 'from']: importFrom }),
    },
    queues: [poolQueue(host, pool)],
  })
  // A copy has its source's size.
  if (importFrom === undefined || backing || sizeGb === undefined) return [step]
  return [step, resizeStep(host, uuid, { slot: disk.slot, pool, volume, sizeGb }, {})]
}

function growStep(observed: ObservedResource, disk: VmDisk, digest: string | undefined): Step {
  const { host, externalId: uuid } = observed
  const there = diskIn(configOf(observed)?.domain, disk.slot)
  const place = {
    slot: disk.slot,
    pool: there?.pool ?? disk.storage,
    volume: there?.volume ?? '',
    sizeGb: disk.sizeGb ?? 0,
  }
  // QEMU locks the image while it runs, so QEMU itself must resize it.
  const running: Readonly<Record<string, string>> = isUp(powerOf(observed))
    ? { domain: uuid, dev: there?.dev ?? '' }
    : {}
  return resizeStep(host, uuid, place, running, digest)
}

function resizeStep(
  host: string,
  uuid: string,
  place: { readonly slot: string; readonly pool: string; readonly volume: string; readonly sizeGb: number },
  running: Readonly<Record<string, string>>,
  digest?: string,
): Step {
  return makeStep({
    verb: 'resize',
    summary: `grow ${place.slot} of domain ${uuid} to ${place.sizeGb} GiB`,
    host,
    do: 'set',
    object: poolPath(place.pool, place.volume),
    options: { ...running, sizeGb: String(place.sizeGb), id: uuid },
    digest,
    queues: [poolQueue(host, place.pool)],
  })
}

function uploadSteps(host: string, vm: VmSpec, uid: string): readonly Step[] {
  const { seed } = vm
  const disk = seedToWrite(vm, uid)
  if (seed === undefined || disk === undefined) return []
  const bytes = seedImage(seed.document).length
  const step = makeStep({
    verb: 'upload',
    summary: `upload ${disk.volume} (${Math.ceil(bytes / 1024)} KiB) to ${disk.pool} on ${host}`,
    host,
    do: 'make',
    object: `${poolPath(disk.pool, disk.volume)}/content`,
    queues: [poolQueue(host, disk.pool)],
  })
  return [{ ...step, upload: { fileName: disk.volume, bytes, hash: seed.hash, document: new Sealed(seed.document) } }]
}

function clearSeedSteps(vm: VmSpec, observed: ObservedResource, digest: string | undefined): readonly Step[] {
  const { host, externalId: uuid } = observed
  const uid = observed.mark?.uid ?? ''
  const { inserted } = seedInConfig(vm, observed)
  const steps: Step[] = []
  if (inserted !== undefined)
    steps.push(
      makeStep({
        verb: 'eject',
        summary: `take seed ${inserted.hash} out of ${inserted.disk.dev} of domain ${uuid}`,
        host,
        do: 'make',
        object: domainPath(uuid, 'eject'),
        options: { dev: inserted.disk.dev, device: inserted.disk.device },
        digest,
      }),
    )
  for (const id of configOf(observed)?.ours ?? []) {
    const colon = id.indexOf(':')
    const [pool, volume] = [id.slice(0, colon), id.slice(colon + 1)]
    if (seedHashIn(uid, volume) !== undefined) steps.push(discardStep(host, pool, volume))
  }
  return steps
}

function autostartStep(host: string, uuid: string, on: boolean, digest: string | undefined): Step {
  return makeStep({
    verb: 'configure',
    summary: `${on ? 'start' : 'do not start'} domain ${uuid} with its host ${host}`,
    host,
    do: 'set',
    object: domainPath(uuid, 'autostart'),
    options: { on: on ? '1' : '0' },
    digest,
  })
}

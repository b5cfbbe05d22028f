import { volumeId } from '../../model/file.ts'
import { notKept, type Rules } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import { configOf } from './close-look.ts'
import { diffVm } from './diff.ts'
import {
  createFileSteps,
  deleteFileSteps,
  diffFile,
  fileReadiness,
  poolList,
  remainsList,
  updateFileSteps,
  verifyFileSteps,
} from './file-rules.ts'
import { seedHashIn, slotOf, UUID, uuidOf } from './names.ts'
import { fileObstacles, vmObstacles } from './obstacles.ts'
import {
  createPlaceSteps,
  deletePlaceSteps,
  diffPlace,
  placeConfigOf,
  placeId,
  placeList,
  placeOfSetting,
  placeReadiness,
  undeletablePlace,
  updatePlaceSteps,
} from './place-rules.ts'
import { vmReadiness } from './readiness.ts'
import { seedNotes } from './seed.ts'
import { shutdownStep, startStep } from './steps.ts'
import { adoptVmSteps, createVmSteps, deleteVmSteps, updateVmSteps } from './vm-steps.ts'

/** The pure half of the libvirt driver. */
export const libvirtRules: Rules = {
  keeps: (resource) =>
    resource.desired.type === 'vm' || resource.desired.type === 'file' || placeOfSetting(resource) !== undefined,
  awaits: () => [],
  declaredId(resource) {
    const { desired, policy, uid } = resource
    if (placeOfSetting(resource) !== undefined) return placeId(resource)
    if (desired.type === 'file') return volumeId(desired.file)
    return policy.adopt !== undefined && UUID.test(policy.adopt) ? policy.adopt : uuidOf(uid)
  },
  listOf(resource) {
    const { desired } = resource
    const place = placeOfSetting(resource)
    if (place !== undefined) return placeList(place.setting.host ?? '', place.kind)
    return desired.type === 'file' ? poolList(desired.file.host, desired.file.storage) : undefined
  },
  hostOf({ desired }) {
    if (desired.type === 'setting') return desired.setting.host ?? ''
    if (desired.type === 'file') return desired.file.host
    return desired.type === 'vm' ? desired.vm.host : ''
  },
  choosesId: () => false,
  obstacles(resource, survey) {
    const { desired } = resource
    if (placeOfSetting(resource) !== undefined) return []
    const awaited = resource.needs.some((key) => key.startsWith('LibvirtPool/'))
    if (desired.type === 'vm') return vmObstacles(desired.vm, survey, awaited)
    if (desired.type === 'file') return fileObstacles(desired.file, survey, awaited)
    throw notKept(resource, 'libvirt')
  },
  diff(resource, sighting, known) {
    const { desired } = resource
    const place = placeOfSetting(resource)
    if (place !== undefined) return diffPlace(place.setting, sighting)
    if (desired.type === 'vm') return diffVm(resource, desired.vm, sighting)
    if (desired.type === 'file') return diffFile(resource, desired.file, sighting, known)
    throw notKept(resource, 'libvirt')
  },
  createSteps(resource, externalId) {
    const { desired } = resource
    const place = placeOfSetting(resource)
    if (place !== undefined) return createPlaceSteps(place.setting, place.kind, externalId)
    if (desired.type === 'vm') return createVmSteps(resource, desired.vm, externalId)
    if (desired.type === 'file') return createFileSteps(desired.file)
    throw notKept(resource, 'libvirt')
  },
  updateSteps(resource, sighting, changes) {
    const { desired } = resource
    const place = placeOfSetting(resource)
    if (place !== undefined) return updatePlaceSteps(place.setting, sighting, changes)
    if (desired.type === 'vm') return updateVmSteps(resource, desired.vm, sighting, changes)
    if (desired.type === 'file') return updateFileSteps(desired.file, sighting, changes)
    throw notKept(resource, 'libvirt')
  },
  adoptSteps(resource, sighting) {
    const { desired } = resource
    if (desired.type === 'vm') return adoptVmSteps(resource, desired.vm, sighting)
    if (desired.type === 'file') return verifyFileSteps(desired.file, sighting)
    if (placeOfSetting(resource) !== undefined) return []
    throw notKept(resource, 'libvirt')
  },
  /** Disks that no image brings back, seeds aside. */
  irreplaceable({ desired }, sighting) {
    if (sighting.list !== undefined || desired.type !== 'vm') return []
    const remade = new Set(desired.vm.disks.filter((disk) => disk.importFrom !== undefined).map((disk) => disk.slot))
    return disksOf(sighting).filter((slot) => !remade.has(slot))
  },
  /** Of a domain of which nothing is declared any more: everything but the first, which it starts from. */
  dataDisks(sighting) {
    if (sighting.list !== undefined) return []
    const config = configOf(sighting)
    const uid = sighting.mark?.uid ?? ''
    const named = new Set((config?.domain.disks ?? []).map(({ pool, volume }) => `${pool}:${volume}`))
    const isSeed = (volume: string) => seedHashIn(uid, volume.slice(volume.indexOf(':') + 1)) !== undefined
    // Also what was taken out of it: the volume has its name, and goes with it.
    const detached = (config?.ours ?? []).filter((volume) => !named.has(volume) && !isSeed(volume))
    return [...disksOf(sighting).slice(1), ...detached]
  },
  abandonedSteps: () => undefined,
  remains({ desired, uid }) {
    if (desired.type !== 'vm') return []
    const { vm } = desired
    const pools = [
      ...vm.disks.map((disk) => disk.storage),
      ...(vm.seed?.storage === undefined ? [] : [vm.seed.storage]),
    ]
    return [...new Set(pools)].map((pool) => remainsList(vm.host, pool, uid))
  },
  undeletable(sighting) {
    if (sighting.type === 'setting') return undeletablePlace(sighting)
    const snapshots = configOf(sighting)?.snapshots ?? 0
    if (snapshots === 0) return undefined
    return {
      message: `domain ${sighting.externalId} on ${sighting.host} has ${snapshots} snapshot${snapshots === 1 ? '' : 's'}, which somebody made to come back to`,
      allow: `delete them first: virsh snapshot-list ${sighting.externalId}, virsh snapshot-delete ${sighting.externalId} NAME`,
    }
  },
  deleteSteps(sighting) {
    if (placeConfigOf(sighting) !== undefined) return deletePlaceSteps(sighting)
    return sighting.type === 'file' ? deleteFileSteps(sighting) : deleteVmSteps(sighting)
  },
  rebootSteps: ({ host, externalId }) => [
    shutdownStep(host, externalId, false),
    startStep(host, externalId, { again: true }),
  ],
  readiness(resource, sighting) {
    const { desired, policy } = resource
    const place = placeOfSetting(resource)
    if (place !== undefined) return placeReadiness(place.setting, place.kind, sighting)
    if (desired.type === 'vm') return vmReadiness(desired.vm, sighting, policy.adopt !== undefined, policy.firstBoot)
    if (desired.type === 'file') return fileReadiness(desired.file, sighting)
    throw notKept(resource, 'libvirt')
  },
  notes: ({ desired }, sighting) => (desired.type === 'vm' ? seedNotes(desired.vm, sighting) : []),
}

/** Disks that hold something of the guest's own, by slot, in the order of the domain: no discs, no seeds. */
function disksOf(sighting: Sighting): readonly string[] {
  return (configOf(sighting)?.domain.disks ?? []).flatMap(({ device, dev, bus, path, volume }) => {
    const seed = volume !== undefined && seedHashIn(sighting.mark?.uid ?? '', volume) !== undefined
    return device !== 'disk' || path === undefined || seed ? [] : [slotOf(dev, bus) ?? dev]
  })
}

import type { FirstBoot } from '../../model/declaration.ts'
import { changed, type Destruction } from '../../model/destruction.ts'
import { type FileSpec, volumeId } from '../../model/file.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import type { SettingSpec } from '../../model/rest.ts'
import type { Readiness, Rules } from '../../model/rules.ts'
import type { Step } from '../../model/step.ts'
import type { VmSpec } from '../../model/vm.ts'
import { checksumOf, diffFile, downloadParams, fileReadiness, learnsOf } from '../files.ts'
import { agentReadiness, answerAbout, powerOf, powerReadiness } from '../guests.ts'
import { PLAIN_THING, rulesByType } from '../rules-by-type.ts'
import { mayStandOn, stoodOn } from './backing.ts'
import { seedInConfig } from './declared.ts'
import { diffVm, fileObstacles, seedNotes, vmObstacles } from './diff.ts'
import { configOf, poolCommand, seedHashIn, slotOf, UUID, uuidOf, VIRSH, volumeOf } from './names.ts'
import {
  createPlaceSteps,
  deletePlaceSteps,
  diffPlace,
  placeConfigOf,
  placeId,
  placeList,
  placeReadiness,
  undeletablePlace,
  updatePlaceSteps,
} from './place-rules.ts'
import { type PlaceKind, placeKind } from './place-view.ts'
import { defineAgain } from './regain.ts'
import { discardStep, makeStep, poolPath, poolQueue, shutdownStep, startStep } from './steps.ts'
import { adoptVmSteps, createVmSteps, deleteVmSteps, leaveVmSteps, updateVmSteps } from './vm-steps.ts'

/** The pure half of the libvirt driver, by type. */
export const libvirtRules: Rules = rulesByType(
  'libvirt',
  {
    vm: {
      declaredId: ({ policy, uid }) =>
        policy.adopt !== undefined && UUID.test(policy.adopt) ? policy.adopt : uuidOf(uid),
      listOf: () => undefined,
      hostOf: ({ desired }) => desired.vm.host,
      choosesId: () => false,
      obstacles: (resource, survey) => vmObstacles(resource.desired.vm, survey, awaitsPool(resource)),
      diff: (resource, observed, known) => diffVm(resource, resource.desired.vm, observed, known),
      createSteps: (resource, externalId) => createVmSteps(resource, resource.desired.vm, externalId),
      updateSteps: (resource, observed, changes) => updateVmSteps(resource, resource.desired.vm, observed, changes),
      adoptSteps: (resource, observed) => adoptVmSteps(resource, resource.desired.vm, observed),
      /** Disks that no image can restore, without seeds. */
      irreplaceable({ desired: { vm } }, observed) {
        if (observed.list !== undefined) return []
        const remade = new Set(vm.disks.filter((disk) => disk.importFrom !== undefined).map((disk) => disk.slot))
        return disksOf(observed).filter((slot) => !remade.has(slot))
      },
      remains({ desired: { vm }, uid }) {
        const pools = [...vm.disks.map((disk) => disk.storage), vm.seed?.storage].filter((pool) => pool !== undefined)
        return [...new Set(pools)].map((pool) => remainsList(vm.host, pool, uid))
      },
      readiness: ({ desired, policy }, observed) =>
        vmReadiness(desired.vm, observed, policy.adopt !== undefined, policy.firstBoot),
      notes: ({ desired }, observed) => seedNotes(desired.vm, observed),
    },
    file: {
      ...PLAIN_THING,
      declaredId: ({ desired }) => volumeId(desired.file),
      listOf: ({ desired }) => poolList(desired.file.host, desired.file.storage),
      hostOf: ({ desired }) => desired.file.host,
      obstacles: (resource, survey) => fileObstacles(resource.desired.file, survey, awaitsPool(resource)),
      diff(resource, observed, known) {
        const changes = diffFile(resource, resource.desired.file, observed, FILES, known)
        const blocked = stoodOn(observed)
        if (blocked === undefined) return changes
        return changes.map((change) => (change.path === 'content' ? { ...change, blocked } : change))
      },
      createSteps: ({ desired }) => createFileSteps(desired.file),
      updateSteps: ({ desired }, observed, changes) => updateFileSteps(desired.file, observed, changes),
      adoptSteps: ({ desired }, observed) => verifyFileSteps(desired.file, observed),
      readiness: ({ desired }, observed) => fileReadiness(desired.file, observed),
    },
    // Supported settings: networks and pools.
    setting: {
      ...PLAIN_THING,
      declaredId: placeId,
      listOf: ({ desired: { setting } }) => placeList(setting.host ?? '', kindOf(setting)),
      hostOf: ({ desired: { setting } }) => setting.host ?? '',
      obstacles: () => [],
      diff: ({ desired }, observed) => diffPlace(desired.setting, observed),
      createSteps: ({ desired: { setting } }, externalId) => createPlaceSteps(setting, kindOf(setting), externalId),
      updateSteps: ({ desired }, observed, changes) => updatePlaceSteps(desired.setting, observed, changes),
      adoptSteps: () => [],
      readiness: ({ desired: { setting } }, observed) => placeReadiness(setting, kindOf(setting), observed),
    },
  },
  {
    awaits: () => [],
    /** For an undeclared domain: all disks but the first, its boot disk. */
    dataDisks(observed) {
      if (observed.list !== undefined) return []
      const config = configOf(observed)
      const uid = observed.mark?.uid ?? ''
      const named = new Set((config?.domain.disks ?? []).map(({ pool, volume }) => `${pool}:${volume}`))
      const isSeed = (volume: string) => seedHashIn(uid, volume.slice(volume.indexOf(':') + 1)) !== undefined
      // Detached volumes have its name too, and are deleted with it.
      const detached = (config?.ours ?? []).filter((volume) => !named.has(volume) && !isSeed(volume))
      return [...disksOf(observed).slice(1), ...detached]
    },
    abandonedSteps: () => undefined,
    regain: (resource, uuid) =>
      resource.desired.type === 'vm' ? defineAgain(resource, resource.desired.vm, uuid) : undefined,
    undeletable(observed) {
      if (observed.type === 'setting') return undeletablePlace(observed)
      if (observed.type === 'file') return stoodOn(observed)
      const { snapshots = 0, unread = {}, hidden = [], ours = [] } = configOf(observed) ?? {}
      const [pool] = Object.keys(unread)
      if (pool !== undefined)
        return {
          message: `which disks domain ${observed.externalId} on ${observed.host} has in pool ${pool} cannot be told: ${unread[pool]}`,
          allow: poolCommand(pool),
        }
      const [off] = ours.length === 0 ? [] : hidden
      if (off !== undefined)
        return {
          message: `${ours.join(', ')} of domain ${observed.externalId} on ${observed.host}: ${mayStandOn(off)}`,
          allow: poolCommand(off),
        }
      if (snapshots === 0) return undefined
      return {
        message: `domain ${observed.externalId} on ${observed.host} has ${snapshots} snapshot${snapshots === 1 ? '' : 's'}, which somebody made to come back to`,
        allow: `delete them first: ${VIRSH} snapshot-list ${observed.externalId}, ${VIRSH} snapshot-delete ${observed.externalId} NAME`,
      }
    },
    leaveSteps: (observed) => (observed.list === undefined ? leaveVmSteps(observed) : []),
    deleteSteps(destruction) {
      const { observed } = destruction
      if (placeConfigOf(observed) !== undefined) return deletePlaceSteps(destruction)
      return observed.type === 'file' ? deleteFileSteps(destruction) : deleteVmSteps(destruction)
    },
    rebootSteps: ({ host, externalId }) => [
      shutdownStep(host, externalId, false),
      startStep(host, externalId, { again: true }),
    ],
  },
  ({ desired }) => desired.type !== 'setting' || placeKind(desired.setting.definition) !== undefined,
)

function kindOf({ definition }: SettingSpec): PlaceKind {
  const kind = placeKind(definition)
  if (kind === undefined) throw new Error(`${definition} is neither a network nor a pool of libvirt`)
  return kind
}

/** A declared pool may not exist yet. */
function awaitsPool({ needs }: Resource): boolean {
  return needs.some((key) => key.startsWith('LibvirtPool/'))
}

/** Returns a guest's disks with data by slot, in the domain's order: no discs, no seeds. */
function disksOf(observed: ObservedResource): readonly string[] {
  return (configOf(observed)?.domain.disks ?? []).flatMap(({ device, dev, bus, path, volume }) => {
    const seed = volume !== undefined && seedHashIn(observed.mark?.uid ?? '', volume) !== undefined
    return device !== 'disk' || path === undefined || seed ? [] : [slotOf(dev, bus) ?? dev]
  })
}

/** Returns the list of a pool's volumes. */
function poolList(host: string, pool: string): string {
  return `volumes/${host}/${pool}`
}

function remainsList(host: string, pool: string, uid: string): string {
  return `remains/${host}/${pool}/${uid}`
}

const FILES = { empty: 'live', allow: 'correct the checksum, remove the volume, or allow it (replace: true)' } as const

/** The checksum is verified before the volume appears, so an existing one was right once. */
function createFileSteps(file: FileSpec): readonly Step[] {
  const sum = checksumOf(file)
  const step = makeStep({
    verb: 'download',
    summary: `download ${file.fileName} to ${file.storage} on ${file.host}`,
    host: file.host,
    do: 'make',
    object: `${poolPath(file.storage, file.fileName)}/download`,
    options: {
      url: file.url,
      ...downloadParams(file),
    },
    queues: [poolQueue(file.host, file.storage)],
  })
  return [sum === undefined ? step : { ...step, learns: { done: { verified: sum } } }]
}

function updateFileSteps(file: FileSpec, observed: ObservedResource, changes: readonly Change[]): readonly Step[] {
  const chosen = changes.filter(({ effect }) => effect !== 'replace').map(({ path }) => path)
  if (chosen.includes('content')) return [...deleteFileSteps(changed(observed, [], changes)), ...createFileSteps(file)]
  return chosen.includes('checksum') ? verifyFileSteps(file, observed) : []
}

function verifyFileSteps(file: FileSpec, observed: ObservedResource): readonly Step[] {
  const sum = checksumOf(file)
  if (sum === undefined || file.checksum === undefined) return []
  const step = makeStep({
    verb: 'verify',
    summary: `verify ${file.fileName} in ${file.storage} on ${file.host}`,
    host: file.host,
    do: 'make',
    object: `${poolPath(file.storage, file.fileName)}/verify`,
    options: { checksum: file.checksum.value, 'checksum-algorithm': file.checksum.algorithm },
  })
  return [{ ...step, learns: learnsOf(sum, observed) }]
}

function deleteFileSteps(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const place = volumeOf(observed.externalId)
  return place === undefined ? [] : [discardStep(observed.host, place.pool, place.volume, destruction)]
}

/**
 * Returns the readiness. No lease is read here: an address is declared, or reported by the agent. `adopted`: it
 * predates croft, so its first boot does not matter.
 */
export function vmReadiness(
  vm: VmSpec,
  observed: ObservedResource,
  adopted: boolean,
  firstBoot?: FirstBoot,
): Readiness {
  const power = powerOf(observed)
  const id = `domain ${vm.name} on ${observed.host}`
  const answer = answerAbout(id, power)
  const early = powerReadiness(vm, power, answer)
  if (early !== undefined) return early
  const unread = seedInConfig(vm, observed).inserted !== undefined
  if (vm.agent?.enabled !== true || !bringsSystem(vm)) {
    if (unread) return answer(false, 'Seeding', 'running and has yet to read its seed', 'Booting')
    return answer(true, 'Running', 'running')
  }
  if (unread && observed.close?.agent === 'up')
    return answer(false, 'Seeding', 'running; its seed image is still attached', 'Booting')
  return agentReadiness(observed, id, adopted || vm.seed === undefined, firstBoot, answer)
}

/** Reports whether an agent can ever answer, since only then a wait for it makes sense. */
function bringsSystem(vm: VmSpec): boolean {
  return vm.disks.some((disk) => disk.importFrom !== undefined) || (vm.cdrom?.length ?? 0) > 0
}

import { type FileSpec, volumeId } from '../../model/file.ts'
import { type Desired, guestIn, type Resource } from '../../model/resource.ts'
import { notKept, type Rules } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import { diskList, fileList } from './file-list.ts'
import {
  createFileSteps,
  deleteFileSteps,
  diffFile,
  fileReadiness,
  updateFileSteps,
  verifyFileSteps,
} from './file-rules.ts'
import { dataDisks, irreplaceableDisks, protectedGuest, remadeBy } from './irreplaceable.ts'
import { diffContainer } from './lxc/diff.ts'
import { adoptContainerSteps, createContainerSteps, updateContainerSteps } from './lxc/plan-steps.ts'
import { containerReadiness } from './lxc/readiness.ts'
import { declaredVolumes } from './lxc/volumes.ts'
import { containerObstacles, fileObstacles, vmObstacles } from './obstacles.ts'
import { remembering, withPassword } from './rest/secrets.ts'
import { settingRules } from './rest/setting-rules.ts'
import { destroyAsRoot, overRootLane } from './root-lane.ts'
import { diffSnippet, withoutLane, writeSnippetStep } from './snippet-rules.ts'
import { deleteGuestSteps } from './vm/delete.ts'
import { diffVm } from './vm/diff.ts'
import { adoptVmSteps, createVmSteps, storagesOf, updateVmSteps } from './vm/plan-steps.ts'
import { vmReadiness } from './vm/readiness.ts'
import { seedNotes } from './vm/seed.ts'
import { rebootStep } from './vm/single-steps.ts'

/** The pure half of the Proxmox driver: which rules apply is decided here, by what the resource is. */
export const proxmoxRules: Rules = {
  // Items are on hosts that are reached by SSH, objects on clusters.
  keeps: ({ desired: { type } }) => type !== 'item' && type !== 'object',
  awaits: () => [],
  declaredId({ desired }) {
    if (desired.type === 'setting') return settingRules.declaredId(desired.setting)
    if (desired.type === 'file') return volumeId(desired.file)
    const vmid = guestIn(desired)?.vmid
    return vmid === undefined ? undefined : String(vmid)
  },
  listOf({ desired }) {
    if (desired.type === 'setting') return settingRules.listOf(desired.setting)
    return desired.type === 'file' ? fileList(desired.file) : undefined
  },
  hostOf({ desired }) {
    if (desired.type === 'setting') return settingRules.hostOf(desired.setting)
    return desired.type === 'file' ? desired.file.host : (guestIn(desired)?.host ?? '')
  },
  choosesId({ desired }) {
    const guest = guestIn(desired)
    return guest !== undefined && guest.vmid === undefined
  },
  obstacles(resource, survey) {
    const { desired } = resource
    switch (desired.type) {
      case 'vm':
        return vmObstacles(resource, desired.vm, survey)
      case 'container':
        return containerObstacles(resource, desired.container, survey)
      case 'file':
        return [...laneObstacle(resource, desired.file), ...fileObstacles(desired.file, survey)]
      case 'setting':
        return settingRules.obstacles(desired.setting, survey)
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  diff(resource, sighting, known) {
    const { desired } = resource
    switch (desired.type) {
      case 'vm':
        // What is there under this mark may be of another sort; then only a new one can be as declared.
        return sighting.type === 'vm'
          ? withPassword(desired.vm, diffVm(resource, desired.vm, sighting), { known, rotate: resource.policy.rotate })
          : []
      case 'container':
        return sighting.type === 'container' ? diffContainer(resource, desired.container, sighting) : []
      case 'file':
        return desired.file.snippet === undefined
          ? diffFile(resource, desired.file, sighting, known)
          : diffSnippet(resource, desired.file, desired.file.snippet, sighting, known ?? {})
      case 'setting':
        return settingRules.diff(desired.setting, sighting, { known, rotate: resource.policy.rotate })
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  createSteps(resource, externalId, survey) {
    const { desired } = resource
    switch (desired.type) {
      case 'vm':
        return rooted(resource, createVmSteps(resource, desired.vm, externalId, survey), externalId).map((step) =>
          remembering(step, resource.policy.rotate),
        )
      case 'container':
        return rooted(resource, createContainerSteps(resource, desired.container, externalId, survey), externalId)
      case 'file':
        return desired.file.snippet === undefined
          ? createFileSteps(desired.file, survey)
          : [writeSnippetStep(desired.file, desired.file.snippet)]
      case 'setting':
        return settingRules.createSteps(desired.setting, resource.policy.rotate)
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  updateSteps(resource, sighting, changes, survey) {
    const { desired } = resource
    switch (desired.type) {
      case 'vm':
        return rooted(
          resource,
          updateVmSteps(resource, desired.vm, sighting, changes, survey),
          sighting.externalId,
          sighting,
        ).map((step) => remembering(step, resource.policy.rotate))
      case 'container':
        return rooted(
          resource,
          updateContainerSteps(resource, desired.container, sighting, changes, survey),
          sighting.externalId,
          sighting,
        )
      case 'file':
        return desired.file.snippet === undefined
          ? updateFileSteps(desired.file, sighting, changes)
          : [writeSnippetStep(desired.file, desired.file.snippet, sighting)]
      case 'setting':
        return settingRules.updateSteps(desired.setting, sighting, changes, resource.policy.rotate)
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  adoptSteps(resource, sighting) {
    const { desired } = resource
    switch (desired.type) {
      case 'vm':
        return adoptVmSteps(resource, desired.vm, sighting)
      case 'container':
        return adoptContainerSteps(resource, desired.container, sighting)
      case 'file':
        return desired.file.snippet === undefined ? verifyFileSteps(desired.file, sighting) : []
      case 'setting':
        // Nothing can be written on it that would mark it as ours.
        return []
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  irreplaceable({ desired }, sighting) {
    const config = sighting.close?.config ?? {}
    return sighting.list === undefined
      ? irreplaceableDisks(sighting, desired.type === 'vm' ? remadeBy(desired.vm, config) : () => false)
      : []
  },
  dataDisks: (sighting) => (sighting.list === undefined ? dataDisks(sighting) : []),
  remains({ desired }, externalId) {
    const guest = guestIn(desired)
    return guest === undefined
      ? []
      : [...new Set(storagesFor(desired))].map((storage) => diskList(guest.host, storage, externalId))
  },
  abandonedSteps({ rootLane }, sighting) {
    if (sighting.list !== undefined) return undefined
    // Without a lock the token may, and there is nothing in it to lose.
    if (sighting.lock === undefined) return deleteGuestSteps(sighting).map((step) => ({ ...step, disruption: 'none' }))
    return rootLane === true ? [destroyAsRoot(sighting)] : undefined
  },
  undeletable: (sighting) => (sighting.list === undefined ? protectedGuest(sighting) : undefined),
  deleteSteps(sighting) {
    if (sighting.type === 'setting') return settingRules.deleteSteps(sighting)
    return sighting.type === 'file' ? deleteFileSteps(sighting) : deleteGuestSteps(sighting)
  },
  rebootSteps: ({ host, type, externalId }) => [
    rebootStep(host, externalId, type === 'container' ? 'container' : 'vm'),
  ],
  readiness(resource, sighting) {
    const { desired, policy } = resource
    switch (desired.type) {
      case 'vm':
        return vmReadiness(desired.vm, sighting, policy.adopt !== undefined, policy.firstBoot)
      case 'container':
        return containerReadiness(desired.container, sighting)
      case 'file':
        return fileReadiness(desired.file, sighting)
      case 'setting':
        return settingRules.readiness(desired.setting, sighting)
      case 'item':
      case 'object':
        throw notKept(resource, 'proxmox')
    }
  },
  notes({ desired }, sighting) {
    return [...movedNotes(desired, sighting), ...(desired.type === 'vm' ? seedNotes(desired.vm, sighting) : [])]
  },
}

function laneObstacle(resource: Resource, file: FileSpec) {
  const blocked = file.snippet === undefined ? undefined : withoutLane(resource, file)
  return blocked === undefined ? [] : [blocked]
}

function rooted(
  { rootLane }: Resource,
  steps: readonly Step[],
  externalId: string,
  sighting?: Sighting,
): readonly Step[] {
  return rootLane === true ? overRootLane(steps, externalId, sighting?.close?.config) : steps
}

/** A guest is followed wherever it is: nobody who moved one wants it made anew where it was. */
function movedNotes(desired: Desired, sighting: Sighting): readonly string[] {
  const declared = guestIn(desired)?.host
  if (declared === undefined || declared === sighting.host || guestIn(desired)?.moveHere !== undefined) return []
  const by = sighting.highlyAvailable === true ? 'moved (HA)' : 'moved'
  return [`${by}: declared on ${declared}, runs on ${sighting.host}; it is kept there`]
}

/** Storages that a new guest takes room on. */
export function storagesFor(desired: Desired): readonly string[] {
  if (desired.type === 'vm') return storagesOf(desired.vm)
  return desired.type === 'container' ? declaredVolumes(desired.container).flatMap(({ storage }) => storage ?? []) : []
}

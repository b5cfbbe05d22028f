import { type FileSpec, volumeId } from '../../model/file.ts'
import { type Desired, guestIn, type ObservedResource, type Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { Step } from '../../model/step.ts'
import { fileReadiness } from '../files.ts'
import { PLAIN_THING, rulesByType } from '../rules-by-type.ts'
import { movedCardObstacles } from './bridges.ts'
import { diskList, fileList } from './file-list.ts'
import { createFileSteps, deleteFileSteps, diffFile, updateFileSteps, verifyFileSteps } from './file-rules.ts'
import { leaveGuestSteps, rebootStep } from './guest-steps.ts'
import { dataDisks, irreplaceableDisks, protectedGuest, remadeBy } from './irreplaceable.ts'
import { diffContainer } from './lxc/diff.ts'
import { adoptContainerSteps, createContainerSteps, updateContainerSteps } from './lxc/plan-steps.ts'
import { declaredVolumes } from './lxc/volumes.ts'
import { containerObstacles, fileObstacles, movedDiskObstacles, vmObstacles } from './obstacles.ts'
import { containerReadiness, vmReadiness } from './readiness.ts'
import { remembering, withPassword } from './rest/secrets.ts'
import { settingRules } from './rest/setting-rules.ts'
import { destroyAsRoot, overRootLane } from './root-lane.ts'
import { diffSnippet, withoutLane, writeSnippetStep } from './snippet-rules.ts'
import { diffVm } from './vm/diff.ts'
import { likenessOf } from './vm/likeness.ts'
import { adoptVmSteps, createVmSteps, deleteGuestSteps, storagesOf, updateVmSteps } from './vm/plan-steps.ts'
import { seedNotes } from './vm/seed.ts'

type Guest = Resource & { readonly desired: Extract<Desired, { readonly type: 'vm' | 'container' }> }

/** The rules common to VMs and containers. */
const guests = {
  declaredId({ desired }: Guest) {
    const vmid = guestIn(desired)?.vmid
    return vmid === undefined ? undefined : String(vmid)
  },
  listOf: () => undefined,
  hostOf: ({ desired }: Guest) => guestIn(desired)?.host ?? '',
  choosesId: ({ desired }: Guest) => guestIn(desired)?.vmid === undefined,
  remains: ({ desired }: Guest, externalId: string) => {
    const host = guestIn(desired)?.host ?? ''
    return [...new Set(storagesFor(desired))].map((storage) => diskList(host, storage, externalId))
  },
}

/** The pure half of the Proxmox driver, by type. */
export const proxmoxRules: Rules = rulesByType(
  'proxmox',
  {
    vm: {
      ...guests,
      obstacles: (resource, survey) => vmObstacles(resource, resource.desired.vm, survey),
      // The thing with this mark may have another type; then only a new one can match.
      diff: (resource, observed, known) =>
        observed.type === 'vm'
          ? withPassword(resource.desired.vm, diffVm(resource, resource.desired.vm, observed), {
              known,
              rotate: resource.policy.rotate,
            })
          : [],
      createSteps: (resource, externalId, survey) =>
        rooted(resource, createVmSteps(resource, resource.desired.vm, externalId, survey), externalId).map((step) =>
          remembering(step, resource.policy.rotate),
        ),
      updateSteps: (resource, observed, changes, survey) =>
        rooted(
          resource,
          updateVmSteps(resource, resource.desired.vm, observed, changes, survey),
          observed.externalId,
          observed,
        ).map((step) => remembering(step, resource.policy.rotate)),
      adoptSteps: (resource, observed) => adoptVmSteps(resource, resource.desired.vm, observed),
      irreplaceable: ({ desired }, observed) =>
        irreplaceableIn(observed, remadeBy(desired.vm, observed.close?.config ?? {})),
      readiness: ({ desired, policy }, observed) =>
        vmReadiness(desired.vm, observed, policy.adopt !== undefined, policy.firstBoot),
      notes: ({ desired }, observed) => [...movedNotes(desired, observed), ...seedNotes(desired.vm, observed)],
    },
    container: {
      ...guests,
      obstacles: (resource, survey) => containerObstacles(resource, resource.desired.container, survey),
      diff: (resource, observed) =>
        observed.type === 'container' ? diffContainer(resource, resource.desired.container, observed) : [],
      createSteps: (resource, externalId, survey) =>
        rooted(resource, createContainerSteps(resource, resource.desired.container, externalId, survey), externalId),
      updateSteps: (resource, observed, changes, survey) =>
        rooted(
          resource,
          updateContainerSteps(resource, resource.desired.container, observed, changes, survey),
          observed.externalId,
          observed,
        ),
      adoptSteps: (resource, observed) => adoptContainerSteps(resource, resource.desired.container, observed),
      irreplaceable: (_resource, observed) => irreplaceableIn(observed, () => false),
      readiness: ({ desired }, observed) => containerReadiness(desired.container, observed),
      notes: ({ desired }, observed) => movedNotes(desired, observed),
    },
    file: {
      ...PLAIN_THING,
      declaredId: ({ desired }) => volumeId(desired.file),
      listOf: ({ desired }) => fileList(desired.file),
      hostOf: ({ desired }) => desired.file.host,
      obstacles: (resource, survey) => [
        ...laneObstacle(resource, resource.desired.file),
        ...fileObstacles(resource.desired.file, survey),
      ],
      diff: (resource, observed, known) => {
        const { file } = resource.desired
        return file.snippet === undefined
          ? diffFile(resource, file, observed, known)
          : diffSnippet(resource, file, file.snippet, observed, known ?? {})
      },
      createSteps: ({ desired: { file } }, _externalId, survey) =>
        file.snippet === undefined ? createFileSteps(file, survey) : [writeSnippetStep(file, file.snippet)],
      updateSteps: ({ desired: { file } }, observed, changes) =>
        file.snippet === undefined
          ? updateFileSteps(file, observed, changes)
          : [writeSnippetStep(file, file.snippet, observed)],
      adoptSteps: ({ desired: { file } }, observed) =>
        file.snippet === undefined ? verifyFileSteps(file, observed) : [],
      readiness: ({ desired }, observed) => fileReadiness(desired.file, observed),
    },
    setting: {
      ...PLAIN_THING,
      declaredId: ({ desired }) => settingRules.declaredId(desired.setting),
      listOf: ({ desired }) => settingRules.listOf(desired.setting),
      hostOf: ({ desired }) => settingRules.hostOf(desired.setting),
      obstacles: ({ desired }, survey) => settingRules.obstacles(desired.setting, survey),
      diff: ({ desired, policy }, observed, known) =>
        settingRules.diff(desired.setting, observed, { known, rotate: policy.rotate }),
      createSteps: ({ desired, policy }) => settingRules.createSteps(desired.setting, policy.rotate),
      updateSteps: ({ desired, policy }, observed, changes) =>
        settingRules.updateSteps(desired.setting, observed, changes, policy.rotate),
      // No mark can be written on it.
      adoptSteps: () => [],
      readiness: ({ desired }, observed) => settingRules.readiness(desired.setting, observed),
    },
  },
  {
    awaits: () => [],
    likeness: likenessOf,
    changeObstacles: ({ desired }, observed, changes, survey) => {
      const guest = guestIn(desired)
      if (guest === undefined) return []
      return [
        ...movedCardObstacles(guest, changes, survey, observed.close?.hostBridges),
        ...movedDiskObstacles(desired, observed.host, changes, survey),
      ]
    },
    dataDisks: (observed) => (observed.list === undefined ? dataDisks(observed) : []),
    abandonedSteps({ rootLane }, destruction) {
      const { observed } = destruction
      if (observed.list !== undefined) return undefined
      // Without a lock the token may delete it, and it holds no data.
      if (observed.lock === undefined) return deleteGuestSteps(destruction)
      return rootLane === true ? [destroyAsRoot(destruction)] : undefined
    },
    undeletable: (observed) => (observed.list === undefined ? protectedGuest(observed) : undefined),
    leaveSteps: (observed) => (observed.list === undefined ? leaveGuestSteps(observed) : []),
    deleteSteps(destruction) {
      const { type } = destruction.observed
      if (type === 'setting') return settingRules.deleteSteps(destruction)
      return type === 'file' ? deleteFileSteps(destruction) : deleteGuestSteps(destruction)
    },
    rebootSteps: ({ host, type, externalId }) => [
      rebootStep({ type: type === 'container' ? 'container' : 'vm', host, externalId }),
    ],
  },
)

function irreplaceableIn(
  observed: ObservedResource,
  remade: Parameters<typeof irreplaceableDisks>[1],
): readonly string[] {
  return observed.list === undefined ? irreplaceableDisks(observed, remade) : []
}

function laneObstacle(resource: Resource, file: FileSpec) {
  const blocked = file.snippet === undefined ? undefined : withoutLane(resource, file)
  return blocked === undefined ? [] : [blocked]
}

function rooted(
  { rootLane }: Resource,
  steps: readonly Step[],
  externalId: string,
  observed?: ObservedResource,
): readonly Step[] {
  return rootLane === true ? overRootLane(steps, externalId, observed?.close?.config) : steps
}

/** croft follows a moved guest: it does not recreate it in its former place. */
function movedNotes(desired: Desired, observed: ObservedResource): readonly string[] {
  const declared = guestIn(desired)?.host
  if (declared === undefined || declared === observed.host || guestIn(desired)?.moveHere !== undefined) return []
  const by = observed.highlyAvailable === true ? 'moved (HA)' : 'moved'
  return [`${by}: declared on ${declared}, runs on ${observed.host}; it is kept there`]
}

/** Returns the storages that a new guest allocates on. */
export function storagesFor(desired: Desired): readonly string[] {
  if (desired.type === 'vm') return storagesOf(desired.vm)
  return desired.type === 'container' ? declaredVolumes(desired.container).flatMap(({ storage }) => storage ?? []) : []
}

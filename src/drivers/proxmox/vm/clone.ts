import type { Survey } from '../../../model/resource.ts'
import type { Obstacle } from '../../../model/rules.ts'
import type { Step } from '../../../model/step.ts'
import type { VmClone, VmSpec } from '../../../model/vm.ts'
import { createParams } from '../option.ts'
import { guestPath, hostQueue, makeStep, storageQueues } from '../steps.ts'
import type { Params, VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'

/**
 * Clones a guest. Until the copy is complete it shows only a lock; then it has this call's description, whose line
 * names its owner, and still the source's tags. All else is written after a look at the copy.
 */
export function cloneStep(wanted: VmWanted, clone: VmClone, survey?: Survey): Step {
  const vm = wanted.spec
  const source = clone.host ?? vm.host
  const params = createParams(OPTIONS, wanted)
  const storages = clone.storage === undefined ? vm.disks.map((disk) => disk.storage) : [clone.storage]
  return {
    ...makeStep({
      verb: 'create',
      summary: `clone VM ${clone.vmid} on ${source} to ${wanted.externalId} (${vm.name})${clone.full ? '' : ', linked'}`,
      host: source,
      method: 'POST',
      path: `${guestPath(source, 'vm', String(clone.vmid))}/clone`,
      params: {
        newid: wanted.externalId,
        name: vm.name,
        description: params.description ?? '',
        full: clone.full ? '1' : '0',
        ...(clone.storage === undefined ? {} : { storage: clone.storage }),
        ...(source === vm.host ? {} : { target: vm.host }),
        ...(vm.pool === undefined ? {} : { pool: vm.pool }),
      },
      queues: [hostQueue(source), ...sourceQueue(clone, survey), ...storageQueues(source, storages, survey)],
    }),
    taskSubject: String(clone.vmid),
  }
}

/**
 * Clones of a stopped source share its lock. A running source is locked for a single clone: others would time out after
 * ten seconds.
 */
function sourceQueue({ vmid }: VmClone, survey?: Survey): readonly string[] {
  const source = survey?.resources.find((seen) => seen.externalId === String(vmid))
  return source?.template === true || source?.power === 'stopped' ? [] : [`single/guest/${vmid}`]
}

const NOT_YET = /^(?:vmid|pool|(?:scsi|virtio|sata|ide|efidisk|tpmstate)\d+)$/

/** Returns the declared values for the copy, as far as known before a look at it: its drives are the source's. */
export function cloneParams(wanted: VmWanted): Params {
  const { scsiHardware, bootOrder } = wanted.spec
  const undeclared = (key: string) =>
    (key === 'scsihw' && scsiHardware === undefined) || (key === 'boot' && bootOrder === undefined)
  const params = Object.entries(createParams(OPTIONS, wanted)).filter(([key]) => !NOT_YET.test(key) && !undeclared(key))
  return Object.fromEntries(params)
}

export function cloneObstacles(vm: VmSpec, survey: Survey): readonly Obstacle[] {
  const { clone } = vm
  if (clone === undefined) return []
  const id = String(clone.vmid)
  const source = survey.resources.find((seen) => seen.externalId === id)
  if (source === undefined || source.type !== 'vm')
    return [{ message: `there is no VM ${id} to clone from`, allow: 'name a VM that is there, or declare it too' }]
  const host = clone.host ?? vm.host
  if (source.host !== host)
    return [{ message: `VM ${id} is on ${source.host}, not on ${host}`, allow: `set clone.nodeName to ${source.host}` }]
  if (clone.full || source.template === true) return []
  const message = `VM ${id} is not a template, and only those can have linked clones`
  return [{ message, allow: 'set clone.full to true, or make it a template' }]
}

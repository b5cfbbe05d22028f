import type { Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import type { Survey } from '../../../model/survey.ts'
import { guestPath, hostQueue, makeStep, storageQueues } from '../steps.ts'
import type { Params, VmWanted } from './option.ts'
import { OPTIONS } from './options.ts'

export function configureStep(
  wanted: VmWanted,
  sighting: Sighting,
  chosen: ReadonlySet<string>,
  survey?: Survey,
): Step | undefined {
  const { host, externalId } = sighting
  const params: Params = {}
  for (const option of OPTIONS) option.update(wanted, sighting.close?.config ?? {}, params, chosen)
  if (Object.keys(params).length === 0) return undefined
  const newDisks = wanted.spec.disks.filter((disk) => chosen.has(`disks.${disk.slot}`))
  const allocates = [
    ...newDisks.map((disk) => disk.storage),
    ...(chosen.has('efiDisk') && wanted.spec.efiDisk !== undefined ? [wanted.spec.efiDisk.storage] : []),
    ...(chosen.has('tpm') && wanted.spec.tpm !== undefined ? [wanted.spec.tpm.storage] : []),
    ...(chosen.has('cloudInit.storage') && wanted.spec.cloudInit !== undefined ? [wanted.spec.cloudInit.storage] : []),
  ]
  const names = Object.keys(params).flatMap((name) => (name === 'delete' ? (params.delete ?? '').split(',') : [name]))
  return makeStep({
    verb: 'configure',
    summary: `set ${names.join(', ')} of VM ${externalId} on ${host}${'startup' in params ? ' (startup needs Sys.Modify on /)' : ''}`,
    host,
    // PUT answers when it is done, within thirty seconds; copying an image takes longer, so that is a task.
    method: newDisks.some((disk) => disk.importFrom !== undefined) ? 'POST' : 'PUT',
    path: `${guestPath(host, 'vm', externalId)}/config`,
    params: withDigest(params, sighting.close?.digest),
    queues: allocates.length === 0 ? [] : [hostQueue(host), ...storageQueues(host, allocates, survey)],
  })
}

export function growStep(
  host: string,
  externalId: string,
  slot: string,
  sizeGb: number,
  storage: string,
  digest: string | undefined,
  survey?: Survey,
): Step {
  return makeStep({
    verb: 'resize',
    summary: `grow ${slot} of VM ${externalId} to ${sizeGb} GiB`,
    host,
    method: 'PUT',
    path: `${guestPath(host, 'vm', externalId)}/resize`,
    // Absolute, so that doing it twice is the same as once.
    params: withDigest({ disk: slot, size: `${sizeGb}G` }, digest),
    queues: storageQueues(host, [storage], survey),
  })
}

/** A paused guest is running already as far as Proxmox is concerned: it is resumed, not started. */
export function startStep(host: string, externalId: string, paused: boolean): Step {
  return makeStep({
    verb: 'start',
    summary: `${paused ? 'resume' : 'start'} VM ${externalId} on ${host}`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'vm', externalId)}/status/${paused ? 'resume' : 'start'}`,
    queues: [hostQueue(host)],
  })
}

/** Never by force: the guest's data is not ours to risk. */
export function shutdownStep(host: string, externalId: string): Step {
  return makeStep({
    verb: 'shutdown',
    summary: `shut down VM ${externalId} on ${host}`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'vm', externalId)}/status/shutdown`,
    disruption: 'restart',
  })
}

export function rebootStep(host: string, externalId: string, type: 'vm' | 'container' = 'vm'): Step {
  return makeStep({
    verb: 'reboot',
    summary: `restart ${type === 'vm' ? 'VM' : type} ${externalId} on ${host}`,
    host,
    method: 'POST',
    path: `${guestPath(host, type, externalId)}/status/reboot`,
    queues: [hostQueue(host)],
    disruption: 'restart',
  })
}

export function templateStep(host: string, externalId: string): Step {
  return makeStep({
    verb: 'template',
    summary: `turn VM ${externalId} on ${host} into a template`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'vm', externalId)}/template`,
    queues: [hostQueue(host)],
  })
}

export function poolStep(host: string, externalId: string, pool: string): Step {
  return makeStep({
    verb: 'configure',
    summary: `put VM ${externalId} into pool ${pool}`,
    host,
    method: 'PUT',
    path: '/pools',
    params: { poolid: pool, vms: externalId, 'allow-move': '1' },
  })
}

export function withDigest(params: Params, digest: string | undefined): Params {
  return digest === undefined ? params : { ...params, digest }
}

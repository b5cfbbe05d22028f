import type { Step } from '../../model/step.ts'
import type { Survey } from '../../model/survey.ts'
import { hostQueue, type StepParts, stepOf } from '../make-step.ts'
import { SECRET_PARAMS } from './vm/cloud-init.ts'

export { hostQueue }

export function makeStep(parts: StepParts): Step {
  const step = stepOf('api-token', parts)
  const secretParams = SECRET_PARAMS.filter((name) => name in step.call.params)
  return secretParams.length === 0 ? step : { ...step, secretParams }
}

/** `/nodes/{host}/qemu/{id}`; every part escaped, because names may come from the outside. */
export function guestPath(host: string, type: 'vm' | 'container', id?: string): string {
  const base = `/nodes/${encodeURIComponent(host)}/${type === 'vm' ? 'qemu' : 'lxc'}`
  return id === undefined ? base : `${base}/${encodeURIComponent(id)}`
}

export function storagePath(host: string, storage: string): string {
  return `/nodes/${encodeURIComponent(host)}/storage/${encodeURIComponent(storage)}`
}

/**
 * What allocates on a storage waits for its lock, for at most ten seconds; so croft lines up before it. The lock of a
 * shared storage holds for the whole cluster.
 */
export function storageQueues(host: string, storages: Iterable<string>, survey?: Survey): string[] {
  return [...new Set(storages)].map((storage) => {
    const shared = survey?.storages.some((seen) => seen.name === storage && seen.shared) ?? false
    return shared ? `storage/*/${storage}` : `storage/${host}/${storage}`
  })
}

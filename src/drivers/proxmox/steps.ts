import type { Survey } from '../../model/resource.ts'
import { type HarmParts, harmOf, type Step, type StepOver } from '../../model/step.ts'
import { hostQueue } from '../host-queue.ts'
import { SECRET_PARAMS } from './vm/cloud-init.ts'

export { hostQueue }

/** The varying parts of a call. */
export type CallStepParts = HarmParts & CallParts

interface CallParts extends Pick<Step, 'summary' | 'host'>, Partial<Pick<Step, 'queues'>> {
  readonly method: StepOver<'rest'>['call']['method']
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
}

export function makeStep(parts: CallStepParts): StepOver<'rest'> {
  const { summary, host, method, path, params = {}, queues = [] } = parts
  const call = { method, path, params }
  const step: StepOver<'rest'> = { ...harmOf(parts), summary, lane: 'rest', host, queues, call }
  const secretParams = SECRET_PARAMS.filter((name) => name in params)
  return secretParams.length === 0 ? step : { ...step, secretParams }
}

/** Returns `/nodes/{host}/qemu/{id}`, with every part escaped, since names may come from outside. */
export function guestPath(host: string, type: 'vm' | 'container', id?: string): string {
  const base = `/nodes/${encodeURIComponent(host)}/${type === 'vm' ? 'qemu' : 'lxc'}`
  return id === undefined ? base : `${base}/${encodeURIComponent(id)}`
}

export function storagePath(host: string, storage: string): string {
  return `/nodes/${encodeURIComponent(host)}/storage/${encodeURIComponent(storage)}`
}

/**
 * A call that allocates on a storage waits for its lock, for at most ten seconds; so croft queues before it. A shared
 * storage has one lock in the cluster.
 */
export function storageQueues(host: string, storages: Iterable<string>, survey?: Survey): string[] {
  return [...new Set(storages)].map((storage) => {
    const shared = survey?.storages.some((seen) => seen.name === storage && seen.shared) ?? false
    return shared ? `storage/*/${storage}` : `storage/${host}/${storage}`
  })
}

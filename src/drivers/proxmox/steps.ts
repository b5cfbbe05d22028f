import type { Step } from '../../model/step.ts'
import type { Survey } from '../../model/survey.ts'
import { SECRET_PARAMS } from './vm/cloud-init.ts'

/** Everything about a step that is not the same for all of ours. */
export interface StepParts {
  readonly verb: Step['verb']
  readonly summary: string
  readonly host: string
  readonly method: Step['call']['method']
  readonly path: string
  readonly params?: Readonly<Record<string, string>>
  readonly queues?: readonly string[]
  readonly disruption?: Step['disruption']
}

export function makeStep(parts: StepParts): Step {
  const params = parts.params ?? {}
  const secretParams = SECRET_PARAMS.filter((name) => name in params)
  return {
    verb: parts.verb,
    summary: parts.summary,
    lane: 'api-token',
    host: parts.host,
    queues: parts.queues ?? [],
    call: { method: parts.method, path: parts.path, params },
    ...(secretParams.length === 0 ? {} : { secretParams }),
    disruption: parts.disruption ?? 'none',
  }
}

/** `/nodes/{host}/qemu/{id}`; every part escaped, because names may come from the outside. */
export function guestPath(host: string, type: 'vm' | 'container', id?: string): string {
  const base = `/nodes/${encodeURIComponent(host)}/${type === 'vm' ? 'qemu' : 'lxc'}`
  return id === undefined ? base : `${base}/${encodeURIComponent(id)}`
}

export function storagePath(host: string, storage: string): string {
  return `/nodes/${encodeURIComponent(host)}/storage/${encodeURIComponent(storage)}`
}

export function hostQueue(host: string): string {
  return `host/${host}`
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

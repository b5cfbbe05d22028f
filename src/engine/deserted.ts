import { LIMITS } from '../lib/limits.ts'
import { isUnattended, type RemoteTask, type Survey } from '../model/resource.ts'

/**
 * Returns guests that have shown only the lock of their creation for a while, without a task. `since` holds when each
 * was first seen so, and is updated.
 */
export function desertedIn(survey: Survey, since: Map<string, number>): ReadonlySet<string> {
  const idle = survey.resources.filter((seen) => isUnattended(seen, survey))
  const ids = new Set(idle.map(({ externalId }) => externalId))
  for (const id of since.keys()) if (!ids.has(id)) since.delete(id)
  for (const id of ids) if (!since.has(id)) since.set(id, survey.atMs)
  const died = new Set(survey.tasks.filter(isDead).map(({ subject }) => subject))
  const isLong = (ms: number) => survey.atMs - ms >= LIMITS.desertedCreationMs
  return new Set([...since].filter(([id, ms]) => died.has(id) || isLong(ms)).map(([id]) => id))
}

/** Proxmox's message for a task whose process died without a result. */
function isDead({ state, message }: RemoteTask): boolean {
  return state === 'failed' && message === 'unexpected status'
}

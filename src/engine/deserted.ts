import { LIMITS } from '../lib/limits.ts'
import type { ObservedResource, RemoteTask, Survey } from '../model/resource.ts'
import { isBeingMade } from '../plan/things/identify.ts'

/**
 * Guests that have shown nothing but the lock of their creation for a while, with nobody at work on them. `since` says when
 * each was first seen so, and is brought up to date. One look proves nothing: guests and tasks are listed by two calls,
 * and a creation locks its id a moment before its task begins.
 */
export function desertedIn(survey: Survey, since: Map<string, number>): ReadonlySet<string> {
  const idle = survey.resources.filter((seen) => isBeingMade(seen) && seen.mark === undefined && isIdle(seen, survey))
  const ids = new Set(idle.map(({ externalId }) => externalId))
  for (const id of since.keys()) if (!ids.has(id)) since.delete(id)
  for (const id of ids) if (!since.has(id)) since.set(id, survey.atMs)
  const died = new Set(survey.tasks.filter(isDead).map(({ subject }) => subject))
  const isLong = (ms: number) => survey.atMs - ms >= LIMITS.desertedCreationMs
  return new Set([...since].filter(([id, ms]) => died.has(id) || isLong(ms)).map(([id]) => id))
}

/** Proxmox's words for a task whose process is gone without having said how it ended. */
function isDead({ state, message }: RemoteTask): boolean {
  return state === 'failed' && message === 'unexpected status'
}

function isIdle({ externalId, host, lock }: ObservedResource, { tasks, hosts }: Survey): boolean {
  if (!hosts.some((one) => one.name === host && one.online)) return false
  // The task of a clone is named after its source.
  return !tasks.some(
    ({ state, subject, verb }) =>
      state === 'running' && (subject === externalId || (lock === 'clone' && verb.endsWith('clone'))),
  )
}

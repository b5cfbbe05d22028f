import { LIMITS } from '../../lib/limits.ts'
import type { ObservedResource, RemoteTask } from '../../model/resource.ts'
import { ObservationFailed } from '../port.ts'
import type { Api } from './api.ts'
import { translate } from './api-errors.ts'
import { cleanText, isRecord, recordsOf } from './foreign.ts'
import { readTask } from './survey.ts'
import { parseUpid } from './upid.ts'

/** Returns how a task ended, or that it runs. Undefined if the host no longer knows it. */
export async function taskOutcome(api: Api, taskId: string, signal: AbortSignal) {
  const upid = parseUpid(taskId)
  if (upid === undefined) return undefined
  const { host } = upid
  const doing = `finish ${upid.verb} ${upid.subject} on ${host}`
  const path = `/nodes/${encodeURIComponent(host)}/tasks/${encodeURIComponent(taskId)}/status`
  const data = await unlessUnknown(() =>
    api.read(path, { doing: `look at task ${cleanText(taskId, 200)}`, host }, signal),
  )
  const task = isRecord(data) ? readTask({ ...data, upid: taskId }) : undefined
  if (task?.state !== 'failed') return task
  const guest = /^\d+$/.test(upid.subject) ? { guest: upid.subject } : {}
  return { ...task, refusal: translate({ text: task.message ?? 'unknown reason', doing, host, ...guest }) }
}

/** The host's own list goes back weeks; the cluster's shows the last 25 tasks of each host. */
export async function recentTasks(
  api: Api,
  { host, externalId, type }: ObservedResource,
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly RemoteTask[]> {
  const guest = type === 'vm' || type === 'container'
  const query = new URLSearchParams({
    source: 'all',
    limit: '50',
    // The host counts in whole seconds of its clock.
    since: String(Math.max(0, Math.floor(sinceMs / 1000) - 60)),
    ...(guest ? { vmid: externalId } : {}),
  })
  const about = { doing: `list the tasks of ${externalId} on ${host}`, host }
  const data = await api.read(`/nodes/${encodeURIComponent(host)}/tasks?${query.toString()}`, about, signal)
  return recordsOf(data).flatMap((entry) => readTask(entry) ?? [])
}

/** Reads the results of a host's tasks in one list: a batch costs one call. */
export async function endedTasks(
  api: Api,
  host: string,
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly RemoteTask[]> {
  const query = new URLSearchParams({
    source: 'all',
    limit: String(LIMITS.taskListLength),
    // The host counts in whole seconds of its clock.
    since: String(Math.max(0, Math.floor(sinceMs / 1000) - 60)),
  })
  const about = { doing: `list the tasks of ${host}`, host }
  const data = await api.read(`/nodes/${encodeURIComponent(host)}/tasks?${query.toString()}`, about, signal)
  return recordsOf(data).flatMap((entry) => readTask(entry) ?? [])
}

/** Task logs are deleted after a while. */
async function unlessUnknown<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (
      error instanceof ObservationFailed &&
      /no such task|unable to (?:open|find).*(?:task|file)/i.test(error.message)
    )
      return undefined
    throw error
  }
}

import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type {
  ObservedHost,
  ObservedResource,
  ObservedStorage,
  PowerState,
  RemoteTask,
  Survey,
} from '../../model/resource.ts'
import { type ApiFields, cleanText, countOf, flagOf, nameOf, recordsOf } from './foreign.ts'
import { uidOfTags } from './marks.ts'
import { parseUpid } from './upid.ts'

/** Parses the answers of `cluster/resources` and `cluster/tasks` to a survey. Pure. */
export function readSurvey(connection: string, atMs: number, listed: unknown, tasks: unknown): Survey {
  const hosts: ObservedHost[] = []
  const storages: ObservedStorage[] = []
  const resources: ObservedResource[] = []
  const entries = recordsOf(listed)
  const silent = new Set(entries.filter(({ type, status }) => type === 'node' && status === 'unknown').map(hostOf))
  for (const entry of entries) {
    const type = entry.type
    if (type === 'qemu' || type === 'lxc')
      push(resources, readGuest(connection, entry, type === 'qemu' ? 'vm' : 'container'))
    else if (type === 'storage') push(storages, readStorage(entry, silent.has(hostOf(entry))))
    else if (type === 'node') push(hosts, readHost(entry))
  }
  const remote: RemoteTask[] = []
  for (const entry of recordsOf(tasks)) push(remote, readTask(entry))
  return { connection, atMs, hosts, storages, resources: withoutOldPower(resources, remote, atMs), tasks: remote }
}

/** A guest's power after a task of this type. After a restart another task starts it. */
const POWER_AFTER: Readonly<Record<string, PowerState>> = {
  qmstart: 'running',
  qmresume: 'running',
  qmpause: 'paused',
  qmsuspend: 'stopped',
  qmstop: 'stopped',
  qmshutdown: 'stopped',
  vzstart: 'running',
  vzstop: 'stopped',
  vzshutdown: 'stopped',
}

/**
 * The list of guests shows power from statistics that a host gathers every 10 s or more. After a later task that
 * changed it, the power is unknown until the guest is asked.
 */
function withoutOldPower(
  guests: readonly ObservedResource[],
  tasks: readonly RemoteTask[],
  atMs: number,
): readonly ObservedResource[] {
  const last = new Map<string, RemoteTask>()
  for (const task of tasks) {
    if (task.state !== 'succeeded' || !Object.hasOwn(POWER_AFTER, task.verb)) continue
    if ((task.endedMs ?? 0) < atMs - LIMITS.statisticsMs) continue
    const before = last.get(task.subject)
    if (before === undefined || before.startedMs < task.startedMs) last.set(task.subject, task)
  }
  if (last.size === 0) return guests
  return guests.map((guest) => {
    const task = last.get(guest.externalId)
    const after = task === undefined ? guest.power : POWER_AFTER[task.verb]
    // Only the guest itself reports paused: every list shows it as running.
    return after === guest.power ? guest : { ...guest, power: after === 'paused' ? after : 'unknown' }
  })
}

/** Parses a task from a list or from its own status. Without `status: stopped` or an end it is running. */
export function readTask(entry: ApiFields): RemoteTask | undefined {
  const id = entry.upid
  const upid = typeof id === 'string' ? parseUpid(id) : undefined
  if (typeof id !== 'string' || upid === undefined) return undefined
  // A list has the result in `status`; the task's own status has it in `exitstatus`.
  const status = entry.status
  const ended = entry.endtime !== undefined || status === 'stopped'
  const end = status === 'stopped' ? entry.exitstatus : status
  const endedMs = countOf(entry.endtime)
  return {
    id,
    host: upid.host,
    verb: upid.verb,
    subject: upid.subject,
    user: cleanText(upid.user, 128),
    startedMs: upid.startedMs,
    state: ended ? (endedWell(end) ? 'succeeded' : 'failed') : 'running',
    ...(isWarning(end) ? { warned: true } : {}),
    ...(ended && typeof end === 'string' ? { message: cleanText(end) } : {}),
    ...(endedMs === undefined ? {} : { endedMs: endedMs * 1000 }),
  }
}

export function powerState(status: unknown): PowerState {
  return status === 'running' || status === 'stopped' || status === 'paused' ? status : 'unknown'
}

function endedWell(end: unknown): boolean {
  return end === 'OK' || isWarning(end)
}

/** `WARNINGS: 2` is a success with warnings. */
function isWarning(end: unknown): boolean {
  return typeof end === 'string' && /^WARNINGS: \d+$/.test(end)
}

function readGuest(connection: string, entry: ApiFields, type: 'vm' | 'container'): ObservedResource | undefined {
  const externalId = nameOf(entry.vmid)
  const host = nameOf(entry.node)
  if (externalId === undefined || host === undefined || !/^[1-9]\d{0,8}$/.test(externalId)) return undefined
  const uid = uidOfTags(entry.tags)
  return {
    connection,
    type,
    externalId,
    host,
    power: powerState(entry.status),
    ...(uid === undefined ? {} : { mark: { uid } }),
    ...(flagOf(entry.template) ? { template: true } : {}),
    ...(nameOf(entry.hastate) === undefined ? {} : { highlyAvailable: true }),
    ...defined({ name: nameOf(entry.name), lock: nameOf(entry.lock), pool: nameOf(entry.pool) }),
    ...defined({ uptimeSeconds: countOf(entry.uptime), diskBytes: countOf(entry.maxdisk) }),
    ...usage(entry),
  }
}

function readHost(entry: ApiFields): ObservedHost | undefined {
  const name = nameOf(entry.node)
  if (name === undefined) return undefined
  return {
    name,
    // "unknown" only means that there are no statistics yet.
    online: entry.status !== 'offline',
    ...usage(entry),
  }
}

/** Returns the limits and usage of a guest or a host, which Proxmox names equally. */
function usage({ maxmem, mem, maxcpu, cpu }: ApiFields) {
  const [memoryBytes, memoryUsedBytes, cpus, load] = [countOf(maxmem), countOf(mem), countOf(maxcpu), countOf(cpu)]
  return defined({ memoryBytes, memoryUsedBytes, cpus, load })
}

function hostOf(entry: ApiFields): string | undefined {
  return nameOf(entry.node)
}

/** A storage without statistics is unused on its host, unless the host itself has none, as in its first seconds. */
function readStorage(entry: ApiFields, silentHost: boolean): ObservedStorage | undefined {
  const name = nameOf(entry.storage)
  const host = nameOf(entry.node)
  if (name === undefined || host === undefined) return undefined
  const content =
    nameOf(entry.content)
      ?.split(',')
      .filter((kind) => kind !== '') ?? []
  return {
    host,
    name,
    content,
    available: entry.status === 'available' || (silentHost && entry.status === 'unknown'),
    shared: flagOf(entry.shared) ?? false,
    ...defined({ totalBytes: countOf(entry.maxdisk), usedBytes: countOf(entry.disk) }),
  }
}

function push<T>(list: T[], item: T | undefined): void {
  if (item !== undefined) list.push(item)
}

import { eachInSteps, type Turns } from '../lib/in-turns.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { NewEvent, ResourceRecord } from '../model/record.ts'
import { isGuest } from '../model/resource.ts'
import { isUnread } from '../plan/things/unread.ts'
import type { Store } from '../store/port.ts'
import type { Observation } from './observation.ts'
import type { Happening } from './resource-pass.ts'

/**
 * Returns records of things that are neither declared nor existing. An unobserved thing may exist; but a cluster that
 * Git no longer names is not observed, and its objects leave with it.
 */
export function departed(
  estate: Estate,
  observation: Observation,
  before: ReadonlyMap<ResourceKey, ResourceRecord>,
  now: readonly ResourceRecord[],
): readonly ResourceRecord[] {
  const kept = new Set(now.map((record) => record.key))
  const connections = new Set(estate.connections.map(({ name }) => name))
  const isForsaken = ({ type, connection }: ResourceRecord) =>
    type === 'object' && !estate.incomplete && !connections.has(connection)
  return [...before.values()].filter(
    (record) =>
      !kept.has(record.key) &&
      !isUnread(record.key, estate) &&
      (record.type === 'cluster' ||
        isForsaken(record) ||
        observation.worlds.get(record.connection)?.survey !== undefined) &&
      !observation.plan.notes.some((note) => note.connection === record.connection && note.code === 'suspect'),
  )
}

/** Returns deleted guests whose deletion gave a warning: Proxmox deletes one even if one of its disks stays. */
export function leftBehind(
  dropped: readonly ResourceRecord[],
  ended: ReadonlyMap<ResourceKey, Happening>,
  nowMs: number,
): readonly NewEvent[] {
  return dropped.flatMap(({ key }): NewEvent[] => {
    const end = ended.get(key)
    if (end?.what !== 'succeeded' || end.warned === undefined || end.step.verb !== 'delete') return []
    const message = `${end.step.summary}: ${end.warned}; a disk of it may be left: croft doctor lists such disks, the task on ${end.step.host} says why`
    return [{ atMs: nowMs, key, type: 'Warning', reason: 'RemovedWithWarnings', message }]
  })
}

/** Stores changed records only. */
export async function report(
  store: Store,
  epoch: number,
  before: ReadonlyMap<ResourceKey, ResourceRecord>,
  records: readonly ResourceRecord[],
  events: readonly NewEvent[],
  dropped: readonly ResourceRecord[],
  completes: boolean,
  nowMs: number,
  turns: Turns,
): Promise<void> {
  const isNew = (record: ResourceRecord) => JSON.stringify(before.get(record.key)) !== JSON.stringify(record)
  const news = await turns.perform(eachInSteps(records, isNew))
  const changed = records.filter((_, at) => news[at])
  if (changed.length > 0) await store.putRecords(epoch, changed)
  await turns.pause()
  for (const record of dropped) await store.dropRecord(epoch, record.key)
  const gone = dropped
    .filter((record) => isGuest(record.type))
    .map(
      (record): NewEvent => ({
        atMs: nowMs,
        key: record.key,
        type: 'Normal',
        ...farewell(record, records),
      }),
    )
  if (events.length + gone.length > 0) await store.appendEvents(epoch, [...events, ...gone])
  if (completes) await store.markComplete(epoch)
}

/** A guest under another key still exists. */
function farewell(record: ResourceRecord, now: readonly ResourceRecord[]): Pick<NewEvent, 'reason' | 'message'> {
  const id = record.externalId
  const heir = now.find(
    (one) => id !== undefined && one.externalId === id && one.connection === record.connection && isGuest(one.type),
  )
  if (heir !== undefined) return { reason: 'Renamed', message: `id ${id ?? '?'} is ${heir.key} now` }
  return { reason: 'Gone', message: `id ${id ?? '?'} is no longer there` }
}

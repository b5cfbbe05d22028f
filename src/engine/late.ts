import { defined } from '../lib/defined.ts'
import { causeOf } from '../lib/failed-on.ts'
import { isRecord } from '../lib/is-record.ts'
import { ownerOf, type ResourceKey } from '../model/declaration.ts'
import { clusterName, type Estate, type KeptChoices } from '../model/estate.ts'
import { type ForeignObject, foreignKey, type PermittedRead } from '../model/foreign-object.ts'
import type { ConnectionNote } from '../model/plan.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { KnownObject, KnownObjects } from '../model/waiting.ts'
import type { ExistingClusters, OpenClient } from './existing-clusters.ts'
import type { Observation } from './observation.ts'
import { clusterSelf, selfOf } from './ready-when.ts'
import { observedFrom } from './resource-passes.ts'

/** The observed values of an engine that declarations use: the next pass starts with them. */
export interface LateMemory {
  known: KnownObjects
  /** Machines' own values, from close looks. */
  kept: KeptChoices
}

export function nothingSeen(): LateMemory {
  return { known: new Map(), kept: new Map() }
}

/** Returns the estate with the values of the last observation. */
export function asSeen(inGit: Estate, { known }: LateMemory): Estate {
  return inGit.later === undefined || known.size === 0 ? inGit : inGit.later.settle(known)
}

/** The same after evaluating the needed expressions. */
export async function asSeenSoon(inGit: Estate, late: LateMemory): Promise<Estate> {
  if (late.known.size > 0) await inGit.later?.prepare?.(late.known)
  return asSeen(inGit, late)
}

/** Returns the live objects of declarations by key: as a status, or for an object of a cluster the object. Pure. */
export function seenOf(
  estate: Estate,
  { plan, worlds }: Pick<Observation, 'plan' | 'worlds'>,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
): KnownObjects {
  const found = new Map<ResourceKey, KnownObject>()
  const entries = new Map(plan.entries.map((entry) => [entry.key, entry]))
  for (const resource of estate.resources) {
    const owner = ownerOf(resource.key)
    const entry = entries.get(resource.key)
    const world = entry === undefined ? undefined : worlds.get(entry.connection)
    const record = records.get(resource.key)
    if (entry === undefined || world === undefined || entry.action.do === 'create' || found.has(owner)) continue
    const observed = observedFrom(entry, record?.list, world, resource.policy, record)
    if (observed === undefined || record === undefined) continue
    const ready = record.conditions.find(({ type }) => type === 'Ready')
    const { status } = selfOf(
      resource,
      observed,
      {
        ready: ready?.status === 'True',
        reason: ready?.reason ?? '',
        message: ready?.message ?? '',
        status: record.status,
      },
      record,
    )
    if (!isRecord(status)) continue
    const { object, uptimeSeconds: _, ...rest } = status
    const source = resource.bounds?.source
    found.set(owner, { status: rest, ...(isRecord(object) ? { object } : {}), ...defined({ source }) })
  }
  for (const { key, name } of estate.clusters ?? []) {
    const record = records.get(key)
    const status = record === undefined ? undefined : clusterSelf(name, record).status
    if (isRecord(status)) found.set(key, { status })
  }
  return found
}

/** Reads the cluster objects that provide values for declarations. Unreadable ones are unknown. */
export async function readForeign(
  estate: Estate,
  clusters: ExistingClusters,
  signal: AbortSignal,
): Promise<{ readonly known: KnownObjects; readonly notes: readonly ConnectionNote[] }> {
  const found = new Map<string, KnownObject>()
  const notes: ConnectionNote[] = []
  for (const [key, one] of new Map(estate.later?.reads.map((read) => [foreignKey(read), read]))) {
    const connection = estate.connections.find((each) => clusterName(each) === one.cluster && isCluster(each))
    if (connection === undefined) continue
    try {
      const client = await clusters.client(connection, signal)
      if ('problem' in client) continue
      const object = await readObject(client, one, signal)
      if (object !== undefined) found.set(key, { object })
    } catch (error) {
      if (signal.aborted) throw error
      const message = `croft failed while it read ${one.kind} ${one.name}: ${causeOf(error)}`
      notes.push({ connection: connection.name, code: 'incomplete', message, allow: 'croft reads it again' })
    }
  }
  return { known: found, notes }
}

function isCluster({ cluster, existing }: Estate['connections'][number]): boolean {
  return cluster !== undefined || existing !== undefined
}

async function readObject(
  client: OpenClient,
  { apiVersion, kind, namespace, name }: PermittedRead<ForeignObject>,
  signal: AbortSignal,
) {
  const top = `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion.split('/').map(encodeURIComponent).join('/')}`
  const listed = await client.get(top, signal)
  if (listed.is !== 'answer' || !Array.isArray(listed.value.resources)) return undefined
  const served = listed.value.resources.find(
    (one: unknown) => isRecord(one) && one.kind === kind && typeof one.name === 'string' && !one.name.includes('/'),
  )
  if (!isRecord(served)) return undefined
  const space = served.namespaced === true ? `namespaces/${encodeURIComponent(namespace ?? 'default')}/` : ''
  const asked = await client.get(`${top}/${space}${String(served.name)}/${encodeURIComponent(name)}`, signal)
  return asked.is === 'answer' ? asked.value : undefined
}

import type { ResourceKey } from '../../model/declaration.ts'
import type { ResourceRecord } from '../../model/record.ts'

/** In the record of a cluster: the keys of its servers' machines, if croft created all of them. */
export const SERVERS = 'servers'

/** In the record of a cluster: its nodes that this directory declares, or declared and that have not left yet. */
export const MEMBERS = 'members'

/** In the record of a cluster: the boxes of its nodes, as `node=box`; those of former nodes until K3s is removed. */
export const BOXES = 'boxes'

/** The nodes of a record by name, each with its box. */
export function boxesIn(record: ResourceRecord | undefined): ReadonlyMap<string, string> {
  const pairs = (record?.details?.[BOXES] ?? '').split(' ').filter((pair) => pair !== '')
  return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}

/** What to do with clusters that Git no longer declares. */
export interface DepartedClusters {
  /** Their servers still exist: they are not over, and must not be formed a second time. */
  readonly leaving: readonly ResourceRecord[]
  /** Their servers are gone, with all data of etcd. Declared again, they are formed as new clusters. */
  readonly over: readonly ResourceRecord[]
}

/**
 * Returns clusters that Git no longer declares. `records` are those after this pass: they still include an orphaned
 * server, and one that could not be seen.
 */
export function departedClusters(
  dropped: readonly ResourceRecord[],
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
): DepartedClusters {
  const leaving: ResourceRecord[] = []
  const over: ResourceRecord[] = []
  for (const record of dropped) {
    const servers = record.type === 'cluster' ? (record.details?.[SERVERS] ?? '').split(' ') : []
    if (servers.every((key) => key === '')) continue
    if (servers.some((key) => records.has(key as ResourceKey))) leaving.push({ ...record, status: 'Leaving' })
    else over.push(record)
  }
  return { leaving, over }
}

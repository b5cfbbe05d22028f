import type { DriverDeps, KubernetesWay } from '../drivers/port.ts'
import { cleanText } from '../lib/clean-text.ts'
import { isRecord } from '../lib/is-record.ts'
import type { Connection } from '../model/estate.ts'
import type { ProbeAnswer } from '../model/health-check.ts'

export type OpenClient = Extract<Awaited<ReturnType<KubernetesWay['find']>>, { readonly is: 'open' }>['client']

/** Clients of cluster APIs for checks, power and values. Each is opened once. */
export interface ExistingClusters {
  client(connection: Connection, signal: AbortSignal): Promise<OpenClient | { readonly problem: string }>
  close(): Promise<void>
}

export function createExistingClusters(deps: Pick<DriverDeps, 'kubernetes'>): ExistingClusters {
  const ways = new Map<string, { readonly declared: string; readonly way: KubernetesWay }>()
  return {
    async client(connection, signal) {
      const declared = JSON.stringify(connection, mapsAsLists)
      const before = ways.get(connection.name)
      const isSame = before?.declared === declared
      if (before !== undefined && !isSame) await before.way.close()
      const way = isSame ? before.way : deps.kubernetes?.(connection)
      if (way === undefined) return { problem: 'nothing here can speak to clusters' }
      ways.set(connection.name, { declared, way })
      const found = await way.find(signal)
      if (found.is === 'open') return found.client
      return { problem: found.is === 'away' ? found.message : 'it is not there' }
    },
    async close() {
      await Promise.all([...ways.values()].map(({ way }) => way.close()))
      ways.clear()
    },
  }
}

/** A managed cluster has its boxes in a map, which JSON would drop. */
function mapsAsLists(_key: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value
}

/** Reports whether its API answers and all nodes are ready. Without the right to list nodes only the first is known. */
export async function askExisting(
  connection: Connection,
  clusters: ExistingClusters,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const client = await clusters.client(connection, signal)
  if ('problem' in client) return { passed: 'no', output: `its API does not answer: ${client.problem}` }
  const asked = await client.list('/api/v1/nodes', {}, signal)
  if (asked.is === 'silence') return { passed: 'no', output: `its API does not answer: ${asked.message}` }
  if (asked.is === 'error')
    return asked.status === 403
      ? { passed: 'yes', output: 'its API answers; its nodes may not be listed' }
      : { passed: 'no', output: asked.refusal.message }
  const unready = asked.value.filter((node) => !isReady(node)).map(nameOf)
  return unready.length === 0
    ? { passed: 'yes', output: 'all nodes are ready' }
    : { passed: 'no', output: `not ready: ${unready.join(', ')}` }
}

function isReady({ status }: Readonly<Record<string, unknown>>): boolean {
  const conditions: unknown = isRecord(status) ? status.conditions : undefined
  return (
    Array.isArray(conditions) &&
    conditions.some((one: unknown) => isRecord(one) && one.type === 'Ready' && one.status === 'True')
  )
}

function nameOf({ metadata }: Readonly<Record<string, unknown>>): string {
  return isRecord(metadata) && typeof metadata.name === 'string' ? cleanText(metadata.name, 253) : '?'
}

import {
  type ClusterRequests,
  NO_REQUESTS,
  type ObservedCluster,
  type Remediation,
} from '../../model/observed-cluster.ts'
import { standingForgets } from '../../plan/clusters/forget.ts'
import { standingOrders } from '../../plan/clusters/orders.ts'
import { remediationsOver } from '../../plan/clusters/remediation-over.ts'
import { activeRequests, type Store } from '../../store/port.ts'

/** Returns the store's name for people's orders about a cluster. */
export function requestsName(cluster: string): `cluster-orders/${string}` {
  return `cluster-orders/${cluster}`
}

function journalName(cluster: string): string {
  return `cluster-journal/${cluster}`
}

/** Returns people's orders by command that are neither done nor withdrawn. */
export async function readRequests(store: Pick<Store, 'getValue'>, cluster: string): Promise<ClusterRequests> {
  return activeRequests(store, requestsName(cluster), NO_REQUESTS)
}

/** Returns the replacements of dead nodes that croft started, by node. */
export async function readRemediations(
  store: Pick<Store, 'getValue'>,
  cluster: string,
): Promise<ReadonlyMap<string, Remediation>> {
  const text = await store.getValue(journalName(cluster))
  if (text === undefined) return new Map()
  const kept = JSON.parse(text) as Record<string, number | Remediation>
  // An older croft stored only the time, not whether the replacement is over: then no machine is destroyed for it.
  return new Map(
    Object.entries(kept).map(([node, begun]) => [
      node,
      typeof begun === 'number' ? { atMs: begun, over: true } : begun,
    ]),
  )
}

/** Stored before the first step of a replacement, so that a crash cannot lead to a second one. */
export async function noteRemediation(
  store: Store,
  epoch: number,
  cluster: string,
  node: string,
  nowMs: number,
): Promise<void> {
  const before = await readRemediations(store, cluster)
  await keep(store, epoch, cluster, new Map([...before, [node, { atMs: nowMs }]]))
}

/** Stored before any effect of a pass: the next machine must not be mistaken for the destroyed one. */
export async function noteRemediationsOver(
  store: Store,
  epoch: number,
  cluster: string,
  remediations: ReadonlyMap<string, Remediation>,
  observed: ObservedCluster,
): Promise<void> {
  const over = remediationsOver(remediations, observed)
  if (over.length === 0) return
  const ended = over.map((node) => [node, { atMs: remediations.get(node)?.atMs ?? 0, over: true }] as const)
  await keep(store, epoch, cluster, new Map<string, Remediation>([...remediations, ...ended]))
}

/** Binds orders to their machines, and ends those whose machine is gone, before any effect of a pass. */
export async function noteOrders(store: Store, cluster: string, observed: ObservedCluster): Promise<void> {
  const requests = await readRequests(store, cluster)
  const replace = standingOrders(requests.replace, observed)
  const forget = standingForgets(requests.forget ?? [], observed)
  if (JSON.stringify([replace, forget]) !== JSON.stringify([requests.replace, requests.forget ?? []]))
    await store.putRequests(requestsName(cluster), JSON.stringify({ ...requests, replace, forget }))
}

function keep(store: Store, epoch: number, cluster: string, all: ReadonlyMap<string, Remediation>): Promise<void> {
  return store.putValue(epoch, journalName(cluster), JSON.stringify(Object.fromEntries(all)))
}

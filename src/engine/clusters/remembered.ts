import type { ClusterOrders } from '../../model/observed-cluster.ts'
import { NO_ORDERS } from '../../model/observed-cluster.ts'
import { type Store, standingOrders } from '../../store/port.ts'

/** Under which name the store keeps what people asked of a cluster. */
export function ordersName(cluster: string): `cluster-orders/${string}` {
  return `cluster-orders/${cluster}`
}

function journalName(cluster: string): string {
  return `cluster-journal/${cluster}`
}

/** What people asked for by command, and has not been done or withdrawn. */
export async function readOrders(store: Pick<Store, 'getValue'>, cluster: string): Promise<ClusterOrders> {
  return standingOrders(store, ordersName(cluster), NO_ORDERS)
}

/** When croft last began to replace each node because it was dead. */
export async function readRemediations(
  store: Pick<Store, 'getValue'>,
  cluster: string,
): Promise<ReadonlyMap<string, number>> {
  const text = await store.getValue(journalName(cluster))
  return new Map(text === undefined ? [] : Object.entries(JSON.parse(text) as Record<string, number>))
}

/** Written before the first step of a replacement: a crash must not make room for a second one. */
export async function noteRemediation(
  store: Store,
  epoch: number,
  cluster: string,
  node: string,
  nowMs: number,
): Promise<void> {
  const before = await readRemediations(store, cluster)
  await store.putValue(epoch, journalName(cluster), JSON.stringify({ ...Object.fromEntries(before), [node]: nowMs }))
}

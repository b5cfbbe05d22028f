import { type ClusterOrders, NO_ORDERS } from '../../model/observed-cluster.ts'
import type { Store } from '../../store/port.ts'
import { CliError } from '../exit.ts'

/** Changes what people have ordered of a cluster. Whoever is at work on the same database sees it with its next look. */
export async function changeOrders(
  store: Store,
  cluster: string,
  change: (orders: ClusterOrders) => ClusterOrders,
): Promise<ClusterOrders> {
  const name = `cluster-orders/${cluster}` as const
  const text = await store.getValue(name)
  const before: ClusterOrders =
    text === undefined ? NO_ORDERS : { ...NO_ORDERS, ...(JSON.parse(text) as Partial<ClusterOrders>) }
  const after = change(before)
  if (store.putOrder === undefined)
    throw new CliError('This store takes no orders. Use the database of the controller.')
  await store.putOrder(name, JSON.stringify(after))
  return after
}

/** Without the field: an absent order and one that is undefined are not the same. */
export function withoutOrder<K extends 'hold' | 'rolloutAborted'>(orders: ClusterOrders, key: K): ClusterOrders {
  const { [key]: _, ...rest } = orders
  return rest as ClusterOrders
}

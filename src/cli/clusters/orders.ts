import { type ClusterOrders, NO_ORDERS } from '../../model/observed-cluster.ts'
import type { Store } from '../../store/port.ts'
import { changeOrder } from '../change-order.ts'

/** Changes what people have ordered of a cluster; answers what stands now. */
export function changeOrders(
  store: Store,
  cluster: string,
  change: (orders: ClusterOrders) => ClusterOrders,
): Promise<ClusterOrders> {
  return changeOrder(store, `cluster-orders/${cluster}`, NO_ORDERS, change)
}

/** Without the field: an absent order and one that is undefined are not the same. */
export function withoutOrder<K extends 'hold' | 'rolloutAborted'>(orders: ClusterOrders, key: K): ClusterOrders {
  const { [key]: _, ...rest } = orders
  return rest as ClusterOrders
}

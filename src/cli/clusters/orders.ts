import { defined } from '../../lib/defined.ts'
import { type ClusterOrders, NO_ORDERS, type OperationEffect } from '../../model/observed-cluster.ts'
import { activeOrders, type OrderName, type Store } from '../../store/port.ts'

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

/** With the step that a command is about to do. It stands in the hold of the command; where nobody holds, nobody waits. */
export function withEffect(orders: ClusterOrders, effect: OperationEffect | undefined): ClusterOrders {
  if (orders.hold === undefined) return orders
  const { effect: _before, ...hold } = orders.hold
  return { ...orders, hold: { ...hold, ...defined({ effect }) } }
}

/**
 * Changes what people have ordered under a name, and answers what stands now. Whoever is at work on the same database
 * sees it with its next look.
 */
export async function changeOrder<Orders extends object>(
  store: Store,
  name: OrderName,
  none: Orders,
  change: (orders: Orders) => Orders,
): Promise<Orders> {
  const after = change(await activeOrders(store, name, none))
  await store.putOrder(name, JSON.stringify(after))
  return after
}

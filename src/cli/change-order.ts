import { type OrderName, type Store, standingOrders } from '../store/port.ts'

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
  const after = change(await standingOrders(store, name, none))
  await store.putOrder(name, JSON.stringify(after))
  return after
}

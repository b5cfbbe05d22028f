import { NO_POWER_ORDERS, type PersonHold, type PowerOrders } from '../../../model/power.ts'
import type { Store } from '../../../store/port.ts'
import { changeOrder } from '../../change-order.ts'

/** Changes what people have ordered, as the controller reads it; answers what stands now. */
export function changeOrders(
  store: Store,
  power: string,
  change: (orders: PowerOrders) => PowerOrders,
): Promise<PowerOrders> {
  return changeOrder(store, `power-orders/${power}`, NO_POWER_ORDERS, change)
}

/** One hold for each person, the newest; what is over is forgotten. */
export function held(orders: PowerOrders, hold: PersonHold): PowerOrders {
  const others = orders.holds.filter(({ by, untilMs }) => by !== hold.by && untilMs > hold.sinceMs)
  return { ...orders, holds: [...others, hold] }
}

/** Undefined: everybody's. */
export function released(orders: PowerOrders, whose: string | undefined): PowerOrders {
  return { ...orders, holds: orders.holds.filter(({ by }) => whose !== undefined && by !== whose) }
}

import { NO_POWER_ORDERS, type PersonHold, type PowerOrders } from '../../../model/power.ts'
import type { Store } from '../../../store/port.ts'
import { CliError } from '../../exit.ts'

/** Changes what people have ordered, as the controller reads it; answers what stands now. */
export async function changeOrders(
  store: Store,
  power: string,
  change: (orders: PowerOrders) => PowerOrders,
): Promise<PowerOrders> {
  const name = `power-orders/${power}` as const
  const text = await store.getValue(name)
  const before =
    text === undefined ? NO_POWER_ORDERS : { ...NO_POWER_ORDERS, ...(JSON.parse(text) as Partial<PowerOrders>) }
  const after = change(before)
  if (store.putOrder === undefined)
    throw new CliError('This store takes no orders. Use the database of the controller.')
  await store.putOrder(name, JSON.stringify(after))
  return after
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

import type { Estate } from '../model/estate.ts'
import type { Store } from '../store/port.ts'

/**
 * The estate with those hosts on which something is left that croft did, although Git wants nothing of them any more:
 * it is taken back there, and then they are left in peace.
 */
export async function withFormerHosts(estate: Estate, store: Pick<Store, 'records'>): Promise<Estate> {
  const idle = estate.idleHosts ?? []
  if (idle.length === 0) return estate
  const records = await store.records()
  const former = idle.filter(({ name }) => records.some((one) => one.type === 'item' && one.connection === name))
  return former.length === 0 ? estate : { ...estate, connections: [...estate.connections, ...former] }
}

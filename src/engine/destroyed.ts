import type { Admitted } from '../plan/admit.ts'
import type { DestroyedSoFar } from '../plan/things/world.ts'
import type { Store } from '../store/port.ts'

const NAME = 'destroyed-so-far'

export async function readDestroyed(store: Pick<Store, 'getValue'>): Promise<DestroyedSoFar | undefined> {
  const text = await store.getValue(NAME)
  return text === undefined ? undefined : (JSON.parse(text) as DestroyedSoFar)
}

/**
 * Writes down what these steps destroy, before they are performed: the blast radius of a revision is counted over all its passes, and
 * what is gone shows in no survey. What the coordinator of a cluster replaces goes one node at a time, under its own guard.
 */
export async function noteDestroyed(
  store: Pick<Store, 'getValue' | 'putValue'>,
  epoch: number,
  revision: string,
  admitted: readonly Admitted[],
): Promise<void> {
  const going = admitted.filter(
    ({ doing, step }) =>
      step.verb === 'delete' && (doing.do === 'delete' || (doing.do === 'replace' && doing.changes.length > 0)),
  )
  if (going.length === 0) return
  const before = await readDestroyed(store)
  const things = new Map((before?.revision === revision ? before.things : []).map((one) => [one.key, one]))
  for (const { entry } of going) {
    const { key, connection, type } = entry
    things.set(key, { key, connection, type })
  }
  await store.putValue(epoch, NAME, JSON.stringify({ revision, things: [...things.values()] }))
}

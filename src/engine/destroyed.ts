import { defined } from '../lib/defined.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Admitted } from '../plan/admit.ts'
import { destroyedBy, revisionOf } from '../plan/things/source-share.ts'
import type { DestroyedSoFar } from '../plan/things/world.ts'
import type { Store } from '../store/port.ts'

const NAME = 'destroyed-so-far'

export async function readDestroyed(store: Pick<Store, 'getValue'>): Promise<DestroyedSoFar | undefined> {
  const text = await store.getValue(NAME)
  return text === undefined ? undefined : (JSON.parse(text) as DestroyedSoFar)
}

/** Losses that a revision causes, not a coordinator. */
const REVISION: ReadonlySet<string | undefined> = new Set(['removed', 'changed'])

/**
 * Records what these steps destroy before they run: a revision's blast radius counts over all its passes, and no survey
 * shows what is gone. A coordinator replaces nodes one at a time, under a separate guard.
 */
export async function noteDestroyed(
  store: Pick<Store, 'getValue' | 'putValue'>,
  epoch: number,
  { resources, ...estate }: Pick<Estate, 'revision' | 'quotas' | 'resources'>,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
  admitted: readonly Admitted[],
): Promise<void> {
  const going = admitted.filter(({ step: { verb, destroys } }) => verb === 'delete' && REVISION.has(destroys?.because))
  if (going.length === 0) return
  const before = await readDestroyed(store)
  const things = new Map(destroyedBy(estate, before).map((one) => [one.key, { revision: before?.revision, ...one }]))
  const declared = new Map(resources.map((one) => [one.key, one]))
  for (const { entry } of going) {
    const { key, connection, type } = entry
    const { declaredBy } = declared.get(key) ?? records.get(key) ?? {}
    const source = declared.has(key) ? declared.get(key)?.bounds?.source : records.get(key)?.source
    const revision = revisionOf(estate, source)
    things.set(key, { key, connection, type, revision, ...defined({ source, declaredBy }) })
  }
  const { revision } = estate
  await store.putValue(epoch, NAME, JSON.stringify({ revision, things: [...things.values()] }))
}

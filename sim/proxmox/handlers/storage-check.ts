import type { StorageEntry } from '../../world/parts.ts'
import type { Host, World } from '../../world/types.ts'
import { badParameter, failed } from '../api-error.ts'

/** The storage as a host may use it, or why not, in the words of the daemon. */
export function requireEnabled(world: World, node: string, id: string): StorageEntry {
  const entry = world.storages.get(id)
  if (entry === undefined) throw failed(`storage '${id}' does not exist`)
  if (entry.disabled) throw failed(`storage '${id}' is disabled`)
  if (entry.nodes !== undefined && !entry.nodes.includes(node))
    throw failed(`storage '${id}' is not available on node '${node}'`)
  return entry
}

export function requireImages(world: World, host: Host, id: string): StorageEntry {
  const entry = requireEnabled(world, host.name, id)
  if (!entry.content.includes('images')) throw badParameter('storage', `storage '${id}' does not support vm images`)
  return entry
}

import { may } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Call } from '../../call.ts'
import { shelf, textOf } from '../shelf.ts'

export type CopyKind = 'clone' | 'move' | 'restore'

/**
 * How many bytes a second somebody may copy between these storages. What the call says counts where the caller may
 * allocate on them; else the smallest limit of the storages does, and where one has none, the datacentre's. 0 is no limit.
 */
export function copyRate(call: Call, kind: CopyKind, storages: readonly (string | undefined)[]): number {
  return slowed(call, limitOf(call, kind, new Set(storages.filter((id) => id !== undefined))))
}

/** The same for a backup, which knows no limit but its own. */
export function dumpRate(call: Call): number {
  return slowed(call, Number(call.params.bwlimit ?? 0))
}

function slowed(call: Call, kibPerSecond: number): number {
  const own = call.world.timing.cloneBytesPerSecond
  return kibPerSecond > 0 ? Math.min(own, kibPerSecond * 1024) : own
}

function limitOf(call: Call, kind: CopyKind, storages: ReadonlySet<string>): number {
  const { world, who, params } = call
  const asked = params.bwlimit !== undefined
  const has = (path: string, privilege: string) => asked && may(world, who, path, privilege)
  let limit = Number(params.bwlimit ?? 0)
  if (has('/storage', 'Datastore.Allocate')) return limit
  let unsaid = storages.size === 0
  const apply = (text: unknown) => {
    const { named } = parseProperties(textOf(text))
    const value = named.get(kind) ?? named.get('default')
    if (value === undefined) unsaid = true
    else if (limit === 0 || Number(value) < limit) limit = Number(value)
  }
  for (const id of storages)
    if (!has(`/storage/${id}`, 'Datastore.Allocate')) apply(world.storages.get(id)?.options.bwlimit)
  if (unsaid && !has('/', 'Sys.Modify')) apply(shelf(world, 'options').get('datacenter')?.bwlimit)
  return limit
}

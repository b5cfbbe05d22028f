import { may } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Call } from '../../call.ts'
import { shelf, textOf } from '../shelf.ts'

export type CopyKind = 'clone' | 'move' | 'restore'

/** How many bytes a second are copied under a limit in KiB. */
export function rateUnder(call: Call, kibPerSecond = 0): number {
  const own = call.world.timing.cloneBytesPerSecond
  return kibPerSecond > 0 ? Math.min(own, kibPerSecond * 1024) : own
}

/**
 * Returns the limit for a copy between these storages, in KiB a second. What the call says counts where the caller may
 * allocate on them; else the smallest limit of the storages does, and where one has none, the datacentre's. 0 is no limit.
 */
export function copyLimit(call: Call, kind: CopyKind, between: readonly (string | undefined)[]): number | undefined {
  const storages = new Set(between.filter((id) => id !== undefined))
  const { world, who, params } = call
  const asked = params.bwlimit !== undefined
  const has = (path: string, privilege: string) => asked && may(world, who, path, privilege)
  let limit = asked ? Number(params.bwlimit) : undefined
  if (has('/storage', 'Datastore.Allocate')) return limit
  let unsaid = storages.size === 0
  const apply = (text: unknown) => {
    const { named } = parseProperties(textOf(text))
    const value = named.get(kind) ?? named.get('default')
    if (value === undefined) unsaid = true
    else if (!limit || Number(value) < limit) limit = Number(value)
  }
  for (const id of storages)
    if (!has(`/storage/${id}`, 'Datastore.Allocate')) apply(world.storages.get(id)?.options.bwlimit)
  if (unsaid && !has('/', 'Sys.Modify')) apply(shelf(world, 'options').get('datacenter')?.bwlimit)
  return limit
}

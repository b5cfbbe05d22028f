import type { World } from '../../../world/types.ts'
import { shelf, textOf } from '../shelf.ts'

/** What hosts together are called. Undefined: there is one host, and nobody has made a cluster of it. */
export function clusterName(world: World): string | undefined {
  const made = shelf(world, 'corosync').get('cluster')
  if (made !== undefined) return textOf(made.name)
  return world.hosts.size > 1 ? 'sim' : undefined
}

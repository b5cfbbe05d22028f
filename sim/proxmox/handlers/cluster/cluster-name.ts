import type { World } from '../../../world/types.ts'
import { shelf, textOf } from '../shelf.ts'

/** Returns the name of the cluster. Undefined: a single host without a cluster. */
export function clusterName(world: World): string | undefined {
  const made = shelf(world, 'corosync').get('cluster')
  if (made !== undefined) return textOf(made.name)
  return world.hosts.size > 1 ? 'sim' : undefined
}

import { type Origin, showOrigin } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'

/**
 * Returns what a copy of these declarations would still reach outside the simulator, with the places. A rehearsal must
 * not touch any real computer. Pure.
 */
export function realReach(estate: Estate, connection: string): readonly string[] {
  const reach: string[] = []
  const add = (origin: Origin, what: string) => reach.push(`${showOrigin(origin)}: ${what}`)
  for (const { name, driver, endpoint, origin, existing, hosts } of estate.connections) {
    if (name === connection && driver === 'proxmox') {
      for (const [host, { address, local }] of Object.entries(hosts ?? {}))
        add(origin, `Host ${host} is ${local === true ? 'this computer' : `reached over SSH at ${address}`}`)
    } else if (driver !== 'kubernetes' || existing !== undefined)
      add(origin, `${driver} connection ${name} to ${endpoint}`)
  }
  for (const { key, origin, proxy, hosts, otherHosts } of estate.clusters ?? []) {
    if (proxy !== undefined) add(origin, `${key} is reached through its own proxy ${proxy}`)
    if (hosts.size + (otherHosts?.size ?? 0) > 0) add(origin, `${key} has nodes that are reached over SSH`)
  }
  for (const { key, origin } of estate.powers ?? []) add(origin, `${key} switches real computers`)
  return reach
}

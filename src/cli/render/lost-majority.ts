import type { ObservedCluster } from '../../model/observed-cluster.ts'

/**
 * A cluster that cannot say how many votes it has, because most of its servers are off: what its machines show. Undefined
 * where votes are seen, where enough servers run, before it was ever formed, and where a person wants it so.
 */
export function lostMajority({ members, identity, nodes, requests }: ObservedCluster): string | undefined {
  if (members !== 'unknown' || identity?.formed !== true) return undefined
  // Whoever switched it off, or holds it, knows.
  if (requests.hold !== undefined) return undefined
  const servers = nodes.filter(({ role }) => role === 'server')
  const off = servers.filter(({ machine }) => machine.power === 'off').length
  const needed = Math.floor(servers.length / 2) + 1
  if (off === 0 || servers.length - off >= needed) return undefined
  return `${off} of ${servers.length} servers are off and etcd needs ${needed} that run: the API stands still until they are started`
}

import type { ClusterExperiments } from './cluster-experiments.ts'

/** Calls at the simulator's own door that are about clusters and boxes. Undefined: there is no such call. */
export function serveClusterDoor(
  experiments: ClusterExperiments,
  method: string,
  path: string,
  body: () => Record<string, unknown>,
): unknown {
  const done = { ok: true }
  if (method === 'GET' && path === '/sim/clusters') return experiments.clusters()
  if (method === 'POST' && path === '/sim/wake') {
    experiments.wakeBox(String(body().mac))
    return done
  }
  if (method === 'POST' && path === '/sim/evictions') {
    const { pod, blocked } = body()
    if (typeof pod !== 'string') throw new Error('pod must be "namespace/name"')
    experiments.blockEviction(pod, blocked !== false)
    return done
  }
  const [, kind = '', name = '', part] = /^\/sim\/(guests|metal)\/([^/]+)(?:\/(trouble|facts))?$/.exec(path) ?? []
  if (kind === '' || (kind === 'guests' && part === undefined)) return undefined
  const target = kind === 'guests' ? Number(name) : decodeURIComponent(name)
  if (part === 'facts' && method === 'GET') return experiments.nodeFacts(target)
  if (part === 'trouble' && method === 'PATCH') {
    experiments.setTrouble(target, body())
    return done
  }
  if (part !== undefined || typeof target === 'number') return undefined
  if (method === 'POST') {
    const { addresses, power } = body()
    if (!Array.isArray(addresses)) throw new Error('addresses must be a list')
    experiments.addBox(target, addresses.map(String), power === 'off' ? 'off' : 'on')
    return done
  }
  if (method === 'PATCH') {
    const { power, bmcRepliesLost } = body()
    if (typeof bmcRepliesLost === 'number') experiments.loseBmcReplies(target, bmcRepliesLost)
    if (power === 'on' || power === 'off' || power === 'crash' || power === 'reboot')
      experiments.boxPower(target, power)
    else if (power !== undefined) throw new Error('power must be on, off, crash or reboot')
    return done
  }
  return undefined
}

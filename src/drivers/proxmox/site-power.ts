import { LookFailed, type SitePower } from '../port.ts'
import type { Api } from './api.ts'
import { recordsOf } from './foreign.ts'

/** Hosts and HA of a Proxmox cluster. */
export function createSitePower(api: Api): SitePower {
  const write = (path: string, params: Readonly<Record<string, string>>, doing: string, signal: AbortSignal) =>
    api.write({ method: 'POST', path, params }, new Map(), { doing }, signal)
  return {
    async highAvailability(signal) {
      try {
        const about = { doing: 'look at HA' }
        const rows = recordsOf(await api.read('/cluster/ha/status/current', about, signal))
        const fencing = rows.find(({ type }) => type === 'fencing')
        const state = fencing?.['armed-state']
        // Before 9.2 it cannot be disarmed, and says nothing of it.
        if (typeof state !== 'string') return 'none'
        if (state === 'disarming' || state === 'disarmed') return state
        return rows.some(({ type }) => type === 'service') ? 'armed' : 'none'
      } catch (error) {
        if (error instanceof LookFailed) return 'unknown'
        throw error
      }
    },
    switchHighAvailability: (armed, signal) =>
      armed
        ? write('/cluster/ha/status/arm-ha', {}, 'arm HA', signal)
        : // Not `freeze`: then a guest that HA looks after could not be stopped by anybody.
          write('/cluster/ha/status/disarm-ha', { 'resource-mode': 'ignore' }, 'disarm HA', signal),
    shutDownHost: (host, signal) =>
      write(`/nodes/${encodeURIComponent(host)}/status`, { command: 'shutdown' }, `shut the host ${host} down`, signal),
  }
}

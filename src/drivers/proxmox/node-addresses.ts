import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { AddressUse } from '../../model/resource.ts'
import { ifObserved } from '../port.ts'
import type { Api } from './api.ts'
import { nameOf, recordsOf } from './foreign.ts'

export type NodeAddresses = (signal: AbortSignal) => Promise<readonly AddressUse[]>

/**
 * Reads the nodes' own addresses from /etc/network/interfaces. Proxmox shows them to every token, even without
 * Sys.Audit. They rarely change, so the answer is cached for a while.
 */
export function createNodeAddresses(api: Api, clock: Clock): NodeAddresses {
  let kept: { readonly atMs: number; readonly found: readonly AddressUse[] } | undefined
  return async (signal) => {
    if (kept !== undefined && clock.now() - kept.atMs < LIMITS.nodeAddressesMs) return kept.found
    const nodes = await readRows(api, '/nodes', 'list the nodes', signal)
    const online = nodes.flatMap(({ node, status }) => (status === 'online' ? (nameOf(node) ?? []) : []))
    const found = await Promise.all(
      online.map(async (node) => {
        const path = `/nodes/${encodeURIComponent(node)}/network`
        return ownAddresses(node, await readRows(api, path, `read the networks of ${node}`, signal))
      }),
    )
    kept = { atMs: clock.now(), found: found.flat() }
    return kept.found
  }
}

function ownAddresses(node: string, cards: Awaited<ReturnType<typeof readRows>>): readonly AddressUse[] {
  return cards.flatMap(({ address, address6 }) =>
    [nameOf(address), nameOf(address6)].flatMap((one) =>
      one === undefined ? [] : [{ address: one.split('/')[0] ?? '', by: `host ${node} itself` }],
    ),
  )
}

async function readRows(api: Api, path: string, doing: string, signal: AbortSignal) {
  // A node that cannot be asked must not stop the creation of others.
  return recordsOf(await ifObserved(() => api.read(path, { doing }, signal)))
}

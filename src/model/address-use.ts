import type { Neighbour } from '../lib/neighbour-probe.ts'

/** An address that somebody on a host's networks has, whether or not any hypervisor knows them. */
export interface AddressUse {
  readonly address: string
  /** The hardware address of whoever has it, in lower case. Absent: nobody could tell. */
  readonly hardware?: string
  /** Who that is, in words: `52:54:00:12:34:56, which answers on the network of pve1`. */
  readonly by: string
}

/** What a host said of its neighbours. Pure. */
export function usedNear(host: string, neighbours: readonly Neighbour[]): readonly AddressUse[] {
  return neighbours.map(({ address, hardware, own }) => {
    if (own) return { address, by: `host ${host} itself` }
    const by = `${hardware ?? 'something'}, which answers on the network of ${host}`
    return { address, by, ...(hardware === undefined ? {} : { hardware }) }
  })
}

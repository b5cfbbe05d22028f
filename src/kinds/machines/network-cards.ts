import type { VmNic } from '../../model/vm.ts'
import type { NetworkSpec } from '../network.ts'
import type { GivenAddress } from './addresses.ts'

/** One network card with its known addresses. */
export interface NetworkCard {
  readonly nic: VmNic
  /** Undefined is DHCP. */
  readonly given: GivenAddress | undefined
  readonly network: NetworkSpec | undefined
  readonly ipv6: string | undefined
}

/** The addresses of one card as all ways to set them up need them: a seed, Proxmox's own cloud-init, a container. */
export interface CardSettings {
  readonly v4: string
  readonly gateway4: string | undefined
  readonly v6: string | undefined
  readonly gateway6: string | undefined
}

/** Returns the cards' settings, with one default route per family: that of the first network with a gateway. */
export function addressingOf(cards: readonly NetworkCard[]): readonly CardSettings[] {
  const routed = cards.findIndex(({ given, network }) => given !== undefined && network?.gateway !== undefined)
  const routed6 = cards.findIndex(({ ipv6, network }) => ipv6?.includes('/') && network?.gateway6 !== undefined)
  return cards.map(({ given, network, ipv6 }, index) => ({
    v4: given === undefined ? 'dhcp' : `${given.address}/${given.prefix}`,
    gateway4: index === routed ? network?.gateway : undefined,
    v6: ipv6,
    gateway6: index === routed6 ? network?.gateway6 : undefined,
  }))
}

/** The name servers of the first network that has some. */
export function dnsOf(cards: readonly NetworkCard[]): NetworkSpec['dns'] {
  return cards.find(({ network }) => network?.dns !== undefined)?.network?.dns
}

import type { Tree, TreeMap } from '../model/vm.ts'

/** The desired addressing of one network card. */
export interface CardAddressing {
  /** For people: the card is matched by its hardware address alone. */
  readonly id: string
  readonly mac: string
  /** `dhcp`, or an address with its prefix. */
  readonly v4?: string
  readonly gateway4?: string
  /** `dhcp`, `auto` (router advertisements), or an address with its prefix. */
  readonly v6?: string
  readonly gateway6?: string
  readonly nameservers?: readonly string[]
  readonly search?: readonly string[]
  readonly mtu?: number
}

/**
 * Returns version 2, in the subset that all renderers of cloud-init support: no `gateway4`, which netplan calls
 * obsolete, no `to: default`, which older ones do not know, and no interface names.
 */
export function networkConfig(cards: readonly CardAddressing[]): TreeMap {
  return { version: 2, ethernets: Object.fromEntries(cards.map((card) => [card.id, ethernet(card)])) }
}

function ethernet(card: CardAddressing): TreeMap {
  const fixed = [card.v4, card.v6].filter((text) => text?.includes('/') === true) as string[]
  const routes: Tree[] = []
  if (card.gateway4 !== undefined) routes.push({ to: '0.0.0.0/0', via: card.gateway4 })
  if (card.gateway6 !== undefined) routes.push({ to: '::/0', via: card.gateway6 })
  const nameservers: Record<string, Tree> = {}
  if (card.nameservers !== undefined && card.nameservers.length > 0) nameservers.addresses = [...card.nameservers]
  if (card.search !== undefined && card.search.length > 0) nameservers.search = [...card.search]
  return {
    match: { macaddress: card.mac.toLowerCase() },
    dhcp4: card.v4 === 'dhcp',
    dhcp6: card.v6 === 'dhcp',
    // A fixed address excludes further ones, and boot must not wait for a missing router.
    ...(card.v6 === undefined ? {} : { 'accept-ra': card.v6 === 'auto' || card.v6 === 'dhcp' }),
    ...(fixed.length === 0 ? {} : { addresses: fixed }),
    ...(routes.length === 0 ? {} : { routes }),
    ...(Object.keys(nameservers).length === 0 ? {} : { nameservers }),
    ...(card.mtu === undefined ? {} : { mtu: card.mtu }),
  }
}

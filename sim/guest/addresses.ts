import { parseProperties } from '../world/properties.ts'
import type { Guest } from '../world/types.ts'
import { isBare } from './machine.ts'

/** Addresses of one card with their prefix lengths, before a person adds more. */
export function cardAddresses(guest: Guest, number: number, mac: string): readonly (readonly [string, number])[] {
  // Nothing in it reads what cloud-init would.
  if (isBare(guest)) return []
  const cards = guest.inside?.cards
  if (cards === undefined) return [ipv4(guest, number)]
  const card = cards.get(mac)
  const fixed = (card?.addresses ?? []).map((text): [string, number] => {
    const [ip = '', prefix = ''] = text.split('/')
    return [ip, Number(prefix)]
  })
  return card?.dhcp === true ? [ipv4(guest, number), ...fixed] : fixed
}

/** Every address under which the guest is reached, the first card's first. */
export function guestAddresses(guest: Guest): readonly string[] {
  const cards = [...guest.config].filter(([key]) => /^net\d+$/.test(key)).sort(([a], [b]) => (a < b ? -1 : 1))
  const byHand = [...(guest.machine?.addresses.values() ?? [])].flat().map((text) => text.replace(/\/.*/, ''))
  const own = cards.flatMap(([key, value]) => {
    const mac = /=((?:[0-9A-F]{2}:){5}[0-9A-F]{2})/i.exec(value)?.[1]?.toLowerCase() ?? ''
    return cardAddresses(guest, Number(key.slice(3)), mac).map(([ip]) => ip)
  })
  return [...new Set([...own, ...byHand])]
}

/** The address from cloud-init, or the one that the site's DHCP server keeps for this guest. */
function ipv4(guest: Guest, number: number): [string, number] {
  const given = parseProperties(guest.config.get(`ipconfig${number}`) ?? '').named.get('ip') ?? 'dhcp'
  const [ip, prefix] = given.split('/')
  if (ip !== undefined && prefix !== undefined) return [ip, Number(prefix)]
  return [`192.168.${4 + number + Math.floor(guest.vmid / 250)}.${2 + (guest.vmid % 250)}`, 24]
}

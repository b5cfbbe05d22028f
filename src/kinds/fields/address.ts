import { isIPv6 } from 'node:net'
import { z } from 'zod'

const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`)
const IPV4_CIDR = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}/(?:[0-9]|[12][0-9]|3[0-2])$`)

/** Strict: 010.0.0.1 is eight to some programs and ten to others, so it is neither here. */
export const ipv4 = z.string().regex(IPV4, { error: 'an IPv4 address like 192.168.4.20' })
export const ipv4Cidr = z.string().regex(IPV4_CIDR, { error: 'an IPv4 address with its prefix, like 192.168.4.20/24' })
const ipv6 = z.string().refine(isPlainIpv6, { error: 'an IPv6 address like fd00::20' })
const ipv6Cidr = z.string().refine(
  (text) => {
    const [address = '', prefix = '', more] = text.split('/')
    return more === undefined && isPlainIpv6(address) && /^(?:[0-9]|[1-9][0-9]|1[01][0-9]|12[0-8])$/.test(prefix)
  },
  { error: 'an IPv6 address with its prefix, like fd00::20/64' },
)

/** An address of either family with its prefix. */
export const anyCidr = z.string().refine((text) => IPV4_CIDR.test(text) || ipv6Cidr.safeParse(text).success, {
  error: 'an address with its prefix, like 192.168.4.1/24 or fd00::1/64',
})

export const ipAddress = z.string().refine((text) => IPV4.test(text) || isPlainIpv6(text), {
  error: 'an IP address like 192.168.4.1 or fd00::1',
})

/** The syntax of an ipconfig line of Proxmox. */
export const ipv4Setting = z
  .string()
  .refine((text) => text === 'dhcp' || IPV4_CIDR.test(text), { error: 'dhcp, or an address like 192.168.4.20/24' })
export const ipv6Setting = z
  .string()
  .refine((text) => text === 'dhcp' || text === 'auto' || ipv6Cidr.safeParse(text).success, {
    error: 'dhcp, auto, or an address like fd00::20/64',
  })
export const ipv6Gateway = ipv6

/** An IPv4 address as a number. The text must have passed `ipv4`. */
export function ipv4Number(text: string): number {
  return text.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0)
}

export function ipv4Text(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

/** First and last address of a network. The text must have passed `ipv4Cidr`. */
export function ipv4Network(cidr: string): { readonly first: number; readonly last: number; readonly prefix: number } {
  const [address = '0.0.0.0', prefixText = '32'] = cidr.split('/')
  const prefix = Number(prefixText)
  const count = 2 ** (32 - prefix)
  const first = Math.floor(ipv4Number(address) / count) * count
  return { first, last: first + count - 1, prefix }
}

/** Reports whether an address is in a network. The texts must have passed `ipv4` and `ipv4Cidr`. */
export function ipv4InNetwork(address: string, cidr: string): boolean {
  const { first, last } = ipv4Network(cidr)
  const value = ipv4Number(address)
  return value >= first && value <= last
}

/** Refuses a zone (`%eth0`): its name is local to one host. */
function isPlainIpv6(text: string): boolean {
  return !text.includes('%') && isIPv6(text)
}

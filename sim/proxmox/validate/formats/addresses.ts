import { isIPv4, isIPv6 } from 'node:net'
import { type Formats, matching } from './format.ts'
import { isDnsName } from './names.ts'

/** node:net also takes a zone (`fe80::1%eth0`), which is no address here. */
export function isAddress6(text: string): boolean {
  return !text.includes('%') && isIPv6(text)
}

export function isAddress(text: string): boolean {
  return isIPv4(text) || isAddress6(text)
}

/** An address with a prefix length in the range. The ordinary formats want 8 or more: a shorter one is taken for a slip. */
function isNetwork(text: string, version: 4 | 6, shortest: number): boolean {
  const [, address = '', length = ''] = /^([^/]+)\/(\d+)$/.exec(text) ?? []
  const longest = version === 4 ? 32 : 128
  const right = version === 4 ? isIPv4(address) : isAddress6(address)
  return right && Number(length) >= shortest && Number(length) <= longest
}

const SHORTEST = 8

function test(right: (text: string) => boolean, complaint: (text: string) => string): Formats[string] {
  return { judge: (text) => (right(text) ? undefined : complaint(text)) }
}

const NETMASKS: ReadonlySet<string> = new Set(
  Array.from({ length: 33 }, (_, length) => {
    const bits = '1'.repeat(length).padEnd(32, '0')
    return [0, 8, 16, 24].map((at) => Number.parseInt(bits.slice(at, at + 8), 2)).join('.')
  }),
)

export const ADDRESS_FORMATS: Formats = {
  ip: test(isAddress, () => 'value does not look like a valid IP address'),
  ipv4: test(isIPv4, () => 'value does not look like a valid IPv4 address'),
  ipv6: test(isAddress6, () => 'value does not look like a valid IPv6 address'),
  ipv4mask: test(
    (text) => NETMASKS.has(text),
    () => 'value does not look like a valid IP netmask',
  ),
  CIDRv4: test(
    (text) => isNetwork(text, 4, SHORTEST),
    () => 'value does not look like a valid IPv4 CIDR network',
  ),
  CIDRv6: test(
    (text) => isNetwork(text, 6, SHORTEST),
    () => 'value does not look like a valid IPv6 CIDR network',
  ),
  CIDR: test(
    (text) => isNetwork(text, 4, SHORTEST) || isNetwork(text, 6, SHORTEST),
    () => 'value does not look like a valid CIDR network',
  ),
  FullRangeCIDR: test(
    (text) => isNetwork(text, 4, 0) || isNetwork(text, 6, 0),
    () => 'value does not look like a valid CIDR network',
  ),
  // A name or an address. "0" is false to the daemon, which then takes it for no name at all.
  address: test(
    (text) => text !== '0' && (isAddress(text) || isDnsName(text)),
    (text) => `value does not look like a valid address: ${text}`,
  ),
  'pve-ipv4-config': test(
    (text) => text === 'dhcp' || text === 'manual' || isNetwork(text, 4, SHORTEST),
    () => 'value does not look like a valid ipv4 network configuration',
  ),
  'pve-ipv6-config': test(
    (text) => text === 'auto' || text === 'dhcp' || text === 'manual' || isNetwork(text, 6, SHORTEST),
    () => 'value does not look like a valid ipv6 network configuration',
  ),
  'lxc-ip-with-ll-iface': test(
    (text) => isAddress(text) || (/^fe[89ab]/i.test(text) && isAddress6(text.replace(/%\S+$/, ''))),
    () => 'value does not look like a valid IP address',
  ),
  'mac-addr': matching(
    /^[a-f0-9][02468ace](?::[a-f0-9]{2}){5}$/i,
    () => 'value does not look like a valid unicast MAC address',
  ),
  'mac-prefix': matching(
    /^[a-f0-9][02468ace](?::[a-f0-9]{2}){0,2}(?::[a-f0-9]?)?$/i,
    () => 'value is not a valid unicast MAC address prefix',
  ),
}

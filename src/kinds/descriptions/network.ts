import type { Descriptions } from './describe.ts'

export const network: Descriptions = {
  description: 'One line for people.',
  addressPool: 'Name of the AddressPool that addresses come from; without it machines use DHCP.',
  vlan: 'VLAN tag, unless the binding of a Host sets another; without it no tag.',
  gateway: 'IPv4 default gateway of machines with a static address.',
  gateway6: 'IPv6 default gateway of machines with a static address.',
  dns: 'Name resolution of machines that set none.',
  'dns.servers': 'IP addresses of the DNS servers.',
  'dns.domain': 'Search domain.',
  mtu: 'MTU in bytes; without it that of the bridge.',
}

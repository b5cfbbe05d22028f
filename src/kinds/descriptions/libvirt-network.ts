import type { Descriptions } from './describe.ts'

export const libvirtNetwork: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that has the network.',
  mode: 'How guests reach other networks: nat, route, open (no firewall rules), isolated, or bridge (a bridge of the host).',
  bridge: 'With mode bridge the existing bridge of the host; otherwise the name of the bridge that libvirt creates.',
  addresses: 'Addresses of the host in the network with their prefix, at most one of each family.',
  dhcp: 'DHCP range for machines without an address; without it libvirt hands out no leases.',
  'dhcp.from': 'First address of the range.',
  'dhcp.to': 'Last address of the range.',
  dns: 'Whether libvirt answers DNS queries in the network; without it libvirt decides.',
  domain: 'DNS domain of the network.',
  mtu: 'MTU in bytes; without it the default of libvirt.',
  vlan: 'VLAN tag of every card in the network; needs openvswitch: true.',
  openvswitch: 'true if the bridge is an Open vSwitch bridge.',
  autostart: 'Whether the network starts with its host.',
  deletionPolicy: 'What happens to the network when you remove the declaration: Delete or Orphan.',
}

import type { Definition, Field, ListReading } from '../model/rest.ts'
import { blocks, choice, flag, list, named, number, ofType, prose, text, usual } from './fields.ts'

const INTERFACES: ListReading = { path: '/nodes/{host}/network', rows: 'changes' }

const ADDRESSES: Readonly<Record<string, Field>> = {
  address: text('IPv4 address with its prefix, like 10.9.0.1/24.', { api: 'cidr' }),
  gateway: text('IPv4 gateway.'),
  address6: text('IPv6 address with its prefix.', { api: 'cidr6' }),
  gateway6: text('IPv6 gateway.'),
  autostart: flag('Is it brought up when the host starts?', { absent: false }),
  mtu: number('Largest packet.', { min: 1280, max: 65_520 }),
  comment: prose('For people.', { api: 'comments', absent: '' }),
}

/** An interface of a host. Written to a second file first; a separate step loads that file. */
function networkInterface(
  type: string,
  parts: Pick<Definition, 'name' | 'kind' | 'noun' | 'about' | 'fields' | 'exampleName' | 'example'>,
): Definition {
  return {
    list: INTERFACES,
    key: ['iface'],
    only: { type },
    scope: ['host'],
    create: { method: 'POST', path: '/nodes/{host}/network', id: 'iface', with: { type } },
    update: { method: 'PUT', path: '/nodes/{host}/network/{id}', with: { type }, whole: true },
    remove: { method: 'DELETE', path: '/nodes/{host}/network/{id}' },
    unset: 'delete',
    apply: { path: '/nodes/{host}/network', noun: 'network configuration' },
    privileges: ['Sys.Audit on /nodes/{host}', 'Sys.Modify on /nodes/{host}'],
    ...parts,
  }
}

const SDN = {
  apply: { path: '/cluster/sdn', noun: 'network configuration of the cluster' },
  privileges: ['SDN.Audit on /sdn', 'SDN.Allocate on /sdn'],
  unset: 'delete',
} as const

/** Bridges, bonds and VLANs of hosts; zones, vnets and subnets of the cluster. */
export const NETWORK: readonly Definition[] = [
  networkInterface('bridge', {
    name: 'bridge',
    kind: 'ProxmoxBridge',
    noun: 'bridge',
    about: 'A Linux bridge of a host.',
    fields: {
      ...ADDRESSES,
      ports: list('Interfaces that hang on it.', { api: 'bridge_ports', separator: ' ' }),
      vlanAware: flag('Does it pass VLANs on?', {
        api: 'bridge_vlan_aware',
        absent: false,
        offByAbsence: true,
      }),
      vids: list('VLANs that it passes on, like 2-4094.', { api: 'bridge_vids', separator: ' ' }),
    },
    exampleName: 'vmbr1',
    example: {
      host: 'still-fawn',
      address: '10.9.0.1/24',
      autostart: true,
      ports: ['eno2'],
      vlanAware: true,
      comment: 'Storage network',
    },
  }),
  networkInterface('bond', {
    name: 'bond',
    kind: 'ProxmoxBond',
    noun: 'bond',
    about: 'Several interfaces of a host that act as one.',
    fields: {
      ...ADDRESSES,
      interfaces: list('The interfaces.', { api: 'slaves', separator: ' ', required: true }),
      mode: choice(
        'How they share the work.',
        'balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb'.split(' '),
        { api: 'bond_mode', required: true },
      ),
      primary: text('With active-backup: the one that is preferred.', { api: 'bond-primary' }),
      hashPolicy: choice('How packets are spread.', ['layer2', 'layer2+3', 'layer3+4'], {
        api: 'bond_xmit_hash_policy',
      }),
    },
    exampleName: 'bond0',
    example: {
      host: 'still-fawn',
      interfaces: ['eno1', 'eno2'],
      mode: '802.3ad',
      hashPolicy: 'layer2+3',
      autostart: true,
    },
  }),
  networkInterface('vlan', {
    name: 'vlan',
    kind: 'ProxmoxVlan',
    noun: 'VLAN interface',
    about: 'An interface of a host in one VLAN: called like eno1.40, or anything with device and tag.',
    fields: {
      ...ADDRESSES,
      device: text('Interface that carries it.', { api: 'vlan-raw-device' }),
      tag: number('The VLAN.', { api: 'vlan-id', min: 1, max: 4094 }),
    },
    exampleName: 'cameras',
    example: { host: 'still-fawn', device: 'eno1', tag: 40, address: '10.40.0.2/24', autostart: true },
  }),
  {
    ...SDN,
    name: 'sdn-zone',
    kind: 'ProxmoxSdnZone',
    noun: 'SDN zone',
    about: 'A zone of the software-defined network.',
    list: { path: '/cluster/sdn/zones', query: 'pending=1', rows: 'pending' },
    key: ['zone'],
    ...usual('/cluster/sdn/zones', 'zone'),
    fields: {
      type: choice('What it is.', ['evpn', 'faucet', 'qinq', 'simple', 'vlan', 'vxlan'], {
        required: true,
        fixed: true,
      }),
      hosts: list('Hosts that have it. Default: all.', { api: 'nodes' }),
      mtu: number('Largest packet.', { min: 1 }),
      dns: text('Server for names.'),
      ipam: text('What hands out addresses.'),
      dnsZone: text('Domain of names.', { api: 'dnszone' }),
      reverseDns: text('Server for reverse names.', { api: 'reversedns' }),
      ...ofType(['simple'], { dhcp: choice('simple: what hands out leases.', ['dnsmasq']) }),
      ...ofType(['vlan', 'qinq'], { bridge: text('vlan, qinq: bridge that carries it.') }),
      ...ofType(['qinq'], { tag: number('qinq: outer VLAN.', { min: 0 }) }),
      ...ofType(['vxlan'], { peers: list('vxlan: addresses of the hosts.') }),
      ...ofType(['evpn'], {
        mac: text('evpn: address of the gateway.'),
        controller: text('evpn: controller.'),
        exitNodes: list('evpn: hosts that lead out.', { api: 'exitnodes' }),
        ...named('-', {
          exitnodesPrimary: text('evpn: the preferred one of them.'),
          exitnodesLocalRouting: flag('evpn: may the hosts that lead out reach it themselves?', { absent: false }),
          advertiseSubnets: flag('evpn: tell others of the subnets?', { absent: false }),
          disableArpNdSuppression: flag('evpn: no suppression of ARP?', { absent: false }),
          vrfVxlan: number('evpn: number of the VRF.', { min: 1, max: 16_777_215 }),
          rtImport: list('evpn: route targets that are taken in.'),
        }),
      }),
      ...named('-', {
        ...ofType(['vlan', 'qinq', 'evpn'], {
          bridgeDisableMacLearning: flag('vlan, qinq, evpn: no learning of addresses?', { absent: false }),
        }),
        ...ofType(['qinq'], {
          vlanProtocol: choice('qinq: protocol.', ['802.1q', '802.1ad'], { absent: '802.1q' }),
        }),
        ...ofType(['vxlan', 'evpn'], {
          vxlanPort: number('vxlan, evpn: port.', { min: 1, max: 65_536, absent: 4789 }),
        }),
      }),
    },
    exampleName: 'lab',
    example: { type: 'vlan', bridge: 'vmbr0', mtu: 1500, hosts: ['pumped-piglet', 'still-fawn'] },
  },
  {
    ...SDN,
    name: 'sdn-vnet',
    kind: 'ProxmoxSdnVnet',
    noun: 'SDN vnet',
    about: 'A virtual network in a zone.',
    list: { path: '/cluster/sdn/vnets', query: 'pending=1', rows: 'pending' },
    key: ['vnet'],
    ...usual('/cluster/sdn/vnets', 'vnet'),
    fields: {
      zone: text('Its zone.', { required: true }),
      tag: number('VLAN or VXLAN. Required in every zone but a simple one, which takes none.', {
        min: 1,
        max: 16_777_215,
      }),
      alias: text('Another name.'),
      vlanAware: flag('May guests use VLANs in it?', { api: 'vlanaware', absent: false }),
      isolatePorts: flag('May its guests not see each other?', { api: 'isolate-ports', absent: false }),
    },
    exampleName: 'apps',
    example: { zone: 'lab', tag: 40, alias: 'Applications', isolatePorts: true },
  },
  {
    ...SDN,
    name: 'sdn-subnet',
    kind: 'ProxmoxSdnSubnet',
    noun: 'SDN subnet',
    about: 'A subnet of a vnet. Its id is the network, like 10.5.0.0/24.',
    list: { path: '/cluster/sdn/vnets/{vnet}/subnets', query: 'pending=1', rows: 'pending' },
    key: ['cidr'],
    scope: ['vnet'],
    create: { method: 'POST', path: '/cluster/sdn/vnets/{vnet}/subnets', id: 'subnet', with: { type: 'subnet' } },
    update: { method: 'PUT', path: '/cluster/sdn/vnets/{vnet}/subnets/{subnet}' },
    remove: { method: 'DELETE', path: '/cluster/sdn/vnets/{vnet}/subnets/{subnet}' },
    fields: {
      gateway: text('Address of the gateway.'),
      snat: flag('Do guests reach the outside through the host?', { absent: false }),
      dnsZonePrefix: text('What stands before the domain in names.', { api: 'dnszoneprefix' }),
      dhcpDnsServer: text('Server for names that leases carry.', { api: 'dhcp-dns-server' }),
      dhcpRanges: blocks('Ranges of leases.', {
        api: 'dhcp-range',
        parts: named('-', {
          startAddress: text('First.', { required: true }),
          endAddress: text('Last.', { required: true }),
        }),
      }),
    },
    exampleName: 'apps-10-5',
    example: {
      id: '10.5.0.0/24',
      vnet: 'apps',
      gateway: '10.5.0.1',
      snat: true,
      dhcpRanges: [{ startAddress: '10.5.0.100', endAddress: '10.5.0.200' }],
    },
  },
]

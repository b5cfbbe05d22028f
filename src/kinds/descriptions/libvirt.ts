import { type Descriptions, type HypervisorTexts, under } from './describe.ts'
import { SSH_LOGIN } from './shared/ssh.ts'

const HARDWARE: Descriptions = {
  bios: 'Firmware: seabios for BIOS or ovmf for UEFI; arm64 machines always use UEFI.',
  machine: 'Emulated chipset: pc (i440FX) or q35; without it q35, and virt for arm64.',
  architecture: 'Processor architecture of the guest; without it that of the host.',
  disks: 'backing stores only the difference to the image; copy makes a full copy of it. Without it backing.',
  bus: 'Bus that the disks are attached to; without it virtio.',
  seed: 'How the machine gets its cloud-init data: on a small disk or in a CD-ROM drive; without it on a disk.',
  emulated: 'Runs the machine in software, without KVM, on a host that has no virtualisation; slow.',
}

const connection: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that libvirt runs on, which defines the access; leave it out with an endpoint over qemu+ssh.',
  endpoint: 'libvirt URI, like qemu:///system or qemu+ssh://user@host/system.',
  ssh: 'SSH access for an endpoint over qemu+ssh.',
  ...under('ssh', SSH_LOGIN),
  estate: 'Name of what this repository manages; set it only if two repositories share one host.',
  machines: 'Defaults for all machines of this connection.',
  ...under('machines', HARDWARE),
  limits: 'How many operations croft runs at the same time.',
  'limits.perHost': 'Most concurrent changes on the host.',
  'limits.perStorage': 'Most concurrent changes on one storage pool.',
  'limits.reads': 'Most concurrent read operations.',
}

const network: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that has the network.',
  uuid: 'UUID of an existing network that croft takes over, as virsh net-uuid prints it; without it croft makes a new one.',
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

const pool: Descriptions = {
  description: 'One line for people.',
  host: 'Name of the Host that has the pool.',
  uuid: 'UUID of an existing pool that croft takes over, as virsh pool-uuid prints it; without it croft makes a new one.',
  type: 'dir for a directory, netfs for an NFS share, logical for an existing LVM volume group.',
  path: 'Directory on the host; croft creates it if it does not exist. It cannot change later.',
  source: 'NFS share of a pool of type netfs.',
  'source.host': 'DNS name or IP address of the NFS server.',
  'source.path': 'Exported path on the NFS server.',
  volumeGroup: 'LVM volume group of a pool of type logical.',
  autostart: 'Whether the pool starts with its host.',
  deletionPolicy:
    'What happens when you remove the declaration: Orphan leaves the pool, Delete removes the definition of an empty one.',
}

export const libvirt: HypervisorTexts = {
  kinds: { Libvirt: connection, LibvirtNetwork: network, LibvirtPool: pool },
  hardware: HARDWARE,
  machine: {
    uuid: 'UUID of the existing domain to adopt; croft derives the UUID of a new domain itself.',
    adopt: 'Takes over the existing domain with this UUID.',
  },
}

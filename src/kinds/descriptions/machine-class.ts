import { type Descriptions, under } from './describe.ts'
import { CPU_AND_MEMORY, DISKS, GUEST, LIBVIRT_HARDWARE, NETWORK_CARDS, PROXMOX_HARDWARE } from './shared/machine.ts'

export const machineClass: Descriptions = {
  description: 'One line for people.',
  ...CPU_AND_MEMORY,
  cpu: 'Processors of each machine that does not set its own.',
  ...DISKS,
  disks: 'Disks in order, for machines without a list of their own; the machine boots from the first.',
  ...NETWORK_CARDS,
  networks: 'Network cards in order, for machines without a list of their own.',
  'networks.address': 'IPv4: dhcp or pool; without it from the pool of the Network if it has one, else DHCP.',
  proxmox: 'Settings for machines on Proxmox; a machine overrides them field by field.',
  ...under('proxmox', PROXMOX_HARDWARE),
  libvirt: 'Settings for machines on libvirt; a machine overrides them field by field.',
  ...under('libvirt', LIBVIRT_HARDWARE),
  ...GUEST,
}

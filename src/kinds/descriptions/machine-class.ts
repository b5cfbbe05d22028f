import { type Descriptions, under } from './describe.ts'
import { hypervisorBlocks } from './hypervisors.ts'
import { CPU_AND_MEMORY, DISKS, GUEST, NETWORK_CARDS, PROXMOX_HARDWARE } from './shared/machine.ts'

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
  ...hypervisorBlocks(
    (hypervisor) => `Settings for machines on ${hypervisor}; a machine overrides them field by field.`,
  ),
  ...GUEST,
}

import { type Descriptions, under } from './describe.ts'
import { hypervisorBlocks } from './hypervisors.ts'
import { CPU_AND_MEMORY, DISKS, GUEST, NETWORK_CARDS, PROXMOX_HARDWARE } from './shared/machine.ts'

export const machine: Descriptions = {
  host: 'Name of the Host that runs the machine, or auto: croft chooses one with room and keeps it there. A new host migrates it.',
  placement: 'Rules for host: auto.',
  'placement.labels': 'Labels that the Host must carry, all of them.',
  'placement.spread': 'Group of machines that croft spreads evenly over the hosts.',
  'placement.apart': 'Group of machines of which no two share a host.',
  'placement.connection': 'Connection whose hosts croft may choose; required if there are several connections.',
  class: 'Name of the MachineClass that supplies what the machine does not set.',
  proxmox: 'Settings for a machine on Proxmox.',
  'proxmox.vmid': 'VMID of the guest; without it croft chooses a free one from the range of the connection.',
  'proxmox.adopt': 'Takes over the existing VM or container with this vmid.',
  ...under('proxmox', PROXMOX_HARDWARE),
  ...hypervisorBlocks((hypervisor) => `Settings for a machine on a host with ${hypervisor}.`, 'machine'),
  lxc: 'Makes the machine an LXC container instead of a VM; its first disk needs an Image with content vztmpl.',
  'lxc.unprivileged':
    'Maps root in the container to an unprivileged user of the host; without it true. Cannot change later.',
  'lxc.nesting': 'Lets the container run containers itself.',
  'lxc.swap': 'Swap space with its unit, like 512Mi.',
  description: 'Text for people; Proxmox shows it in the notes of the guest.',
  ...CPU_AND_MEMORY,
  ...DISKS,
  ...NETWORK_CARDS,
  'networks.mac': 'MAC address of the card; without it croft derives one from the uid of the machine.',
  devices: 'Names of Devices to pass through; the machine then runs on their host.',
  ...GUEST,
  hostname: 'Host name inside the guest; without it metadata.name.',
  power: 'Whether the machine runs: on or off; without it on.',
  deletionPolicy:
    'What happens when you remove the declaration: Delete or Orphan; without it Delete, and Orphan for adopted machines.',
  protect: 'true: croft never deletes or replaces the machine. false: it may, with the data on its disks.',
}

import { type Descriptions, type HypervisorTexts, under } from './describe.ts'
import { libvirtNetwork } from './libvirt-network.ts'
import { libvirtPool } from './libvirt-pool.ts'
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

export const libvirt: HypervisorTexts = {
  kinds: { Libvirt: connection, LibvirtNetwork: libvirtNetwork, LibvirtPool: libvirtPool },
  hardware: HARDWARE,
  machine: {
    uuid: 'UUID of the existing domain to adopt; croft derives the UUID of a new domain itself.',
    adopt: 'Takes over the existing domain with this UUID.',
  },
}

import { type Descriptions, under } from '../describe.ts'

export const CPU_AND_MEMORY: Descriptions = {
  cpu: 'Processors of the machine; what is absent comes from the MachineClass.',
  'cpu.cores': 'Number of cores.',
  'cpu.type': 'CPU model that the guest sees, like host or x86-64-v2-AES; without it the hypervisor decides.',
  memory: 'Memory with its unit, like 4Gi or 4096Mi.',
}

export const DISKS: Descriptions = {
  disks: 'Disks in order; the machine boots from the first. A list here replaces the list of the MachineClass.',
  ...under('disks', {
    name: 'What the disk is for, as a note for people.',
    size: 'Size in whole Gi, like 40Gi; croft grows a disk and never shrinks it.',
    image: 'Name of the Image that croft creates the disk from; without it the disk is empty.',
    storage: 'Logical storage; the bindings of the Host name the local one.',
    ssd: 'Shows the disk to the guest as an SSD; Proxmox only.',
    discard: 'Passes TRIM from the guest on to the storage, so that freed blocks become free there.',
    backup: 'Includes the disk in Proxmox backups.',
    path: 'Where a container mounts the disk, like /srv/data; the first disk is the root and has none.',
  }),
}

export const PROXMOX_HARDWARE: Descriptions = {
  pool: 'Proxmox resource pool that the guest belongs to.',
  bios: 'Firmware: seabios for BIOS or ovmf for UEFI; without it Proxmox uses seabios.',
  machine: 'Emulated chipset: pc (i440FX) or q35; PCI Express passthrough needs q35.',
  scsiHardware: 'Model of the SCSI controller.',
  serialPort: 'A serial port for the console of the machine (croft console).',
  protection: 'Sets the protection flag of Proxmox, which refuses to remove the guest; croft then protects it as well.',
}

export const FIRST_BOOT: Descriptions = {
  user: 'User that cloud-init creates.',
  sshKeys: 'SSH public keys that may log in as that user.',
  userData:
    'A cloud-config, as a block of fields or as text that begins with #cloud-config; or a volume like local:snippets/web.yaml.',
}

export const GUEST: Descriptions = {
  ...FIRST_BOOT,
  cloudInit: 'How the machine gets its cloud-init data, and what croft does when that data changes.',
  'cloudInit.onChange':
    'When the document changes after the first boot: ignore it, rerun cloud-init with it, or replace the machine.',
  'cloudInit.storage':
    'Logical storage for ISO images that holds the seed until the machine has read it; without it croft chooses one.',
  'cloudInit.removeAfterSeconds':
    'Seconds after the start when croft ejects the seed if no guest agent reports that it was read.',
  dns: 'Name resolution in the guest; without it that of the Network.',
  'dns.servers': 'IP addresses of the DNS servers.',
  'dns.domain': 'Search domain.',
  onBoot: 'Starts the machine when its host starts.',
  agent: 'Says that the QEMU guest agent runs inside; Ready then waits for it. Without it true.',
  tags: 'Tags that people see in Proxmox; croft and croft-… are reserved.',
}

export const NETWORK_CARDS: Descriptions = {
  networks: 'Network cards in order. A list here replaces the list of the MachineClass.',
  ...under('networks', {
    network: 'Logical network; the bindings of the Host name the bridge.',
    address: 'IPv4: dhcp, pool, or an address like 192.168.4.20; without it from the pool of the Network, else DHCP.',
    ipv6: 'IPv6: auto (router advertisements), dhcp, or an address with its prefix like fd00::20/64; without it none.',
    firewall: 'Turns on the Proxmox firewall for this card.',
  }),
}

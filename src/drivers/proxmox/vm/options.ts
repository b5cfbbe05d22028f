import { mark } from '../mark.ts'
import { sameUnits } from '../option.ts'
import * as slots from '../slots.ts'
import { tags } from '../tags.ts'
import { bootOrder } from './boot-order.ts'
import { cdrom } from './cdrom.ts'
import {
  cloudInitAddresses,
  cloudInitCustom,
  cloudInitDnsServers,
  cloudInitPassword,
  cloudInitSshKeys,
} from './cloud-init.ts'
import { cloudInitDrive } from './cloud-init-drive.ts'
import { serial, vga } from './console.ts'
import { cpuHotplugged, cpuType } from './cpu.ts'
import { agent, amdSev, audio, numaNodes, pci, rng, usb, virtiofs, watchdog } from './devices.ts'
import { disks, efiDisk, tpm } from './disks.ts'
import { sameHotplug, sameMachine } from './hardware.ts'
import { memoryDedicated, memoryFloating, memoryShared } from './memory.ts'
import { nics } from './nics.ts'
import { flag, quantity, type VmOption, word } from './option.ts'
import { seedDrive } from './seed.ts'
import { vmSlots } from './slots.ts'
import { smbios } from './smbios.ts'
import { startup } from './start-at-boot.ts'

const description: VmOption = slots.description(vmSlots)

/** Disks, cards and other devices that croft put in and that are declared no more. */
const detached: VmOption = slots.detached(vmSlots)

/** Every option that lives in a VM's configuration, in the order in which a person reads a change list. */
export const OPTIONS: readonly VmOption[] = [
  // Proxmox stores no name for a guest without one.
  word('name', 'name', 'live', ''),
  description,
  tags,
  mark,
  quantity('cpu.cores', 'cores', 'restart', 1),
  quantity('cpu.sockets', 'sockets', 'restart', 1),
  cpuType,
  quantity('cpu.units', 'cpuunits', 'live', 0, { same: sameUnits }),
  // 0 means no limit.
  quantity('cpu.limit', 'cpulimit', 'live', 0),
  flag('cpu.numa', 'numa', 'restart', false),
  cpuHotplugged,
  // Only root may set these two. The usual architecture is not sent: to set it at all takes root.
  word('cpu.affinity', 'affinity', 'restart', ''),
  word('cpu.architecture', 'arch', 'restart', 'x86_64', { unsent: (value) => value === 'x86_64' }),
  memoryDedicated,
  memoryFloating,
  quantity('memory.shares', 'shares', 'live', 1000),
  memoryShared,
  // Only root may set these two.
  word('memory.hugepages', 'hugepages', 'restart', ''),
  flag('memory.keepHugepages', 'keephugepages', 'restart', false, { unsent: (value) => !value }),
  word('machine', 'machine', 'restart', 'pc', { same: sameMachine }),
  word('bios', 'bios', 'restart', 'seabios'),
  word('osType', 'ostype', 'restart', 'other'),
  // An old guest without the key has lsi; new ones get virtio unless something else is declared.
  word('scsiHardware', 'scsihw', 'restart', 'lsi', { born: 'virtio-scsi-pci' }),
  flag('acpi', 'acpi', 'restart', true),
  word('hotplug', 'hotplug', 'live', '1', { same: sameHotplug }),
  numaNodes,
  amdSev,
  smbios,
  flag('tablet', 'tablet', 'live', true),
  // Left out, the keyboard follows the viewer's own layout.
  word('keyboard', 'keyboard', 'restart', ''),
  flag('onBoot', 'onboot', 'live', false),
  startup,
  // Proxmox's own protection against removal; ours stands before it.
  flag('protection', 'protection', 'live', false),
  // Only root may set it.
  word('hookScript', 'hookscript', 'live', ''),
  agent,
  disks,
  efiDisk,
  tpm,
  cdrom,
  nics,
  usb,
  pci,
  virtiofs,
  detached,
  seedDrive,
  cloudInitDrive,
  word('cloudInit.user', 'ciuser', 'live', ''),
  cloudInitPassword,
  cloudInitSshKeys,
  cloudInitAddresses,
  cloudInitDnsServers,
  word('cloudInit.dnsDomain', 'searchdomain', 'live', ''),
  flag('cloudInit.upgrade', 'ciupgrade', 'live', true),
  word('cloudInit.type', 'citype', 'live', 'nocloud'),
  cloudInitCustom,
  serial,
  vga,
  audio,
  rng,
  watchdog,
  bootOrder,
]

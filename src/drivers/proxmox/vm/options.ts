import { mark } from '../mark.ts'
import { tags } from '../tags.ts'
import { agent } from './agent.ts'
import { bootOrder } from './boot-order.ts'
import { cdrom } from './cdrom.ts'
import {
  cloudInitAddresses,
  cloudInitCustom,
  cloudInitDnsDomain,
  cloudInitDnsServers,
  cloudInitPassword,
  cloudInitSshKeys,
  cloudInitType,
  cloudInitUpgrade,
  cloudInitUser,
} from './cloud-init.ts'
import { cloudInitDrive } from './cloud-init-drive.ts'
import { serial, vga } from './console.ts'
import {
  cpuAffinity,
  cpuArchitecture,
  cpuCores,
  cpuHotplugged,
  cpuLimit,
  cpuNuma,
  cpuSockets,
  cpuType,
  cpuUnits,
} from './cpu.ts'
import { description, detached } from './description.ts'
import { amdSev, audio, numaNodes, pci, rng, usb, virtiofs, watchdog } from './devices.ts'
import { disks } from './disks.ts'
import { efiDisk } from './efi-disk.ts'
import { acpi, bios, hookScript, hotplug, keyboard, machine, osType, tablet } from './hardware.ts'
import {
  memoryDedicated,
  memoryFloating,
  memoryHugepages,
  memoryKeepHugepages,
  memoryShared,
  memoryShares,
} from './memory.ts'
import { name } from './name.ts'
import { nics } from './nics.ts'
import type { VmOption } from './option.ts'
import { protection } from './protection.ts'
import { scsiHardware } from './scsi-hardware.ts'
import { seedDrive } from './seed.ts'
import { smbios } from './smbios.ts'
import { onBoot, startup } from './start-at-boot.ts'
import { tpm } from './tpm.ts'

/** Every option that lives in a VM's configuration, in the order in which a person reads a change list. */
export const OPTIONS: readonly VmOption[] = [
  name,
  description,
  tags,
  mark,
  cpuCores,
  cpuSockets,
  cpuType,
  cpuUnits,
  cpuLimit,
  cpuNuma,
  cpuHotplugged,
  cpuAffinity,
  cpuArchitecture,
  memoryDedicated,
  memoryFloating,
  memoryShares,
  memoryShared,
  memoryHugepages,
  memoryKeepHugepages,
  machine,
  bios,
  osType,
  scsiHardware,
  acpi,
  hotplug,
  numaNodes,
  amdSev,
  smbios,
  tablet,
  keyboard,
  onBoot,
  startup,
  protection,
  hookScript,
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
  cloudInitUser,
  cloudInitPassword,
  cloudInitSshKeys,
  cloudInitAddresses,
  cloudInitDnsServers,
  cloudInitDnsDomain,
  cloudInitUpgrade,
  cloudInitType,
  cloudInitCustom,
  serial,
  vga,
  audio,
  rng,
  watchdog,
  bootOrder,
]

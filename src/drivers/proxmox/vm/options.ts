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
  cloudInitUpgrade,
  cloudInitUser,
} from './cloud-init.ts'
import { cloudInitDrive } from './cloud-init-drive.ts'
import { serial, vga } from './console.ts'
import { cpuCores, cpuHotplugged, cpuLimit, cpuNuma, cpuSockets, cpuType, cpuUnits } from './cpu.ts'
import { description } from './description.ts'
import { disks } from './disks.ts'
import { efiDisk } from './efi-disk.ts'
import { bios, keyboard, machine, osType, tablet } from './hardware.ts'
import { mark } from './mark.ts'
import { memoryDedicated, memoryFloating, memoryShared } from './memory.ts'
import { name } from './name.ts'
import { nics } from './nics.ts'
import type { VmOption } from './option.ts'
import { protection } from './protection.ts'
import { scsiHardware } from './scsi-hardware.ts'
import { onBoot, startup } from './start-at-boot.ts'
import { tags } from './tags.ts'

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
  memoryDedicated,
  memoryFloating,
  memoryShared,
  machine,
  bios,
  osType,
  scsiHardware,
  tablet,
  keyboard,
  onBoot,
  startup,
  protection,
  agent,
  disks,
  efiDisk,
  cdrom,
  nics,
  cloudInitDrive,
  cloudInitUser,
  cloudInitPassword,
  cloudInitSshKeys,
  cloudInitAddresses,
  cloudInitDnsServers,
  cloudInitDnsDomain,
  cloudInitUpgrade,
  cloudInitCustom,
  serial,
  vga,
  bootOrder,
]

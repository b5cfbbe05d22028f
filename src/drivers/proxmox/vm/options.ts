import type { VmSpec } from '../../../model/vm.ts'
import type { ApiFields } from '../foreign.ts'
import { mark } from '../mark.ts'
import { type Effect, sameUnits } from '../option.ts'
import { parseProperties } from '../property-string.ts'
import type { SlotRule } from '../slots.ts'
import * as slots from '../slots.ts'
import { tags } from '../tags.ts'
import {
  cloudInitAddresses,
  cloudInitCustom,
  cloudInitDnsServers,
  cloudInitDrive,
  cloudInitPassword,
  cloudInitSshKeys,
} from './cloud-init.ts'
import { agent, amdSev, audio, nics, numaNodes, pci, rng, serial, usb, vga, virtiofs, watchdog } from './devices.ts'
import { bootOrder, cdrom, disks, efiDisk, plugsDrive, tpm } from './disks.ts'
import {
  cpuHotplugged,
  cpuType,
  memoryDedicated,
  memoryFloating,
  memoryShared,
  sameHotplug,
  sameMachine,
  smbios,
} from './hardware.ts'
import { flag, hotplugs, plugsUsb, quantity, textOf, type VmOption, word } from './option.ts'
import { seedDrive } from './seed.ts'
import { startup } from './start-at-boot.ts'

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:scsi|virtio|sata|ide)\d+$/, 'disks'],
  [/^net\d+$/, 'nics'],
  [/^usb\d+$/, 'usb'],
  [/^hostpci\d+$/, 'pci'],
  [/^virtiofs\d+$/, 'virtiofs'],
  [/^serial\d+$/, 'serial'],
  [/^numa\d+$/, 'numaNodes'],
]

const vmSlots: SlotRule<VmSpec> = {
  declared: (vm) =>
    [vm.disks, vm.nics, vm.usb, vm.pci, vm.virtiofs, vm.serial, vm.numaNodes].flatMap(
      (list) => list?.map(({ slot }) => slot) ?? [],
    ),
  pathOf: (slot) => WORDS.find(([pattern]) => pattern.test(slot))?.[1] ?? 'devices',
  effect(config, slot) {
    if (slot.startsWith('net')) return hotplugs(config, 'network') ? 'live' : 'restart'
    if (slot.startsWith('usb')) return plugsUsb(config) ? 'live' : 'restart'
    // A running guest's boot disk stays attached until it stops.
    return plugsDrive(config, slot) && !bootsFrom(config, slot) ? 'live' : 'restart'
  },
  holdsData: (slot, text) =>
    /^(?:scsi|virtio|sata|ide)\d+$/.test(slot) && parseProperties(text, 'file').get('media') !== 'cdrom',
}

function bootsFrom(config: ApiFields, slot: string): boolean {
  const order = parseProperties(textOf(config.boot) ?? '', 'legacy').get('order') ?? ''
  return order.split(';').includes(slot)
}

/** The sockets for memory and processors exist from the start, or never. */
function plugsMore(from: string, to: string): Effect {
  return /memory|cpu/.test(`${from} ${to}`) ? 'restart' : 'live'
}

const description: VmOption = slots.description(vmSlots)

/** Disks, cards and other devices that croft added and that are no longer declared. */
const detached: VmOption = slots.detached(vmSlots)

/** All options in a VM's configuration, in reading order for a change list. */
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
  // Only root may set these two. The default architecture is not sent, since even that needs root.
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
  // An old guest without the key has lsi; new ones get virtio unless declared otherwise.
  word('scsiHardware', 'scsihw', 'restart', 'lsi', { born: 'virtio-scsi-pci' }),
  flag('acpi', 'acpi', 'restart', true),
  word('hotplug', 'hotplug', plugsMore, '1', { same: sameHotplug }),
  numaNodes,
  amdSev,
  smbios,
  flag('tablet', 'tablet', (_from, _to, config) => (hotplugs(config, 'usb') ? 'live' : 'restart'), true),
  // By default the keyboard follows the viewer's layout.
  word('keyboard', 'keyboard', 'restart', ''),
  flag('onBoot', 'onboot', 'live', false),
  startup,
  // Proxmox's own protection against deletion, in addition to croft's.
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

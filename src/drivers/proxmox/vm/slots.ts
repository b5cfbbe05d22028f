import type { VmSpec } from '../../../model/vm.ts'
import { parseProperties } from '../property-string.ts'
import type { SlotRule } from '../slots.ts'
import { plugsDrive } from './disks.ts'
import { hotplugs } from './option.ts'

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^(?:scsi|virtio|sata|ide)\d+$/, 'disks'],
  [/^net\d+$/, 'nics'],
  [/^usb\d+$/, 'usb'],
  [/^hostpci\d+$/, 'pci'],
  [/^virtiofs\d+$/, 'virtiofs'],
  [/^serial\d+$/, 'serial'],
  [/^numa\d+$/, 'numaNodes'],
]

export const vmSlots: SlotRule<VmSpec> = {
  declared: (vm) =>
    [vm.disks, vm.nics, vm.usb, vm.pci, vm.virtiofs, vm.serial, vm.numaNodes].flatMap(
      (list) => list?.map(({ slot }) => slot) ?? [],
    ),
  pathOf: (slot) => WORDS.find(([pattern]) => pattern.test(slot))?.[1] ?? 'devices',
  effect(config, slot) {
    if (slot.startsWith('net')) return hotplugs(config, 'network') ? 'live' : 'restart'
    if (slot.startsWith('usb')) return hotplugs(config, 'usb') ? 'live' : 'restart'
    return plugsDrive(config, slot) ? 'live' : 'restart'
  },
  holdsData: (slot, text) =>
    /^(?:scsi|virtio|sata|ide)\d+$/.test(slot) && parseProperties(text, 'file').get('media') !== 'cdrom',
}

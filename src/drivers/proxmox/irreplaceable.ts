import type { ObservedResource } from '../../model/resource.ts'
import type { Obstacle } from '../../model/rules.ts'
import type { VmSpec } from '../../model/vm.ts'
import { type ApiFields, flagOf } from './foreign.ts'
import { textOf } from './option.ts'
import { parseProperties } from './property-string.ts'

/** A slot that may hold a volume. */
export const DISK = /^(?:(?:scsi|virtio|sata|ide)\d+|mp\d+|unused\d+)$/

/**
 * Returns disks whose content would be lost. A disk that came from an image or a template can be recreated; all other
 * disks, also detached ones, are the only copy.
 */
export function irreplaceableDisks(observed: ObservedResource, remakes: (slot: string) => boolean): readonly string[] {
  const config = observed.close?.config ?? {}
  return Object.keys(config)
    .filter((key) => DISK.test(key) && holdsData(config, key) && !remakes(key))
    .sort()
}

/** Returns which disks of a VM its recreation restores. */
export function remadeBy(vm: VmSpec, config: ApiFields): (slot: string) => boolean {
  const imported = new Set(vm.disks.filter((disk) => disk.importFrom !== undefined).map((disk) => disk.slot))
  const order = parseProperties(textOf(config.boot) ?? '', '').get('order') ?? ''
  const boots = vm.clone === undefined ? undefined : order.split(';')[0]
  return (slot) => imported.has(slot) || slot === boots
}

/** For an undeclared guest: all disks but its boot disk. */
export function dataDisks(observed: ObservedResource): readonly string[] {
  const config = observed.close?.config ?? {}
  const order = parseProperties(textOf(config.boot) ?? '', '').get('order') ?? ''
  const all = irreplaceableDisks(observed, () => false)
  const listed = order.split(';').find((slot) => all.includes(slot))
  const first = listed ?? all.find((slot) => !slot.startsWith('unused') && !slot.startsWith('mp'))
  return all.filter((slot) => slot !== first)
}

/** Proxmox would refuse, but only after the guest's shutdown. */
export function protectedGuest(observed: ObservedResource): Obstacle | undefined {
  if (flagOf(observed.close?.config.protection) !== true) return undefined
  const command = observed.type === 'container' ? 'pct' : 'qm'
  const owner = observed.mark?.owner
  const keep =
    owner === undefined ? '' : `to keep it and take only croft off it, run croft leave ${owner}; to destroy it, `
  return {
    message: `id ${observed.externalId} on ${observed.host} is protected against removal in Proxmox`,
    allow: `${keep}lift the protection first: declare protection: false before taking the declaration away, or run on ${observed.host}: ${command} set ${observed.externalId} --protection 0`,
  }
}

function holdsData(config: ApiFields, key: string): boolean {
  const text = textOf(config[key]) ?? ''
  const properties = parseProperties(text, 'file')
  const volume = properties.get('file') ?? properties.get('volume') ?? ''
  // Discs are separate files, and host paths are not the guest's.
  return volume.includes(':') && properties.get('media') !== 'cdrom'
}

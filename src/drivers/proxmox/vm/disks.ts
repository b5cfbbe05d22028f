import type { Change } from '../../../model/change.ts'
import type { VmDisk, VmDiskSpeed } from '../../../model/vm.ts'
import type { ApiFields } from '../foreign.ts'
import { compareParts, type PropertyPart, setParts, type Value } from '../parts.ts'
import { type Properties, parseProperties, parseSize, printProperties } from '../property-string.ts'
import { hotplugs, textOf, type VmOption } from './option.ts'

const GIB = 2 ** 30
/** An empty disk needs a size; this is what it gets when none is declared. */
const DEFAULT_SIZE_GB = 8

/** A disk with its speed limits beside everything else, as Proxmox has them. */
type FlatDisk = Omit<VmDisk, 'speed'> & { readonly [F in keyof VmDiskSpeed as `speed.${F}`]: VmDiskSpeed[F] }

// Proxmox changes only these on a running guest: backup and replicate concern no device, and limits are kept outside it.
const PARTS: readonly PropertyPart<FlatDisk>[] = [
  { field: 'cache', key: 'cache', fallback: 'none' },
  { field: 'aio', key: 'aio', fallback: 'io_uring' },
  { field: 'iothread', key: 'iothread', fallback: false },
  { field: 'ssd', key: 'ssd', fallback: false },
  { field: 'discard', key: 'discard', fallback: 'ignore' },
  { field: 'backup', key: 'backup', fallback: true, effect: 'live' },
  { field: 'replicate', key: 'replicate', fallback: true, effect: 'live' },
  { field: 'serial', key: 'serial', fallback: '', print: (text) => encodeURIComponent(String(text)), read: decode },
  { field: 'queues', key: 'queues' },
  { field: 'speed.read', key: 'mbps_rd', effect: 'live' },
  { field: 'speed.readBurst', key: 'mbps_rd_max', effect: 'live' },
  { field: 'speed.write', key: 'mbps_wr', effect: 'live' },
  { field: 'speed.writeBurst', key: 'mbps_wr_max', effect: 'live' },
  { field: 'speed.iopsRead', key: 'iops_rd', effect: 'live' },
  { field: 'speed.iopsReadBurst', key: 'iops_rd_max', effect: 'live' },
  { field: 'speed.iopsWrite', key: 'iops_wr', effect: 'live' },
  { field: 'speed.iopsWriteBurst', key: 'iops_wr_max', effect: 'live' },
]

/** Data disks. A disk in the configuration that nobody declared is left alone. */
export const disks: VmOption = {
  create({ spec: vm }, params) {
    for (const disk of vm.disks) params[disk.slot] = newDisk(disk)
  },
  compare({ spec: vm }, config, changes) {
    for (const disk of vm.disks) compareDisk(disk, config, changes)
  },
  update({ spec: vm }, config, params, chosen) {
    for (const disk of vm.disks) {
      const path = `disks.${disk.slot}`
      const text = textOf(config[disk.slot])
      if (text === undefined) {
        if (chosen.has(path)) params[disk.slot] = newDisk(disk)
        continue
      }
      const isChosen = (field: string) => chosen.has(`${path}.${field}`)
      if (!PARTS.some((part) => isChosen(part.field))) continue
      // The same volume with the chosen parts set anew and every other part as it was.
      const properties = parseProperties(text, 'file')
      setParts(properties, flat(disk), PARTS, isChosen)
      params[disk.slot] = printProperties(properties, 'file')
    }
  },
}

/** Disks that are to grow, with the size they shall have. Growing is a call of its own. */
export function growing(
  vmDisks: readonly VmDisk[],
  chosen: ReadonlySet<string>,
): { slot: string; sizeGb: number; storage: string }[] {
  return vmDisks.flatMap(({ slot, sizeGb, storage }) =>
    sizeGb !== undefined && chosen.has(`disks.${slot}.sizeGb`) ? [{ slot, sizeGb, storage }] : [],
  )
}

/** Storage that a volume id lives on: `local` of `local:100/vm-100-disk-0.raw`. */
export function storageOf(volume: string | undefined): string | undefined {
  const colon = volume?.indexOf(':') ?? -1
  return volume === undefined || colon <= 0 ? undefined : volume.slice(0, colon)
}

/** The volume that a drive's property string names. */
export function volumeOf(properties: Properties): { readonly id: string; readonly storage?: string } | undefined {
  const id = properties.get('file') ?? properties.get('volume')
  if (id === undefined) return undefined
  const storage = storageOf(id)
  return storage === undefined ? { id } : { id, storage }
}

/** Only storages that keep files show a format; on the others there is only raw. */
export function formatOf(volume: string | undefined): string | undefined {
  return /\.(raw|qcow2|vmdk)$/.exec(volume ?? '')?.[1]
}

/** May a drive be put there, or taken away, while the guest runs? */
export function plugsDrive(config: ApiFields, slot: string): boolean {
  return hotplugs(config, 'disk') && (slot.startsWith('scsi') || slot.startsWith('virtio'))
}

function compareDisk(disk: VmDisk, config: ApiFields, changes: Change[]): void {
  const path = `disks.${disk.slot}`
  const text = textOf(config[disk.slot])
  if (text === undefined) {
    changes.push({
      path,
      from: undefined,
      to: newDisk(disk),
      effect: plugsDrive(config, disk.slot) ? 'live' : 'restart',
    })
    return
  }
  const seen = parseProperties(text, 'file')
  const volume = volumeOf(seen)
  // Proxmox copies a disk to another storage, or into another format, while the guest runs.
  if (volume?.storage !== disk.storage)
    changes.push({ path: `${path}.storage`, from: volume?.storage, to: disk.storage, effect: 'live' })
  compareSize(path, disk, seen, changes)
  const format = formatOf(volume?.id)
  if (disk.format !== undefined && format !== undefined && format !== disk.format)
    changes.push({ path: `${path}.format`, from: format, to: disk.format, effect: 'live' })
  compareParts(path, flat(disk), seen, PARTS, 'restart', changes)
}

function compareSize(path: string, disk: VmDisk, seen: Properties, changes: Change[]): void {
  const bytes = parseSize(seen.get('size'))
  // Some storages report no size; then nothing can be said about it.
  if (disk.sizeGb === undefined || bytes === undefined || bytes === disk.sizeGb * GIB) return
  const from = Math.round((bytes / GIB) * 1000) / 1000
  // A disk never shrinks in place: what is on it would be cut off.
  changes.push({
    path: `${path}.sizeGb`,
    from,
    to: disk.sizeGb,
    effect: bytes > disk.sizeGb * GIB ? 'replace' : 'live',
  })
}

/** `local:0,import-from=local:import/noble.qcow2` or `local:32`, with everything that is declared. */
function newDisk(disk: VmDisk): string {
  const size = disk.importFrom === undefined ? (disk.sizeGb ?? DEFAULT_SIZE_GB) : 0
  const properties: Properties = new Map([['file', `${disk.storage}:${size}`]])
  if (disk.importFrom !== undefined) properties.set('import-from', disk.importFrom)
  if (disk.format !== undefined) properties.set('format', disk.format)
  setParts(properties, flat(disk), PARTS)
  return printProperties(properties, 'file')
}

function flat({ speed, ...disk }: VmDisk): FlatDisk {
  if (speed === undefined) return disk
  const limits = Object.entries(speed).map(([field, value]) => [`speed.${field}`, value as unknown])
  return { ...disk, ...(Object.fromEntries(limits) as Partial<FlatDisk>) }
}

/** Serial numbers are percent-encoded inside the property string. */
function decode(raw: string): Value {
  if (!raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

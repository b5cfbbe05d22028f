import type { Change } from '../../../model/resource.ts'
import type { VmDisk, VmDiskSpeed, VmEfiDisk, VmSpec } from '../../../model/vm.ts'
import { type ApiFields, decoded } from '../foreign.ts'
import { device, devices, type PropertyPart } from '../parts.ts'
import { type Properties, parseProperties, parseSize } from '../property-string.ts'
import { hotplugs, textOf, type VmOption } from './option.ts'

const GIB = 2 ** 30
/** The default size of an empty disk. */
const DEFAULT_SIZE_GB = 8

/** A disk with flat speed limits, as Proxmox has them. */
type FlatDisk = Omit<VmDisk, 'speed'> & { readonly [F in keyof VmDiskSpeed as `speed.${F}`]: VmDiskSpeed[F] }

// Proxmox changes only these on a running guest: backup and replicate concern no device, limits are kept outside it,
// and a serial number is stored silently and visible at the guest's next start.
export const PARTS: readonly PropertyPart<FlatDisk>[] = [
  { field: 'importFrom', key: 'import-from', onlyNew: true },
  { field: 'format', key: 'format', onlyNew: true },
  { field: 'cache', key: 'cache', fallback: 'none' },
  { field: 'aio', key: 'aio', fallback: 'io_uring' },
  { field: 'iothread', key: 'iothread', fallback: false },
  { field: 'ssd', key: 'ssd', fallback: false },
  { field: 'discard', key: 'discard', fallback: 'ignore' },
  { field: 'backup', key: 'backup', fallback: true, effect: 'live' },
  { field: 'replicate', key: 'replicate', fallback: true, effect: 'live' },
  {
    field: 'serial',
    key: 'serial',
    fallback: '',
    effect: 'live',
    print: (text) => encodeURIComponent(String(text)),
    read: decoded,
  },
  { field: 'queues', key: 'queues', type: 'count' },
]

const LIMITS: readonly PropertyPart<FlatDisk>[] = [
  { field: 'speed.read', key: 'mbps_rd', effect: 'live' },
  { field: 'speed.readBurst', key: 'mbps_rd_max', effect: 'live' },
  { field: 'speed.write', key: 'mbps_wr', effect: 'live' },
  { field: 'speed.writeBurst', key: 'mbps_wr_max', effect: 'live' },
  { field: 'speed.iopsRead', key: 'iops_rd', effect: 'live' },
  { field: 'speed.iopsReadBurst', key: 'iops_rd_max', effect: 'live' },
  { field: 'speed.iopsWrite', key: 'iops_wr', effect: 'live' },
  { field: 'speed.iopsWriteBurst', key: 'iops_wr_max', effect: 'live' },
]

/** Data disks. An undeclared disk in the configuration is left alone. */
export const disks = devices<VmSpec, FlatDisk>({
  path: 'disks',
  bare: 'file',
  effect: 'restart',
  newEffect: (config, slot) => (plugsDrive(config, slot) ? 'live' : 'restart'),
  items: (vm) => vm.disks.map(flat),
  // `local:0,import-from=local:import/noble.qcow2` or `local:32`.
  start: ({ storage, sizeGb, importFrom }) => [
    ['file', `${storage}:${importFrom === undefined ? (sizeGb ?? DEFAULT_SIZE_GB) : 0}`],
  ],
  compare: compareVolume,
  parts: [...PARTS, ...LIMITS],
})

/** The disk for UEFI variables. Its content cannot be converted to another type, so those changes are replacements. */
export const efiDisk = device<VmSpec, VmEfiDisk>({
  path: 'efiDisk',
  key: 'efidisk0',
  bare: 'file',
  effect: 'restart',
  declared: (vm) => vm.efiDisk,
  start: ({ storage }) => [['file', `${storage}:1`]],
  compare: compareVolume,
  parts: [
    { field: 'type', key: 'efitype', fallback: '2m', effect: 'replace' },
    { field: 'format', key: 'format', onlyNew: true },
    { field: 'preEnrolledKeys', key: 'pre-enrolled-keys', fallback: false, effect: 'replace' },
  ],
})

/** The TPM's state. Its version cannot change: its keys would be lost. */
export const tpm = device<VmSpec, NonNullable<VmSpec['tpm']>>({
  path: 'tpm',
  key: 'tpmstate0',
  bare: 'file',
  effect: 'restart',
  declared: (vm) => vm.tpm,
  start: ({ storage }) => [
    ['file', `${storage}:1`],
    ['version', 'v2.0'],
  ],
  compare: compareVolume,
  // If absent, an old guest has version 1.2.
  parts: [{ field: 'version', key: 'version', fallback: 'v1.2', effect: 'replace' }],
})

/** Disks to grow, with their new size. Growing needs a separate call. */
export function growing(
  vmDisks: readonly VmDisk[],
  chosen: ReadonlySet<string>,
): { slot: string; sizeGb: number; storage: string }[] {
  return vmDisks.flatMap(({ slot, sizeGb, storage }) =>
    sizeGb !== undefined && chosen.has(`disks.${slot}.sizeGb`) ? [{ slot, sizeGb, storage }] : [],
  )
}

/** Returns a volume's storage: `local` of `local:100/vm-100-disk-0.raw`. */
export function storageOf(volume: string | undefined): string | undefined {
  const colon = volume?.indexOf(':') ?? -1
  return volume === undefined || colon <= 0 ? undefined : volume.slice(0, colon)
}

/** Only storages with files have a format; others are always raw. */
export function formatOf(volume: string | undefined): string | undefined {
  return /\.(raw|qcow2|vmdk)$/.exec(volume ?? '')?.[1]
}

/** Reports whether a drive can be added or removed while the guest runs. */
export function plugsDrive(config: ApiFields, slot: string): boolean {
  return hotplugs(config, 'disk') && (slot.startsWith('scsi') || slot.startsWith('virtio'))
}

/** Compares a volume's storage, size and format: Proxmox copies and grows it while the guest runs. */
export function compareVolume(
  path: string,
  declared: { readonly storage?: string; readonly sizeGb?: number; readonly format?: string },
  seen: Properties,
  changes: Change[],
): void {
  const { storage, sizeGb, format } = declared
  const volume = seen.get('file') ?? seen.get('volume')
  const from = storageOf(volume)
  if (storage !== undefined && storage !== from)
    changes.push({ path: `${path}.storage`, from, to: storage, effect: 'live' })
  // Some storages report no size, and size 0 is a directory without a limit.
  const gib = (parseSize(seen.get('size')) ?? 0) / GIB
  if (sizeGb !== undefined && gib !== 0 && gib !== sizeGb) {
    // A disk never shrinks in place: its data would be truncated.
    const effect = gib > sizeGb ? 'replace' : 'live'
    changes.push({ path: `${path}.sizeGb`, from: Math.round(gib * 1000) / 1000, to: sizeGb, effect })
  }
  const seenFormat = formatOf(volume)
  if (format !== undefined && seenFormat !== undefined && format !== seenFormat)
    changes.push({ path: `${path}.format`, from: seenFormat, to: format, effect: 'live' })
}

function flat(declared: VmDisk): FlatDisk {
  // Omitting one field costs more than comparing all, and this runs for each disk.
  if (declared.speed === undefined) return declared
  const { speed, ...disk } = declared
  const limits = Object.entries(speed).map(([field, value]) => [`speed.${field}`, value as unknown])
  return { ...disk, ...(Object.fromEntries(limits) as Partial<FlatDisk>) }
}

/** CD drives: a file, `none` for an empty drive, `cdrom` for the host's own. A disc can change at any time. */
export const cdrom: VmOption = {
  create({ spec: vm }, params) {
    for (const { slot, file } of vm.cdrom ?? []) params[slot] = `${file},media=cdrom`
  },
  compare({ spec: vm }, config, changes) {
    for (const { slot, file } of vm.cdrom ?? []) {
      const text = textOf(config[slot])
      const seen = text === undefined ? undefined : parseProperties(text, 'file')
      const isDrive = seen?.get('media') === 'cdrom'
      const from = isDrive ? (seen?.get('file') ?? seen?.get('volume')) : undefined
      if (from === file) continue
      // A new drive is a new device, and its slots cannot be hot-plugged.
      changes.push({ path: `cdrom.${slot}`, from: from ?? text, to: file, effect: isDrive ? 'live' : 'restart' })
    }
  },
  update({ spec: vm }, _config, params, chosen) {
    for (const { slot, file } of vm.cdrom ?? []) if (chosen.has(`cdrom.${slot}`)) params[slot] = `${file},media=cdrom`
  },
}

/** Boot devices. If undeclared, a new guest boots from its first disk and an existing one keeps its order. */
export const bootOrder: VmOption = {
  create({ spec: vm }, params) {
    const first = vm.disks[0]?.slot
    const order = vm.bootOrder ?? (first === undefined ? [] : [first])
    if (order.length > 0) params.boot = printOrder(order)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.bootOrder === undefined) return
    const text = textOf(config.boot) ?? ''
    const from = (parseProperties(text, 'legacy').get('order') ?? '').split(';').filter((device) => device !== '')
    const to = vm.bootOrder
    if (from.length === to.length && from.every((device, at) => device === to[at])) return
    changes.push({ path: 'bootOrder', from, to, effect: 'restart' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('bootOrder') && vm.bootOrder !== undefined) params.boot = printOrder(vm.bootOrder)
  },
}

function printOrder(devices: readonly string[]): string {
  return `order=${devices.join(';')}`
}

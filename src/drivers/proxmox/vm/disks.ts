import type { Change } from '../../../model/change.ts'
import type { VmDisk } from '../../../model/vm.ts'
import { type Foreign, flagOf } from '../foreign.ts'
import { type Properties, parseProperties, parseSize, printProperties } from '../property-string.ts'
import { type Effect, hotplugs, printFlag, textOf, type VmOption } from './option.ts'

const GIB = 2 ** 30
/** An empty disk needs a size; this is what it gets when none is declared. */
const DEFAULT_SIZE_GB = 8

interface DiskField {
  readonly field: 'cache' | 'aio' | 'iothread' | 'ssd' | 'discard' | 'backup' | 'replicate' | 'serial'
  readonly key: string
  /** Proxmox's own value when the part is left out. */
  readonly fallback: string
  readonly effect: Effect
}

// Proxmox changes only these on a running guest: backup and replicate concern no device.
const FIELDS: readonly DiskField[] = [
  { field: 'cache', key: 'cache', fallback: 'none', effect: 'restart' },
  { field: 'aio', key: 'aio', fallback: 'io_uring', effect: 'restart' },
  { field: 'iothread', key: 'iothread', fallback: '0', effect: 'restart' },
  { field: 'ssd', key: 'ssd', fallback: '0', effect: 'restart' },
  { field: 'discard', key: 'discard', fallback: 'ignore', effect: 'restart' },
  { field: 'backup', key: 'backup', fallback: '1', effect: 'live' },
  { field: 'replicate', key: 'replicate', fallback: '1', effect: 'live' },
  { field: 'serial', key: 'serial', fallback: '', effect: 'restart' },
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
      const fields = FIELDS.filter(({ field }) => chosen.has(`${path}.${field}`))
      if (fields.length > 0) params[disk.slot] = changedDisk(text, disk, fields)
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

function compareDisk(disk: VmDisk, config: Foreign, changes: Change[]): void {
  const path = `disks.${disk.slot}`
  const text = textOf(config[disk.slot])
  if (text === undefined) {
    const effect =
      hotplugs(config, 'disk') && !disk.slot.startsWith('ide') && !disk.slot.startsWith('sata') ? 'live' : 'restart'
    changes.push({ path, from: undefined, to: newDisk(disk), effect })
    return
  }
  const seen = parseProperties(text, 'file')
  const volume = seen.get('file') ?? seen.get('volume')
  const storage = storageOf(volume)
  if (storage !== disk.storage)
    changes.push({ path: `${path}.storage`, from: storage, to: disk.storage, effect: 'replace' })
  compareSize(path, disk, seen, changes)
  compareFormat(path, disk, volume, changes)
  for (const { field, key, fallback, effect } of FIELDS) {
    const declared = disk[field]
    if (declared === undefined) continue
    const raw = seen.get(key) ?? fallback
    const from = typeof declared === 'boolean' ? flagOf(raw) : decodeSerial(field, raw)
    if (from !== declared) changes.push({ path: `${path}.${field}`, from, to: declared, effect })
  }
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

/** Only storages that keep files show a format; on the others there is only raw. */
function compareFormat(path: string, disk: VmDisk, volume: string | undefined, changes: Change[]): void {
  const from = /\.(raw|qcow2|vmdk)$/.exec(volume ?? '')?.[1]
  if (disk.format === undefined || from === undefined || from === disk.format) return
  changes.push({ path: `${path}.format`, from, to: disk.format, effect: 'replace' })
}

/** `local:0,import-from=local:import/noble.qcow2` or `local:32`, with everything that is declared. */
function newDisk(disk: VmDisk): string {
  const size = disk.importFrom === undefined ? (disk.sizeGb ?? DEFAULT_SIZE_GB) : 0
  const properties: Properties = new Map([['file', `${disk.storage}:${size}`]])
  if (disk.importFrom !== undefined) properties.set('import-from', disk.importFrom)
  if (disk.format !== undefined) properties.set('format', disk.format)
  setFields(properties, disk, FIELDS)
  return printProperties(properties, 'file')
}

/** The same volume with the chosen parts set anew and every other part as it was. */
function changedDisk(text: string, disk: VmDisk, fields: readonly DiskField[]): string {
  const properties = parseProperties(text, 'file')
  setFields(properties, disk, fields)
  return printProperties(properties, 'file')
}

function setFields(properties: Properties, disk: VmDisk, fields: readonly DiskField[]): void {
  for (const { field, key } of fields) {
    const value = disk[field]
    if (value === undefined) continue
    if (field === 'serial') properties.set(key, encodeURIComponent(String(value)))
    else properties.set(key, typeof value === 'boolean' ? printFlag(value) : value)
  }
}

/** Serial numbers are percent-encoded inside the property string. */
function decodeSerial(field: DiskField['field'], raw: string): string {
  if (field !== 'serial' || !raw.includes('%')) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

import { createHash } from 'node:crypto'
import type { GuestSystem } from './parts.ts'
import { parseProperties } from './properties.ts'
import { parseSize } from './sizes.ts'
import type { Guest, Host } from './types.ts'
import { findVolume } from './volumes.ts'

/** Slots that hold a disk or a drive, in the order in which Proxmox works through them. */
const DRIVE_ORDER = ['ide', 'scsi', 'virtio', 'sata', 'efidisk', 'tpmstate']

const DRIVE = /^(ide|scsi|virtio|sata|efidisk|tpmstate)(\d+)$/

export function isDrive(key: string): boolean {
  return DRIVE.test(key)
}

export function isUnused(key: string): boolean {
  return /^unused\d+$/.test(key)
}

export function driveKeys(config: ReadonlyMap<string, string>): string[] {
  const rank = (key: string) => {
    const match = DRIVE.exec(key)
    return match ? DRIVE_ORDER.indexOf(match[1] ?? '') * 100 + Number(match[2]) : 0
  }
  return [...config.keys()].filter(isDrive).sort((a, b) => rank(a) - rank(b))
}

export function isCdrom(value: string): boolean {
  return /(^|,)media=cdrom(,|$)/.test(value)
}

/** The volume id that a drive points to; empty for `none` and `cdrom`. */
export function driveVolume(value: string): string {
  const main = parseProperties(value, 'file').main
  return main === 'none' || main === 'cdrom' ? '' : main
}

export function bootOrder(config: ReadonlyMap<string, string>): string[] {
  const boot = config.get('boot') ?? ''
  const order = /(?:^|,)order=([^,]*)/.exec(boot)?.[1]
  if (order !== undefined) return order.split(';').filter((device) => device !== '')
  return defaultBootDevices(config)
}

/** Disk, drive, network card: the first of each. */
export function defaultBootDevices(config: ReadonlyMap<string, string>): string[] {
  const drives = driveKeys(config).filter((key) => !/^(efidisk|tpmstate)/.test(key))
  const disk = drives.find((key) => !isCdrom(config.get(key) ?? ''))
  const cdrom = drives.find((key) => isCdrom(config.get(key) ?? ''))
  const card = [...config.keys()].filter((key) => /^net\d+$/.test(key)).sort(byNumber)[0]
  return [disk, cdrom, card].filter((device) => device !== undefined)
}

const byNumber = (a: string, b: string) => Number(a.replace(/\D+/, '')) - Number(b.replace(/\D+/, ''))

/** What would boot: the system on the first disk in the boot order that has one. */
export function bootableSystem(host: Host, config: ReadonlyMap<string, string>): GuestSystem | undefined {
  // A kernel that is named needs no disk.
  if (/(^|\s)-kernel\s/.test(config.get('args') ?? '')) return { agent: true, acpi: true }
  for (const device of bootOrder(config)) {
    const value = config.get(device)
    if (value === undefined || !isDrive(device) || isCdrom(value)) continue
    const system = findVolume(host, driveVolume(value))?.system
    if (system !== undefined) return system
  }
  return undefined
}

export function agentEnabled(config: ReadonlyMap<string, string>): boolean {
  const value = config.get('agent')
  return value !== undefined && parseProperties(value, 'enabled').main === '1'
}

/** The size of the disk that a guest boots from, as lists show it. */
export function maxDiskBytes(host: Host, guest: Guest): number {
  if (guest.type === 'lxc') return rootBytes(guest.config.get('rootfs') ?? '')
  for (const device of bootOrder(guest.config)) {
    const value = guest.config.get(device)
    if (value === undefined || !isDrive(device) || isCdrom(value)) continue
    return findVolume(host, driveVolume(value))?.sizeBytes ?? 0
  }
  return 0
}

/** A root without a limit is shown as four GiB. */
function rootBytes(rootfs: string): number {
  return parseSize(parseProperties(rootfs).named.get('size') ?? '') || 4 * 1024 ** 3
}

export function memoryMb(config: ReadonlyMap<string, string>): number {
  const value = config.get('memory')
  return value === undefined ? 512 : Number(parseProperties(value, 'current').main) || 512
}

export function cpuCount(config: ReadonlyMap<string, string>): number {
  const vcpus = config.get('vcpus')
  const all = Number(config.get('cores') ?? 1) * Number(config.get('sockets') ?? 1)
  return vcpus === undefined ? all : Number(vcpus)
}

export function guestName(guest: Guest): string {
  const name = guest.config.get(guest.type === 'qemu' ? 'name' : 'hostname')
  return name ?? (guest.type === 'qemu' ? `VM ${guest.vmid}` : `CT${guest.vmid}`)
}

/** The file as it lies in /etc/pve, and what its digest is made of. */
export function configText(guest: Guest): string {
  const lines: string[] = []
  section(lines, guest.config)
  if (guest.pending.size > 0 || guest.pendingDelete.size > 0) {
    lines.push('', '[PENDING]')
    section(lines, guest.pending)
    if (guest.pendingDelete.size > 0) lines.push(`delete: ${[...guest.pendingDelete].join(',')}`)
  }
  for (const [name, snapshot] of guest.snapshots) {
    lines.push('', `[${name}]`, `snaptime: ${snapshot.timeSeconds}`)
    section(lines, snapshot.config)
  }
  return `${lines.join('\n')}\n`
}

function section(lines: string[], config: ReadonlyMap<string, string>): void {
  const description = config.get('description')
  if (description !== undefined)
    for (const line of description.split('\n')) lines.push(`#${encodeURI(line.toWellFormed())}`)
  for (const key of [...config.keys()].sort()) if (key !== 'description') lines.push(`${key}: ${config.get(key)}`)
}

export function configDigest(guest: Guest): string {
  if (guest.digest?.version !== guest.version) {
    guest.digest = { version: guest.version, value: createHash('sha1').update(configText(guest)).digest('hex') }
  }
  return guest.digest.value
}

/** Every write to a configuration goes through here or calls it afterwards: otherwise an old digest would be believed. */
export function touch(guest: Guest): void {
  guest.version += 1
}

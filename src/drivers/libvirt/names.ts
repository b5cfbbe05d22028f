import { createHash } from 'node:crypto'
import type { ObservedResource } from '../../model/resource.ts'
import type { DiskView, DomainView } from './domain-view.ts'

/**
 * Returns the UUID of a machine. Derived from its uid and never random, so that a second attempt meets the first one,
 * and a recreated machine is the same one to others.
 */
export function uuidOf(uid: string): string {
  const digits = createHash('sha256').update(`croft libvirt domain\0${uid}`).digest('hex').slice(0, 32).split('')
  digits[12] = '8'
  digits[16] = (8 + (Number.parseInt(digits[16] ?? '0', 16) % 4)).toString(16)
  const text = digits.join('')
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-')
}

export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const SEED_DIGITS = 12

export function shortHash(hash: string): string {
  return hash.slice(0, SEED_DIGITS)
}

/** Returns the volume of a disk: its name shows its owner, and only volumes with such names are ever deleted. */
export function diskVolume(uid: string, slot: string, format: string): string {
  return `croft-${uid}-${slot}.${format}`
}

export function seedVolume(uid: string, hash: string): string {
  return `croft-${uid}-seed-${shortHash(hash)}.iso`
}

export function isVolumeOf(uid: string, volume: string): boolean {
  return new RegExp(`^croft-${uid}-[a-z]+[0-9]*(?:-[0-9a-f]{${SEED_DIGITS}})?\\.[a-z0-9]+$`).test(volume)
}

/** Reports whether a volume holds data of this machine: its seed holds none. */
export function isDiskOf(uid: string, volume: string): boolean {
  return isVolumeOf(uid, volume) && seedHashIn(uid, volume) === undefined
}

/** Returns the hash in the name of a seed volume of this machine. */
export function seedHashIn(uid: string, volume: string): string | undefined {
  const found = /^croft-([0-9a-f]{16})-seed-([0-9a-f]{12})\.iso$/.exec(volume)
  return found?.[1] === uid ? found[2] : undefined
}

const SLOT = /^(virtio|scsi|sata|ide)(\d{1,2})$/

export interface Target {
  /** `vda`. */
  readonly dev: string
  readonly bus: 'virtio' | 'scsi' | 'sata' | 'ide'
}

/** SCSI and SATA share their letters, so SATA begins further on. */
const FIRST_SATA = 12

/** Returns the device of a declared slot; undefined if libvirt has none. */
export function targetOf(slot: string): Target | undefined {
  const [, bus, digits] = SLOT.exec(slot) ?? []
  const at = Number(digits)
  switch (bus) {
    case 'virtio':
      return at < 26 ? { dev: `vd${letter(at)}`, bus } : undefined
    case 'scsi':
      return at < FIRST_SATA ? { dev: `sd${letter(at)}`, bus } : undefined
    case 'sata':
      return at < 6 ? { dev: `sd${letter(FIRST_SATA + at)}`, bus } : undefined
    case 'ide':
      return at < 4 ? { dev: `hd${letter(at)}`, bus } : undefined
    default:
      return undefined
  }
}

/** Returns a foreign device's slot in the declaration's terms. */
export function slotOf(dev: string, bus: string): string | undefined {
  const at = (dev.codePointAt(2) ?? 0) - 97
  if (dev.length !== 3 || at < 0 || at > 25) return undefined
  if (bus === 'virtio') return `virtio${at}`
  if (bus === 'ide') return `ide${at}`
  if (bus === 'sata') return `sata${at >= FIRST_SATA ? at - FIRST_SATA : at}`
  return bus === 'scsi' ? `scsi${at}` : undefined
}

function letter(at: number): string {
  return String.fromCodePoint(97 + at)
}

/** Returns pool and volume of `default:import/noble.qcow2` or `default:noble.qcow2`. */
export function volumeOf(id: string): { readonly pool: string; readonly volume: string } | undefined {
  const [, pool, volume] = /^([^:]+):(?:[a-z]+\/)?([^/]+)$/.exec(id) ?? []
  return pool === undefined || volume === undefined ? undefined : { pool, volume }
}

/** How printed commands begin: without a URI, virsh of a user other than root asks a daemon of that user. */
export const VIRSH = 'virsh -c qemu:///system'

/** What makes a pool answer again. */
export function poolCommand(pool: string): string {
  return `run on the host: ${VIRSH} pool-start ${pool}; or, if it is gone for good: ${VIRSH} pool-undefine ${pool}`
}

/** Returns the record's detail that the disk on this device existed while its machine ran. */
export function ranFact(dev: string): string {
  return `ran ${dev}`
}

/** A close look: this driver's shape of `ObservedResource.close.config`. */
export interface DomainConfig {
  readonly [key: string]: unknown
  readonly digest: string
  readonly name: string
  /** People's text, without croft's line. */
  readonly human: string
  readonly description: string
  readonly tags: string
  readonly humanTags: readonly string[]
  readonly onBoot: boolean
  /** Its state after the next start. */
  readonly domain: DomainView
  /** Its running state. */
  readonly live: DomainView | undefined
  /** Sizes in bytes of its disks' volumes, by `pool:volume`. A volume of a pool that was read, missing here, does not exist. */
  readonly volumes: Readonly<Record<string, number>>
  /** All volumes named after it, in the pools that it uses. */
  readonly ours: readonly string[]
  /** Pools of its disks that could not be listed, and why: what is in them is not known. */
  readonly unread: Readonly<Record<string, string>>
  /** Pools of its host that are not active: a disk in them may stand on one of its disks. */
  readonly hidden: readonly string[]
  /** Number of its snapshots in libvirt. */
  readonly snapshots: number
}

export function configOf(observed: ObservedResource): DomainConfig | undefined {
  const config = observed.close?.config
  return config === undefined || config.domain === undefined ? undefined : (config as DomainConfig)
}

interface Inserted {
  readonly disk: DiskView
  readonly hash: string
}

/** Returns a domain's disc with a seed. */
export function insertedSeed(uid: string | undefined, domain: DomainView | undefined): Inserted | undefined {
  for (const disk of domain?.disks ?? []) {
    const hash = disk.volume === undefined ? undefined : seedHashIn(uid ?? '', disk.volume)
    if (hash !== undefined) return { disk, hash }
  }
  return undefined
}

import { createHash } from 'node:crypto'
import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import { driveKeys, driveVolume } from './guest-config.ts'
import type { Inside } from './parts.ts'
import { parseProperties } from './properties.ts'
import { readIso } from './read-iso.ts'
import type { Guest, Host } from './types.ts'
import { findVolume } from './volumes.ts'

/** Reads the seed that cloud-init finds at boot: an uploaded disc, else the drive that Proxmox makes. */
export function readSeed(host: Host, guest: Guest): void {
  readSeedDisc(host, guest)
  if (guest.inside === undefined || guest.inside.own === true) readOwnDrive(host, guest)
}

/**
 * Proxmox's own drive, as far as it holds user data of the owner's (`cicustom`): what Proxmox writes there by itself, a name
 * and a user, needs no cloud-init here.
 */
function readOwnDrive(host: Host, guest: Guest): void {
  const drive = driveKeys(guest.config).some((key) => (guest.config.get(key) ?? '').includes('cloudinit'))
  const volume = parseProperties(guest.config.get('cicustom') ?? '').named.get('user')
  const userData = drive && volume !== undefined ? findVolume(host, volume)?.text : undefined
  if (userData === undefined) return
  const instanceId = createHash('sha1').update(userData).digest('hex')
  if (guest.inside?.instanceId === instanceId) return
  const { hostname } = yaml(new TextEncoder().encode(userData))
  guest.inside = {
    instanceId,
    runs: (guest.inside?.runs ?? 0) + 1,
    userData,
    hostname: typeof hostname === 'string' ? hostname : undefined,
    cards: undefined,
    own: true,
  }
}

/** cloud-init at boot: a disc labelled CIDATA with another instance id than the last is read and acted upon. */
function readSeedDisc(host: Host, guest: Guest): void {
  for (const key of driveKeys(guest.config)) {
    const bytes = findVolume(host, driveVolume(guest.config.get(key) ?? ''))?.bytes
    const disc = bytes === undefined ? undefined : readIso(bytes)
    if (disc?.volumeId.toUpperCase() !== 'CIDATA') continue
    const metaData = yaml(disc.files.get('meta-data'))
    const instanceId = String(metaData['instance-id'])
    if (guest.inside?.instanceId === instanceId) return
    const userData = text(disc.files.get('user-data'))
    const hostname = yaml(disc.files.get('user-data')).hostname ?? metaData['local-hostname']
    guest.inside = {
      instanceId,
      runs: (guest.inside?.runs ?? 0) + 1,
      userData,
      hostname: typeof hostname === 'string' ? hostname : undefined,
      cards: disc.files.has('network-config') ? cardsOf(yaml(disc.files.get('network-config'))) : undefined,
    }
    return
  }
}

function cardsOf(config: Record<string, unknown>): Inside['cards'] {
  const cards = new Map<string, { dhcp: boolean; addresses: readonly string[] }>()
  for (const card of Object.values((config.ethernets ?? {}) as Record<string, Record<string, unknown>>)) {
    const mac = (card.match as { macaddress?: string } | undefined)?.macaddress
    if (mac === undefined) continue
    cards.set(mac.toLowerCase(), { dhcp: card.dhcp4 === true, addresses: (card.addresses ?? []) as string[] })
  }
  return cards
}

function yaml(bytes: Uint8Array | undefined): Record<string, unknown> {
  const tree: unknown = yamlLibrary().parse(text(bytes), { version: '1.1' })
  return typeof tree === 'object' && tree !== null ? (tree as Record<string, unknown>) : {}
}

function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes ?? new Uint8Array())
}

import { driveVolume, isCdrom, isDrive, isUnused } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { contentOfName, findVolume, parseVolumeId } from '../../../world/volumes.ts'
import type { StorageMap } from '../guest/storage-map.ts'
import { requireEnabled } from '../storage-check.ts'
import { isBaseInUse } from './destroy.ts'

/** A migration as it is judged when its task begins. */
export interface GuestMove {
  readonly world: World
  readonly guest: Guest
  readonly from: Host
  readonly to: Host
  readonly storages: StorageMap
  readonly withLocalDisks: boolean
  readonly force: boolean
}

/** Every storage of the disks must be there, too. Answers what is wrong by throwing it. */
export function requireStorages(world: World, guest: Guest, from: Host, to: Host): void {
  for (const volid of drives(guest)) {
    const { storage, name } = parseVolumeId(volid) ?? { storage: '', name: '' }
    const entry = requireEnabled(world, from.name, storage)
    requireEnabled(world, to.name, storage)
    const content = contentOfName(name) ?? 'images'
    if (!entry.content.includes(content))
      throw new Error(`${volid}: content type '${content}' is not available on storage '${storage}'`)
  }
}

/** Why it cannot go, in the words of the log. Undefined: nothing keeps it. */
export function whatKeeps(migration: GuestMove): string | undefined {
  return devicesThatKeep(migration) ?? storagesThatKeep(migration) ?? volumesThatKeep(migration)
}

function devicesThatKeep({ guest, world, to, force }: GuestMove): string | undefined {
  const running = guest.run.status === 'running'
  const local: string[] = []
  const missing: string[] = []
  for (const [key, value] of guest.config) {
    if (!/^(?:usb|hostpci|serial|parallel|virtiofs)\d+$/.test(key)) continue
    const { main, named } = parseProperties(value, key.startsWith('virtiofs') ? 'dirid' : 'host')
    if (/^spice$/i.test(main) || (key.startsWith('serial') && value === 'socket')) continue
    const name = key.startsWith('virtiofs') ? main : named.get('mapping')
    if (name === undefined) {
      local.push(key)
      continue
    }
    const shelf = key.startsWith('usb') ? 'usb' : key.startsWith('hostpci') ? 'pci' : 'dir'
    const map = world.shelves.get(`mapping/${shelf}`)?.get(name)?.map
    const there = (Array.isArray(map) ? map : []).some((one) => new RegExp(`\\bnode=${to.name}\\b`).test(String(one)))
    if (!there) missing.push(key)
    else if (running && !key.startsWith('usb')) local.push(key)
  }
  if (local.length > 0 && (running || !force)) return `can't migrate VM which uses local devices: ${local.join(', ')}`
  return missing.length > 0 ? `can't migrate to '${to.name}': missing mapped devices ${missing.join(', ')}` : undefined
}

function storagesThatKeep({ guest, world, to, storages }: GuestMove): string | undefined {
  for (const volid of drives(guest)) {
    const { storage, name } = parseVolumeId(volid) ?? { storage: '', name: '' }
    const target = world.storages.get(storage)?.shared === true ? storage : storages.to(storage)
    const content = contentOfName(name) ?? 'images'
    if (!requireEnabled(world, to.name, target).content.includes(content))
      return `${volid}: content type '${content}' is not available on storage '${target}'`
  }
  return undefined
}

function volumesThatKeep({ guest, world, from, withLocalDisks }: GuestMove): string | undefined {
  const running = guest.run.status === 'running'
  const wrong = 'Problem found while scanning volumes - '
  for (const [key, value] of guest.config) {
    if (!isDrive(key) && !isUnused(key)) continue
    const volid = driveVolume(value)
    if (isCdrom(value) && volid === 'cdrom') return `${wrong}can't migrate VM - check log`
    const storage = world.storages.get(parseVolumeId(volid)?.storage ?? '')
    if (volid === '' || storage?.shared !== false) continue
    const generated = /cloudinit/.test(volid) || key.startsWith('tpmstate')
    const isImage = isCdrom(value) && !generated
    const attached = isDrive(key) && !generated
    const stuck = isImage || (running && attached && !withLocalDisks) || isBaseInUse(from, volid)
    if (stuck) return `${wrong}can't migrate VM - check log`
    const parent = findVolume(from, volid)?.parent
    if (parent !== undefined) return `${wrong}can't migrate '${volid}' as it's a clone of '${parent}'`
  }
  return undefined
}

function drives(guest: Guest): readonly string[] {
  return [...guest.config].flatMap(([key, value]) => {
    const volid = isDrive(key) ? driveVolume(value) : ''
    return parseVolumeId(volid) === undefined ? [] : [volid]
  })
}

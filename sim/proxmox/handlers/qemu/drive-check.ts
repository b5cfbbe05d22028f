import { may } from '../../../world/access.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { isDrive, isUnused } from '../../../world/guest-config.ts'
import type { StorageEntry } from '../../../world/parts.ts'
import { type Properties, parseProperties } from '../../../world/properties.ts'
import { contentOfName, parseVolumeId, type VolumeId, volumeAtPath } from '../../../world/volumes.ts'
import { badParameter, failed, forbidden, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, hostOf } from '../../call.ts'
import { requireRight } from '../guest/option-rights.ts'
import { backupOwner } from '../storage/backup-name.ts'

const NEW_DISK = /^([^:\s]+):(\d+(?:\.\d+)?)$/

function drivesOf(call: Call): [string, Properties][] {
  return Object.entries(call.params)
    .filter(([key]) => isDrive(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => [key, parseProperties(value, 'file')])
}

/** What is wrong with the texts of drives themselves. A change asks it first, a new machine last. */
export function checkDriveTexts(call: Call): void {
  for (const [key, { main, named }] of drivesOf(call)) {
    for (const limit of ['mbps', 'iops']) {
      if (named.has(limit) && (named.has(`${limit}_rd`) || named.has(`${limit}_wr`)))
        throw badParameter(key, 'unable to parse drive options')
    }
    if (named.has('import-from')) checkImport(key, main, named)
    const volid = main.startsWith('/') && !main.startsWith('/dev/') ? volumeOfPath(call, key, main) : main
    const id = parseVolumeId(volid)
    if (id === undefined || NEW_DISK.test(volid) || id.name === 'cloudinit') continue
    requireReadable(call, id)
    // A file that is named by its path is taken for what it is.
    if (contentOfName(id.name) === 'iso' && named.get('media') !== 'cdrom' && volid === main)
      throw badParameter(key, "explicit 'media=cdrom' is required for iso images")
  }
}

/** Who may use the volumes that drives name. A missing volume is met later. */
export function checkDriveAccess(call: Call, isNew = false): void {
  for (const [key, drive] of drivesOf(call)) checkAccess(call, key, drive, isNew)
  for (const [key, value] of Object.entries(call.params)) if (isUnused(key)) checkUnused(call, value)
  const { vmstatestorage } = call.params
  if (vmstatestorage !== undefined) requireRight(call, `/storage/${vmstatestorage}`, 'Datastore.AllocateSpace')
}

function checkUnused(call: Call, volid: string): void {
  const id = parseVolumeId(volid)
  if (id === undefined) return
  requireReadable(call, id)
  if (contentOfName(id.name) !== 'images')
    throw failed(`unable to use volume ${volid} - content type needs to be 'images'`)
  requireVolume(call, volid)
}

function checkAccess(call: Call, key: string, { main: said, named }: Properties, isNew: boolean): void {
  const { world } = call
  const cdrom = named.get('media') === 'cdrom'
  // That the drive of the host is one for discs is said before a change is looked at, and of a new machine after it.
  if (said === 'cdrom' && isNew && !cdrom && call.who.id !== 'root@pam') throw onlyRootNamesPaths()
  if (said === 'cdrom') requireRight(call, '/', 'Sys.Console')
  if (said === 'none' || said === 'cdrom') return
  if (said.startsWith('/') && call.who.id !== 'root@pam') throw onlyRootNamesPaths()
  const main = said.startsWith('/') ? (volumeAtPath(world, hostOf(call), said) ?? said) : said
  // A device of the host: whether there is one is found out when it is used.
  const id = parseVolumeId(main)
  if (id === undefined || id.name === 'cloudinit') return
  if (!cdrom && NEW_DISK.test(main)) {
    requireRight(call, `/storage/${id.storage}`, 'Datastore.AllocateSpace')
    const entry = world.storages.get(id.storage)
    if (entry === undefined) throw failed(`storage '${id.storage}' does not exist`)
    if (!entry.content.includes('images'))
      throw badParameter('storage', `storage '${id.storage}' does not support vm images`)
  } else {
    requireReadable(call, id)
    requireVolume(call, main)
    if (!/^(images|iso)$/.test(contentOfName(id.name) ?? ''))
      throw badParameter(key, "content type needs to be 'images' or 'iso'")
  }
  const source = named.get('import-from')
  if (source !== undefined) checkSource(call, key, source)
}

/** The storage of a volume, if its names can be read as such. */
function requireReadable(call: Call, id: VolumeId): StorageEntry {
  const entry = call.world.storages.get(id.storage)
  if (entry === undefined) throw failed(`storage '${id.storage}' does not exist`)
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
  return entry
}

function volumeOfPath(call: Call, key: string, path: string): string {
  const volid = volumeAtPath(call.world, hostOf(call), path)
  if (volid === undefined) throw badParameter(key, `unable to associate path '${path}' to any storage`)
  return volid
}

/** Requires the right to use a volume: of the storage's administrator, or of its owner with rights on both. */
export function requireVolume(call: Call, volid: string): void {
  const { world, who } = call
  const id = parseVolumeId(volid)
  if (id === undefined) return
  const path = `/storage/${id.storage}`
  const has = (privilege: string) => may(world, who, path, privilege)
  if (has('Datastore.Allocate')) return
  const content = contentOfName(id.name)
  const owner = /(?:^|\/)(?:vm|base|subvol)-(\d+)-/.exec(id.name)?.[1]
  if (content === 'iso' || content === 'vztmpl' || content === 'import') {
    if (!has('Datastore.AllocateSpace') && !has('Datastore.Audit'))
      throw forbidden(`${path}, Datastore.AllocateSpace|Datastore.Audit`)
  } else if (owner !== undefined && owner === call.params.vmid) {
    return
  } else if (content === 'backup') {
    const backedUp = backupOwner(id.name)
    if (backedUp !== undefined && `${backedUp}` === call.params.vmid) return
    if (backedUp === undefined) throw failed(`missing privileges to access ${volid}`)
    requireRight(call, path, 'Datastore.AllocateSpace')
    requireRight(call, `/vms/${backedUp}`, 'VM.Backup')
  } else if (content === 'images' && owner !== undefined) {
    requireRight(call, path, 'Datastore.Audit')
    requireRight(call, `/vms/${owner}`, 'VM.Config.Disk')
  } else throw failed(`missing privileges to access ${volid}`)
}

/** Properties that an image does not tell. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  efidisk0: ['efitype', 'pre-enrolled-keys'],
  tpmstate0: ['version'],
}

function checkImport(key: string, main: string, named: ReadonlyMap<string, string>): void {
  if (!/:0(?:\.0+)?$/.test(main))
    throw badParameter(key, `'import-from' requires special syntax - use <storage ID>:0,import-from=<source>`)
  const unsaid = (SAID[key] ?? []).find((name) => !named.has(name))
  if (unsaid !== undefined) throw badParameter(key, `need to specify '${unsaid}' when using 'import-from'`)
}

/** A missing source is found out by the task, a wrong kind of source at once. */
function checkSource(call: Call, key: string, source: string): void {
  const id = parseVolumeId(source)
  if (id === undefined && call.who.id === 'root@pam') return
  if (id === undefined) throw onlyRootNamesPaths()
  if (!call.world.storages.has(id.storage)) throw failed(`storage '${id.storage}' does not exist`)
  const content = contentOfName(id.name)
  if (content !== 'images' && content !== 'import')
    throw badParameter(key, `${source} has wrong type '${content ?? 'unknown'}' - needs to be 'images' or 'import'`)
  const owner = content === 'images' ? /(?:^|\/)(?:vm|base)-(\d+)-/.exec(id.name)?.[1] : undefined
  if (owner !== undefined) requireRight(call, `/vms/${owner}`, 'VM.Clone')
  else requireVolume(call, source)
}

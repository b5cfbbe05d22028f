import { may } from '../../../world/access.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { isDrive, isUnused } from '../../../world/guest-config.ts'
import { type Properties, parseProperties } from '../../../world/properties.ts'
import { contentOfName, parseVolumeId, storageOn, volumeAtPath } from '../../../world/volumes.ts'
import { badParameter, failed, forbidden, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, hostOf } from '../../call.ts'
import { requireRight } from '../guest/option-rights.ts'
import { backupOwner } from '../storage/backup-name.ts'

/** Refuses what the daemon refuses before it starts any work: unknown storage, wrong source. A missing volume is met later. */
export function checkDrives(call: Call): void {
  for (const [key, value] of Object.entries(call.params)) {
    if (isDrive(key)) checkDrive(call, key, value)
    else if (isUnused(key)) checkUnused(call, value)
  }
}

function checkUnused({ world }: Call, value: string): void {
  const id = parseVolumeId(value)
  const unread =
    id !== undefined && world.storages.get(id.storage)?.files === true ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
}

const NEW_DISK = /^([^:\s]+):(\d+(?:\.\d+)?)$/

function checkDrive(call: Call, key: string, value: string): void {
  const { world } = call
  const host = hostOf(call)
  const { main: said, named } = parseProperties(value, 'file')
  if (said === 'none' || said === 'cdrom') return
  const main = said.startsWith('/') ? volumeOfPath(call, key, said) : said
  // A device of the host: whether there is one is found out when it is used.
  if (main === undefined) return
  const id = parseVolumeId(main)
  if (id === undefined) return
  // That a storage is switched off comes out when it is used.
  const entry = storageOn(world, host, id.storage) ?? world.storages.get(id.storage)
  if (entry === undefined) throw failed(`storage '${id.storage}' does not exist`)
  for (const limit of ['mbps', 'iops']) {
    if (named.has(limit) && (named.has(`${limit}_rd`) || named.has(`${limit}_wr`))) {
      throw badParameter(key, 'unable to parse drive options')
    }
  }
  const isNew = NEW_DISK.test(main) || id.name === 'cloudinit'
  if (isNew) {
    if (!entry.content.includes('images')) {
      throw badParameter('storage', `storage '${id.storage}' does not support vm images`)
    }
    requireRight(call, `/storage/${id.storage}`, 'Datastore.AllocateSpace')
  }
  const source = named.get('import-from')
  if (source !== undefined) checkSource(call, key, { main, named }, source)
  if (source !== undefined || isNew) return
  if (entry.disabled) throw failed(`storage '${id.storage}' is disabled`)
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
  const content = contentOfName(id.name)
  if (content === 'iso' && named.get('media') !== 'cdrom')
    throw badParameter(key, "explicit 'media=cdrom' is required for iso images")
  requireVolume(call, main)
  if (content !== 'images' && content !== 'iso') throw badParameter(key, "content type needs to be 'images' or 'iso'")
}

/** Root may name files where volumes belong, if they lie in a storage. */
function volumeOfPath(call: Call, key: string, path: string): string | undefined {
  if (call.who.id !== 'root@pam') throw onlyRootNamesPaths()
  if (path.startsWith('/dev/')) return undefined
  const volid = volumeAtPath(call.world, hostOf(call), path)
  if (volid === undefined) throw badParameter(key, `unable to associate path '${path}' to any storage`)
  return volid
}

/** Who may use a volume: whoever runs the storage, the guest that owns it, and those with rights on both. */
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

/** What nobody can tell from an image. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  efidisk0: ['efitype', 'pre-enrolled-keys'],
  tpmstate0: ['version'],
}

/** A missing source is found out by the task, a wrong kind of source at once. */
function checkSource(call: Call, key: string, { main, named }: Properties, source: string): void {
  if (!main.endsWith(':0')) {
    throw badParameter(key, `'import-from' requires special syntax - use <storage ID>:0,import-from=<source>`)
  }
  const unsaid = (SAID[key] ?? []).find((name) => !named.has(name))
  if (unsaid !== undefined) throw badParameter(key, `need to specify '${unsaid}' when using 'import-from'`)
  const id = parseVolumeId(source)
  if (id === undefined && call.who.id === 'root@pam') return
  if (id === undefined) throw onlyRootNamesPaths()
  if (!call.world.storages.has(id.storage)) throw failed(`storage '${id.storage}' does not exist`)
  const content = contentOfName(id.name)
  if (content !== 'images' && content !== 'import') {
    throw badParameter(key, `${source} has wrong type '${content ?? 'unknown'}' - needs to be 'images' or 'import'`)
  }
  const owner = content === 'images' ? /(?:^|\/)(?:vm|base)-(\d+)-/.exec(id.name)?.[1] : undefined
  if (owner !== undefined) requireRight(call, `/vms/${owner}`, 'VM.Clone')
  else requireVolume(call, source)
}

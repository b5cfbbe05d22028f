import { may } from '../../../world/access.ts'
import { directoryNameProblem, imageNameProblem } from '../../../world/directory-name.ts'
import type { StorageEntry, Volume } from '../../../world/parts.ts'
import { parseSize } from '../../../world/sizes.ts'
import { startTask } from '../../../world/tasks.ts'
import {
  addVolume,
  contentOfName,
  filePath,
  findVolume,
  freeVolume,
  parseVolumeId,
  volumesOf,
} from '../../../world/volumes.ts'
import { type ApiError, badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { requireRight } from '../guest/option-rights.ts'
import { isBaseInUse } from '../qemu/destroy.ts'
import { shelf } from '../shelf.ts'
import { backupName } from './backup-name.ts'
import { needStorage } from './storage.ts'

const AT = '/nodes/{node}/storage/{storage}/content'

export const contentRoutes: Routes = {
  [`GET ${AT}`]: list,
  [`POST ${AT}`]: allocateVolume,
  [`GET ${AT}/{volume}`]: describe,
  [`PUT ${AT}/{volume}`]: annotate,
  // Nobody's ssh leads from a host to itself: it ends so on every host.
  [`POST ${AT}/{volume}`]: (call) =>
    startTask(call.world, hostOf(call), 'imgcopy', '', call.who.id, () => {
      throw new Error('ssh: connection refused')
    }),
  [`DELETE ${AT}/{volume}`]: remove,
  'GET /nodes/{node}/storage/{storage}/import-metadata': importMetadata,
}

function list(call: Call): unknown[] {
  const entry = needStorage(call)
  const host = hostOf(call)
  const { content, vmid } = call.params
  const rows: unknown[] = []
  for (const volume of volumesOf(host, entry.id).values()) {
    if (content !== undefined && contentNow(call, volume) !== content) continue
    // The filter keeps a guest's own volumes and whatever belongs to nobody.
    if (vmid !== undefined && volume.vmid !== undefined && volume.vmid !== Number(vmid)) continue
    if (vmid !== undefined && volume.vmid === undefined && !['import', 'snippets'].includes(volume.content)) continue
    // Backups are asked for by name.
    if (vmid !== undefined && content === undefined && volume.content === 'backup') continue
    if (accessProblem(call, entry, `${entry.id}:${volume.name}`, volume.content) !== undefined) continue
    rows.push(row(entry, { ...volume, content: contentNow(call, volume) }))
  }
  return rows
}

/** A disk is of the kind that its guest is; one whose guest is gone counts as a machine's. */
function contentNow({ world }: Call, { content, vmid }: Volume): string {
  if (!/^(images|rootdir)$/.test(content)) return content
  return world.guests.get(vmid ?? 0)?.type === 'lxc' ? 'rootdir' : 'images'
}

/** What keeps a sender from a volume: rights on its storage and, for what belongs to a guest, on the guest. */
function accessProblem(
  call: Call,
  entry: StorageEntry,
  volid: string,
  content: string | undefined,
): ApiError | undefined {
  const at = `/storage/${entry.id}`
  const lacks = (path: string, ...enough: readonly string[]) =>
    enough.some((one) => may(call.world, call.who, path, one)) ? undefined : forbidden(`${path}, ${enough.join('|')}`)
  if (may(call.world, call.who, at, 'Datastore.Allocate')) return undefined
  if (/^(iso|vztmpl|import)$/.test(content ?? '')) return lacks(at, 'Datastore.AllocateSpace', 'Datastore.Audit')
  const owner = ownerOf(volid)
  if (owner === undefined || content === 'snippets') return failed(`missing privileges to access ${volid}`)
  if (content === 'backup') return lacks(at, 'Datastore.AllocateSpace') ?? lacks(`/vms/${owner}`, 'VM.Backup')
  return lacks(at, 'Datastore.Audit') ?? lacks(`/vms/${owner}`, 'VM.Config.Disk')
}

function row(entry: StorageEntry, volume: Volume): Record<string, unknown> {
  const base: Record<string, unknown> = {
    volid: `${entry.id}:${fullName(volume)}`,
    content: volume.content,
    format: volume.format,
    size: volume.sizeBytes,
    ctime: volume.ctimeSeconds,
  }
  const backup = volume.content === 'backup' ? backupName(volume.name) : undefined
  if (backup !== undefined) {
    // Only the first line of a note is listed.
    const notes = volume.notes === undefined ? {} : { notes: volume.notes.split('\n')[0] }
    const kept = volume.protected ? { protected: 1 } : {}
    return { ...base, vmid: backup.vmid, subtype: backup.type, format: backup.format, ...notes, ...kept }
  }
  if (volume.vmid === undefined) return base
  return { ...base, vmid: volume.vmid, used: volume.usedBytes ?? volume.sizeBytes, parent: volume.parent ?? null }
}

/** A linked clone is named after its base. */
function fullName(volume: Volume): string {
  return volume.parent === undefined ? volume.name : `${volume.parent}/${volume.name}`
}

function allocateVolume(call: Call): string {
  const entry = needStorage(call)
  const host = hostOf(call)
  const filename = param(call, 'filename')
  const extension = /\.(raw|qcow2|vmdk)$/.exec(filename)?.[1]
  const format = call.params.format ?? extension ?? 'raw'
  if (extension !== undefined && format !== extension) {
    throw badParameter('format', `different storage formats (${format} != ${extension})`)
  }
  const vmid = Number(param(call, 'vmid'))
  checkName(entry, vmid, filename, format)
  const name = entry.files ? `${vmid}/${filename}` : filename
  if (volumesOf(host, entry.id).has(name)) throw failed(`disk image '${filePath(entry, name)}' already exists`)
  const size = param(call, 'size')
  if (entry.files && format === 'subvol') throw failed('storage does not support subvol quotas')
  addVolume(call.world, host, entry, {
    name,
    content: 'images',
    format,
    // A bare number counts in KiB here.
    sizeBytes: parseSize(/^\d+$/.test(size) ? `${size}K` : size) ?? 0,
    vmid,
    ctimeSeconds: Math.floor(call.world.clock.now() / 1000),
  })
  return `${entry.id}:${name}`
}

/** A directory takes any name with an extension that fits; elsewhere a volume is named after its guest. */
function checkName(entry: StorageEntry, vmid: number, name: string, format: string): void {
  if (entry.files) {
    const problem = imageNameProblem(name)
    if (problem !== undefined) throw failed(problem)
    const extension = name.replace(/^.*\./, '')
    if (extension !== format)
      throw failed(`illegal name '${name}' - wrong extension for format ('${extension} != '${format}')`)
    return
  }
  const word = format === 'subvol' ? 'subvol' : 'vm'
  if (!name.startsWith(`${word}-${vmid}-`)) throw failed(`illegal name '${name}' - should be '${word}-${vmid}-*'`)
}

/** The volume that the path names: `local:iso/x.iso`, or only `iso/x.iso`. */
function volumeOf(call: Call): { entry: StorageEntry; volid: string } {
  const text = param(call, 'volume')
  const storage = param(call, 'storage')
  const id = parseVolumeId(text) ?? { storage, name: text }
  if (id.storage !== storage) throw badParameter('volume', `storage ID mismatch (${id.storage} != ${storage})\n`)
  // Also one that is switched off.
  const entry = call.world.storages.get(storage)
  if (entry === undefined) throw failed(`storage '${storage}' does not exist`)
  const problem = entry.files ? directoryNameProblem(id.name) : undefined
  if (problem !== undefined) throw failed(problem)
  return { entry, volid: `${entry.id}:${id.name}` }
}

function requireAccess(call: Call, entry: StorageEntry, volid: string): void {
  const problem = accessProblem(call, entry, volid, contentOfName(volid.slice(volid.indexOf(':') + 1)))
  if (problem !== undefined) throw problem
}

function describe(call: Call): Record<string, unknown> {
  const { entry, volid } = volumeOf(call)
  requireAccess(call, entry, volid)
  const volume = findVolume(hostOf(call), volid)
  if (volume === undefined) throw failed(`volume_size_info on '${volid}' failed - no format`)
  const guest = volume.vmid !== undefined && volume.content !== 'backup'
  return {
    ...(volume.notes === undefined ? {} : { notes: volume.notes }),
    ...(volume.protected ? { protected: 1 } : {}),
    path: filePath(entry, volume.name),
    size: measured(volume),
    used: volume.usedBytes ?? volume.sizeBytes,
    format: guest || volume.content === 'import' ? volume.format : 'raw',
  }
}

/** Whatever is no image of a disk is measured as if it were one: in whole sectors. */
function measured(volume: Volume): number {
  if (volume.format === 'subvol') return 0
  const isDisk = volume.content === 'import' && volume.format !== 'raw'
  return isDisk ? (volume.virtualBytes ?? volume.sizeBytes) : Math.ceil(volume.sizeBytes / 512) * 512
}

/** The guest that a volume's name says it belongs to, there or not. */
function ownerOf(volid: string): string | undefined {
  const name = volid.slice(volid.indexOf(':') + 1)
  return (
    /^(\d+)\//.exec(name)?.[1] ??
    /(?:^|\/)(?:vm|base|subvol|basevol)-(\d+)-/.exec(name)?.[1] ??
    /^backup\/vzdump-[a-z]+-(\d+)-/.exec(name)?.[1]
  )
}

/** Notes and protection are for backups alone. */
function annotate(call: Call): null {
  const { entry, volid } = volumeOf(call)
  requireAccess(call, entry, volid)
  const volume = findVolume(hostOf(call), volid)
  const backup = /:backup\//.test(volid)
  if (call.params.notes !== undefined && !backup) throw failed('only backups can have notes')
  if (call.params.protected !== undefined && !backup) throw failed("only backups support attribute 'protected'")
  if (call.params.protected === '1' && !volume?.protected) refuseMoreProtected(call, entry, volid)
  if (volume === undefined) return annotateMissing(call, volid)
  if (call.params.notes !== undefined) volume.notes = call.params.notes
  if (call.params.protected !== undefined) volume.protected = call.params.protected === '1'
  return null
}

/** The files beside a backup are written whether it is there or not. Of those, the one that protects it has an effect. */
function annotateMissing(call: Call, volid: string): null {
  const marks = shelf(call.world, 'protected-in-vain')
  if (call.params.protected === '1') marks.set(`${hostOf(call).name}/${volid}`, {})
  else if (call.params.protected === '0') marks.delete(`${hostOf(call).name}/${volid}`)
  return null
}

/** Backups of a guest that are kept from being thrown away, where nobody says how many and one may not do everything. */
const MOST_PROTECTED = 5

function refuseMoreProtected(call: Call, entry: StorageEntry, volid: string): void {
  const all = may(call.world, call.who, `/storage/${entry.id}`, 'Datastore.Allocate') ? -1 : MOST_PROTECTED
  const most = Number(entry.options['max-protected-backups'] ?? all)
  const owner = ownerOf(volid)
  if (most < 0 || owner === undefined) return
  const kept = [...volumesOf(hostOf(call), entry.id).values()].filter(
    (volume) => volume.protected && ownerOf(`${entry.id}:${volume.name}`) === owner,
  )
  if (kept.length >= most)
    throw failed(`The number of protected backups per guest is limited to ${most} on storage '${entry.id}'`)
}

/** What a machine in a file would become. The files here hold none: what is told is that they must be unpacked. */
function importMetadata(call: Call): Record<string, unknown> {
  const entry = needStorage(call)
  const name = param(call, 'volume')
  const unread = entry.files ? directoryNameProblem(name) : undefined
  if (unread !== undefined) throw failed(unread)
  const content = contentOfName(name)
  const problem = accessProblem(call, entry, `${entry.id}:${name}`, content)
  if (problem !== undefined) throw problem
  if (!/^(?:dir|nfs|cifs|btrfs|cephfs)$/.test(entry.type)) throw failed('storage does not support the importer API')
  if (content !== 'import') throw failed(`invalid content type '${content}'`)
  if (!/\.(?:ova|ovf)$/.test(name)) throw failed('invalid format')
  if (!volumesOf(hostOf(call), entry.id).has(name)) throw failed(`volume '${entry.id}:${name}' does not exist`)
  const warnings = name.endsWith('.ova') ? [{ type: 'ova-needs-extracting' }] : []
  return { type: 'vm', source: name, 'create-args': {}, disks: {}, net: {}, warnings }
}

/** A volume that is not there is removed without complaint. */
function remove(call: Call): string | Promise<string | null> {
  const { world } = call
  const host = hostOf(call)
  const { entry, volid } = volumeOf(call)
  const owner = ownerOf(volid)
  if (owner !== undefined && volid.startsWith(`${entry.id}:backup/`)) {
    requireRight(call, `/storage/${entry.id}`, 'Datastore.AllocateSpace')
    requireRight(call, `/vms/${owner}`, 'VM.Backup')
  }
  // More than it takes to put a file there.
  else requireRight(call, `/storage/${entry.id}`, 'Datastore.Allocate')
  const id = owner === undefined ? entry.id : `${owner}@${entry.id}`
  const upid = startTask(world, host, 'imgdel', id, call.who.id, async (work) => {
    needStorage(call)
    if (isBaseInUse(host, volid))
      throw new Error(`base volume '${volid.slice(entry.id.length + 1)}' is still in use by linked clones`)
    if (findVolume(host, volid)?.protected || shelf(world, 'protected-in-vain').has(`${host.name}/${volid}`))
      throw new Error(`cannot remove protected volume '${volid.slice(entry.id.length + 1)}' on '${entry.id}'`)
    await work.pass(world.timing.shortTaskMs)
    freeVolume(host, volid)
    work.log(`Removed volume '${volid}'`)
  })
  return call.params.delay === undefined ? upid : settled(call, upid)
}

/** Who gives it some seconds hears of its end, if it comes in that time; else which task it is. */
async function settled(call: Call, upid: string): Promise<string | null> {
  const { clock } = call.world
  const task = hostOf(call).tasksById.get(upid)
  const untilMs = clock.now() + 1000 * Number(param(call, 'delay'))
  while (task !== undefined && task.exit === undefined && clock.now() < untilMs) await clock.sleep(1000)
  if (task?.exit === undefined) return upid
  if (task.exit === 'OK' || task.exit.startsWith('WARNINGS: ')) return null
  throw failed(task.exit)
}

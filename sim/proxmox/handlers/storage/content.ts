import { may } from '../../../world/access.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import type { StorageEntry, Volume } from '../../../world/parts.ts'
import { startTask } from '../../../world/tasks.ts'
import { contentOfName, filePath, findVolume, freeVolume, parseVolumeId, volumesOf } from '../../../world/volumes.ts'
import { type ApiError, badParameter, failed, forbidden } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { requireRight } from '../guest/option-rights.ts'
import { isBaseInUse } from '../qemu/destroy.ts'
import { backupName } from './backup-name.ts'
import { needStorage } from './storage.ts'

const AT = '/nodes/{node}/storage/{storage}/content'

export const contentRoutes: Routes = {
  [`GET ${AT}`]: list,
  [`GET ${AT}/{volume}`]: describe,
  [`DELETE ${AT}/{volume}`]: remove,
}

function list(call: Call): unknown[] {
  const entry = needStorage(call)
  const host = hostOf(call)
  const { content, vmid } = call.params
  const rows: unknown[] = []
  for (const volume of volumesOf(host, entry.id).values()) {
    if (content !== undefined && contentNow(call, volume) !== content) continue
    // The filter keeps the guest's own volumes and volumes without an owner.
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

/** Returns the size of a file in whole sectors, as for a disk image. */
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
    if (findVolume(host, volid)?.protected)
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

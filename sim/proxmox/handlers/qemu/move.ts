import { configDigest, driveVolume, isCdrom, isDrive, isUnused, touch } from '../../../world/guest-config.ts'
import { PowerLost } from '../../../world/locks.ts'
import type { StorageEntry } from '../../../world/parts.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { printSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume, freeVolume, parseVolumeId } from '../../../world/volumes.ts'
import { badParameters, failed, notSimulated } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { keepUnused } from '../guest/config-update.ts'
import { requireRight } from '../guest/option-rights.ts'
import { copyLimit, rateUnder } from '../storage/bandwidth.ts'
import { requireImages } from '../storage-check.ts'
import { copyDisk } from './copy-disk.ts'
import { newDisk } from './drive-make.ts'

export const qemuMoveRoutes: Routes = { 'POST /nodes/{node}/qemu/{vmid}/move_disk': moveDisk }

function moveDisk(call: Call): string {
  const { storage } = call.params
  if (call.params['target-vmid'] !== undefined) throw notSimulated('to give a disk to another VM')
  if (storage !== undefined) return toStorage(call, storage)
  const text = "both 'storage' and 'target-vmid' missing, either needs to be set"
  throw badParameters({ storage: text, 'target-vmid': text })
}

function needDrive(call: Call, guest: Guest): string {
  const key = param(call, 'disk')
  const value = guest.config.get(key)
  if (value === undefined || !(isDrive(key) || isUnused(key))) throw failed(`disk '${key}' does not exist`)
  return value
}

function refuseModified(digest: string | undefined, guest: Guest, prefix = ''): void {
  if (digest !== undefined && digest !== configDigest(guest))
    throw failed(`${prefix}detected modified configuration - file changed by other user? Try again.`)
}

/** A snapshot of the guest names the volume, too. */
function isInSnapshot(guest: Guest, volid: string): boolean {
  return [...guest.snapshots.values()].some(({ config }) =>
    [...config].some(([key, value]) => isDrive(key) && driveVolume(value) === volid),
  )
}

function toStorage(call: Call, id: string): string {
  const { world, params } = call
  const host = hostOf(call)
  requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
  const guest = guestOf(call)
  refuseLocked(guest)
  refuseModified(params.digest, guest)
  const value = needDrive(call, guest)
  const volid = driveVolume(value)
  const volume = findVolume(host, volid)
  if (isCdrom(value) && !/cloudinit/.test(volid)) throw failed("you can't move a cdrom")
  if (parseVolumeId(volid)?.storage === id && (params.format === undefined || params.format === volume?.format))
    throw failed("you can't move to the same storage with same format")
  const storage = requireImages(world, host, id)
  if (isInSnapshot(guest, volid) && flag(call, 'delete'))
    throw failed("you can't move a disk with snapshots and delete the source")
  if (volume === undefined) throw failed(`volume '${volid}' does not exist`)
  const format = storage.files ? (params.format ?? volume.format) : 'raw'
  return startTask(world, host, 'qmmove', `${guest.vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, guest.vmid, () => copyOver(call, guest, storage, format, work)),
  )
}

async function copyOver(call: Call, guest: Guest, storage: StorageEntry, format: string, work: Work): Promise<void> {
  const { world } = call
  const host = hostOf(call)
  const value = needDrive(call, guest)
  const drive = parseProperties(value, 'file')
  const old = drive.main
  const volume = findVolume(host, old)
  const shop = { world, host, vmid: guest.vmid, work, made: [] as string[] }
  work.log(
    `copying volume '${old}' from current storage '${parseVolumeId(old)?.storage}' to target storage '${storage.id}'`,
  )
  work.log(`create full clone of drive ${param(call, 'disk')} (${old})`)
  try {
    drive.main = await newDisk(shop, storage, format, volume?.sizeBytes ?? 0, 'disk')
    const limit = copyLimit(call, 'move', [parseVolumeId(old)?.storage, storage.id])
    await copyDisk(shop, { from: old, to: drive.main, bytesPerSecond: rateUnder(call, limit), limit })
  } catch (error) {
    if (error instanceof PowerLost) throw error
    for (const volid of shop.made) freeVolume(host, volid)
    throw new Error(`storage migration failed: ${error instanceof Error ? error.message : String(error)}`)
  }
  const made = findVolume(host, drive.main)
  if (made !== undefined && volume?.system !== undefined) made.system = volume.system
  if (!isUnused(param(call, 'disk'))) drive.named.set('size', printSize(volume?.sizeBytes ?? 0))
  guest.config.set(param(call, 'disk'), printProperties(drive))
  if (flag(call, 'delete')) freeVolume(host, old)
  else keepUnused(guest, old)
  touch(guest)
}

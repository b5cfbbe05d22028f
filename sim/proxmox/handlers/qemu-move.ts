import { configDigest, driveVolume, isCdrom, isDrive, isUnused, touch } from '../../world/guest-config.ts'
import { parseProperties, printProperties } from '../../world/properties.ts'
import { printSize } from '../../world/sizes.ts'
import { startTask, type Work } from '../../world/tasks.ts'
import type { Guest, StorageEntry } from '../../world/types.ts'
import { findVolume, freeVolume, nextDiskName, parseVolumeId, storageOn, volumesOf } from '../../world/volumes.ts'
import { badParameters, failed } from '../api-error.ts'
import { type Call, flag, guestOf, guestOn, hostOf, param, type Routes } from '../call.ts'
import { refuseLocked, withConfigLock } from './config-lock.ts'
import { keepUnused } from './config-update.ts'
import { copyBytes, newDisk } from './drive-make.ts'
import { requireRight } from './option-rights.ts'

export const qemuMoveRoutes: Routes = { 'POST /nodes/{node}/qemu/{vmid}/move_disk': moveDisk }

/** To another storage, or to another guest. */
function moveDisk(call: Call): string {
  const { params } = call
  const guest = guestOf(call)
  const toGuest = params['target-vmid']
  if (toGuest !== undefined && params.storage !== undefined) {
    const text = "either set 'storage' or 'target-vmid', but not both"
    throw badParameters({ storage: text, 'target-vmid': text })
  }
  if (toGuest !== undefined) return reassign(call, guest, Number(toGuest))
  if (params.storage === undefined) {
    const text = "both 'storage' and 'target-vmid' missing, either needs to be set"
    throw badParameters({ storage: text, 'target-vmid': text })
  }
  return toStorage(call, guest, params.storage)
}

function needDrive(call: Call, guest: Guest): string {
  const key = param(call, 'disk')
  const value = guest.config.get(key)
  if (value === undefined || !(isDrive(key) || isUnused(key))) throw failed(`disk '${key}' does not exist`)
  return value
}

function toStorage(call: Call, guest: Guest, id: string): string {
  const { world, params } = call
  const host = hostOf(call)
  refuseLocked(guest)
  if (params.digest !== undefined && params.digest !== configDigest(guest)) {
    throw failed('detected modified configuration - file changed by other user? Try again.')
  }
  const value = needDrive(call, guest)
  const storage = storageOn(world, host, id)
  if (storage === undefined) throw failed(`storage '${id}' does not exist`)
  requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
  const volid = driveVolume(value)
  const volume = findVolume(host, volid)
  if (isCdrom(value) && !/cloudinit/.test(volid)) throw failed("you can't move a cdrom")
  if (volume === undefined) throw failed(`volume '${volid}' does not exist`)
  const format = storage.files ? (params.format ?? volume.format) : 'raw'
  if (parseVolumeId(volid)?.storage === id && format === volume.format) {
    throw failed("you can't move to the same storage with same format")
  }
  if (guest.snapshots.size > 0 && flag(call, 'delete'))
    throw failed("you can't move a disk with snapshots and delete the source")
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
  work.log(`create full clone of drive ${param(call, 'disk')} (${old})`)
  drive.main = await newDisk(shop, storage, format, volume?.sizeBytes ?? 0, 'disk')
  await copyBytes(shop, volume?.sizeBytes ?? 0, world.timing.cloneBytesPerSecond)
  const made = findVolume(host, drive.main)
  if (made !== undefined && volume?.system !== undefined) made.system = volume.system
  drive.named.set('size', printSize(volume?.sizeBytes ?? 0))
  guest.config.set(param(call, 'disk'), printProperties(drive))
  if (flag(call, 'delete')) freeVolume(host, old)
  else keepUnused(guest, old)
  touch(guest)
}

function reassign(call: Call, guest: Guest, vmid: number): string {
  const { world } = call
  const host = hostOf(call)
  const target = guestOn(world, host.name, vmid)
  if (target === undefined) throw failed(`could not find target VM ${vmid}`)
  const key = call.params['target-disk'] ?? param(call, 'disk')
  needDrive(call, guest)
  if (target.config.has(key)) throw failed(`Target disk key '${key}' is already in use for VM '${vmid}'`)
  const id = `${guest.vmid}-${param(call, 'disk')}>${vmid}-${key}`
  return startTask(world, host, 'qmmove', id, call.who.id, () =>
    withConfigLock(world, host, guest.vmid, () =>
      withConfigLock(world, host, vmid, () => {
        const drive = parseProperties(needDrive(call, guest), 'file')
        const volume = findVolume(host, drive.main)
        const storage = storageOn(world, host, parseVolumeId(drive.main)?.storage ?? '')
        if (volume === undefined || storage === undefined) throw new Error(`volume '${drive.main}' does not exist`)
        const name = nextDiskName(host, { storage, vmid, format: volume.format, sizeBytes: 0, role: 'disk' })
        volumesOf(host, storage.id).delete(volume.name)
        volumesOf(host, storage.id).set(name, { ...volume, name, vmid })
        drive.main = `${storage.id}:${name}`
        target.config.set(key, printProperties(drive))
        guest.config.delete(param(call, 'disk'))
        touch(guest)
        touch(target)
      }),
    ),
  )
}

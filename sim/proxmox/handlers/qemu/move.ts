import { may } from '../../../world/access.ts'
import { configDigest, driveVolume, isCdrom, isDrive, isUnused, touch } from '../../../world/guest-config.ts'
import { PowerLost } from '../../../world/locks.ts'
import type { StorageEntry } from '../../../world/parts.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { printSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume, freeVolume, nextDiskName, parseVolumeId, storageOn, volumesOf } from '../../../world/volumes.ts'
import { badParameter, badParameters, failed, forbidden } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, missingConfig, param, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { keepUnused, leaveBootOrder } from '../guest/config-update.ts'
import { requireRight } from '../guest/option-rights.ts'
import { copyLimit, rateUnder } from '../storage/bandwidth.ts'
import { requireImages } from '../storage-check.ts'
import { volumeHasFeature } from '../volume-features.ts'
import { copyDisk } from './copy-disk.ts'
import { newDisk } from './drive-make.ts'

export const qemuMoveRoutes: Routes = { 'POST /nodes/{node}/qemu/{vmid}/move_disk': moveDisk }

/** To another storage, or to another guest. */
function moveDisk(call: Call): string {
  const { params } = call
  const toGuest = params['target-vmid']
  if (toGuest !== undefined && params.storage !== undefined) {
    const text = "either set 'storage' or 'target-vmid', but not both"
    throw badParameters({ storage: text, 'target-vmid': text })
  }
  if (toGuest !== undefined) return reassign(call, Number(toGuest))
  if (params.storage === undefined) {
    const text = "both 'storage' and 'target-vmid' missing, either needs to be set"
    throw badParameters({ storage: text, 'target-vmid': text })
  }
  return toStorage(call, params.storage)
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

interface Reassignment {
  readonly guest: Guest
  readonly target: Guest
  /** The slots, here and there. */
  readonly disk: string
  readonly key: string
}

/** Everything that must be true before a disk changes its owner. The task asks again: meanwhile much may have changed. */
function checkReassign(call: Call, vmid: number): Reassignment {
  const { world, params } = call
  const source = Number(param(call, 'vmid'))
  const guest = world.guests.get(source)
  const target = world.guests.get(vmid)
  if (guest === undefined) throw failed(`could not find VM ${source}`)
  if (target === undefined) throw failed(`could not find target VM ${vmid}`)
  if (guest.node !== target.node) throw failed(`Both VMs need to be on the same node (${guest.node} != ${target.node})`)
  for (const one of [guest, target]) {
    if (one.type !== 'qemu' || one.node !== hostOf(call).name) throw failed(missingConfig(hostOf(call).name, one.vmid))
    refuseLocked(one)
  }
  if (guest.config.get('template') === '1' || target.config.get('template') === '1')
    throw failed("Can't move disks from or to template VMs")
  refuseModified(params.digest, guest, `VM ${source}: `)
  refuseModified(params['target-digest'], target, `VM ${vmid}: `)
  const disk = param(call, 'disk')
  const key = params['target-disk'] ?? disk
  const value = guest.config.get(disk)
  if (value === undefined) throw failed(`Disk '${disk}' for VM '${source}' does not exist`)
  if (target.config.has(key)) throw failed(`Target disk key '${key}' is already in use for VM '${vmid}'`)
  const volid = driveVolume(value)
  if (isCdrom(value) && !/cloudinit/.test(volid)) throw failed("CD drive contents can't be moved to another VM")
  if (parseVolumeId(volid) === undefined) throw failed(`Volume '${volid}' not managed by PVE`)
  if (isInSnapshot(guest, volid)) throw failed("Can't move disk used by a snapshot to another VM")
  if (!volumeHasFeature(world, hostOf(call), 'rename', volid))
    throw failed('Storage does not support moving of this disk to another VM')
  if (guest.run.status === 'running' && !isUnused(disk))
    throw failed('Cannot move disk to another VM while the source VM is running - detach first')
  return { guest, target, disk, key }
}

function reassign(call: Call, vmid: number): string {
  const { world } = call
  const host = hostOf(call)
  if (call.who.id !== 'root@pam' && !may(world, call.who, `/vms/${vmid}`, 'VM.Config.Disk'))
    throw forbidden(`/vms/${vmid}, VM.Config.Disk`)
  if (Number(param(call, 'vmid')) === vmid)
    throw badParameter('target-vmid', 'must be different than source VMID to reassign disk')
  const { guest, target, key } = checkReassign(call, vmid)
  const storageId = parseVolumeId(driveVolume(guest.config.get(param(call, 'disk')) ?? ''))?.storage ?? ''
  requireRight(call, `/storage/${storageId}`, 'Datastore.AllocateSpace')
  const id = `${guest.vmid}-${param(call, 'disk')}>${vmid}-${key}`
  return startTask(world, host, 'qmmove', id, call.who.id, () =>
    withConfigLock(world, host, guest.vmid, () =>
      withConfigLock(world, host, vmid, () => {
        checkReassign(call, vmid)
        const drive = parseProperties(needDrive(call, guest), 'file')
        const volume = findVolume(host, drive.main)
        const storage = storageOn(world, host, parseVolumeId(drive.main)?.storage ?? '')
        if (volume === undefined || storage === undefined) throw new Error(`volume '${drive.main}' does not exist`)
        const name = nextDiskName(host, { storage, vmid, format: volume.format, sizeBytes: 0, role: 'disk' })
        volumesOf(host, storage.id).delete(volume.name)
        volumesOf(host, storage.id).set(name, { ...volume, name, vmid })
        drive.main = `${storage.id}:${name}`
        if (!isUnused(key) && !drive.named.has('size')) drive.named.set('size', printSize(volume.sizeBytes))
        target.config.set(key, isUnused(key) ? drive.main : printProperties(drive))
        leaveBootOrder(guest, param(call, 'disk'))
        guest.config.delete(param(call, 'disk'))
        touch(guest)
        touch(target)
      }),
    ),
  )
}

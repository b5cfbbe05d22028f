import { configDigest, driveVolume, isCdrom, isDrive, touch } from '../../../world/guest-config.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { parseSize, printSize } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import { filePath, findVolume, parseVolumeId, storageOn, unusable, usedBytes } from '../../../world/volumes.ts'
import { type Call, guestOf, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { refuseLockedFor, refuseSkipLock, withConfigLock } from '../guest/config-lock.ts'
import { requireRight } from '../guest/option-rights.ts'

export const qemuDiskRoutes: Routes = { 'PUT /nodes/{node}/qemu/{vmid}/resize': resize }

/** The call always begins a task: what is wrong with it, the task finds out. */
function resize(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  refuseSkipLock(call)
  return startTask(world, host, 'resize', `${vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, vmid, () => grow(call, work)),
  )
}

async function grow(call: Call, work: Work): Promise<void> {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call)
  const digest = call.params.digest
  if (digest !== undefined && digest !== configDigest(guest))
    throw new Error('checksum mismatch (file change by other user?)')
  refuseLockedFor(call, guest)
  const key = param(call, 'disk')
  const value = guest.config.get(key)
  if (value === undefined || !isDrive(key)) throw new Error(`disk '${key}' does not exist`)
  const volid = driveVolume(value)
  const volume = findVolume(host, volid)
  if (volume === undefined) {
    const main = parseProperties(value, 'file').main
    throw new Error(parseVolumeId(main) ? `volume '${main}' does not exist` : `unable to parse volume ID '${main}'`)
  }
  if (isCdrom(value)) throw new Error("you can't resize a cdrom")
  requireRight(call, `/storage/${parseVolumeId(volid)?.storage}`, 'Datastore.AllocateSpace')
  const off = unusable(world, host, parseVolumeId(volid)?.storage ?? '')
  if (off !== undefined) throw new Error(off)
  const asked = param(call, 'size')
  const bytes = parseSize(asked.replace(/^\+/, '')) ?? 0
  const wanted = asked.startsWith('+') ? volume.sizeBytes + bytes : bytes
  if (wanted < volume.sizeBytes) throw new Error('shrinking disks is not supported')
  if (wanted === volume.sizeBytes) return
  const entry = storageOn(world, host, parseVolumeId(volid)?.storage ?? '')
  if (entry !== undefined && usedBytes(host, entry) + wanted - volume.sizeBytes > entry.totalBytes) {
    throw new Error(
      entry.files ? 'qemu-img: Could not resize file: No space left on device' : 'zfs error: out of space',
    )
  }
  if (/(^|\/)base-/.test(volume.name) && entry?.files) {
    const path = filePath(entry, volume.name)
    throw new Error(
      `command '/usr/bin/qemu-img resize '--preallocation=off' -f ${volume.format} ${path} ${wanted}' failed: exit code 1`,
    )
  }
  await work.pass(world.timing.shortTaskMs)
  volume.sizeBytes = wanted
  const drive = parseProperties(value, 'file')
  drive.named.set('size', printSize(wanted))
  guest.config.set(key, printProperties(drive))
  touch(guest)
  // The process of a running guest does it itself, and is silent.
  if (guest.run.status !== 'running') work.log('Image resized.')
}

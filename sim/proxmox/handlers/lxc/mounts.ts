import { configDigest, isUnused, touch } from '../../../world/guest-config.ts'
import { PowerLost } from '../../../world/locks.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { MIB, parseSize, printSize } from '../../../world/sizes.ts'
import { Interrupted, startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { filePath, findVolume, freeVolume, parseVolumeId, storageOn, storageProblem } from '../../../world/volumes.ts'
import { ApiError, badParameters, failed, notSimulated } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { STALE } from '../collection.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { keepUnused } from '../guest/config-update.ts'
import { requireRight } from '../guest/option-rights.ts'
import { newDisk } from '../qemu/drive-make.ts'
import type { Workshop } from '../qemu/workshop.ts'
import { copyFiles } from './copy-files.ts'

export const lxcMountRoutes: Routes = { 'POST /nodes/{node}/lxc/{vmid}/move_volume': move }

export function isMount(key: string): boolean {
  return /^(rootfs|mp\d+)$/.test(key)
}

/** A storage and a size in GiB. */
export const NEW_MOUNT = /^([^:\s]+):(\d+(?:\.\d+)?)$/

/** Makes or attaches what a mount point asks for. No size at all means a plain folder, without a limit. */
export async function makeMount(shop: Workshop, key: string, value: string): Promise<string> {
  const mount = parseProperties(value, 'volume')
  const fresh = NEW_MOUNT.exec(mount.main)
  if (fresh === null) {
    const volume = findVolume(shop.host, mount.main)
    if (key === 'rootfs') refuseRoot(shop, mount.main)
    if (volume === undefined || mount.main.startsWith('/')) return inOrder(mount)
    mount.named.set('size', sizeText(volume.sizeBytes))
    return inOrder(mount)
  }
  const id = fresh[1] ?? ''
  const storage = storageOn(shop.world, shop.host, id)
  if (storage === undefined)
    throw failed(storageProblem(shop.world, shop.host, id, 'rootdir') ?? `storage '${id}' is gone`)
  // Whole MiB alone are made.
  const bytes = Math.trunc(Number(fresh[2]) * 1024) * MIB
  const folder = storage.files ? bytes === 0 : storage.type === 'zfspool'
  const made = await newDisk(shop, storage, folder ? 'subvol' : 'raw', bytes, folder ? 'subvol' : 'disk')
  mount.named.set('size', sizeText(bytes))
  return inOrder({ main: made, named: mount.named })
}

/** The root of a container is mounted when it is made, so it must be there. */
function refuseRoot(shop: Workshop, main: string): void {
  if (main.startsWith('/dev/'))
    throw failed(`command 'mount ${main} /var/lib/lxc/${shop.vmid}/rootfs//' failed: exit code 32`)
  if (main.startsWith('/')) throw failed(`directory '${main}' does not exist`)
  if (findVolume(shop.host, main) === undefined) throw failed(`volume '${main}' does not exist`)
}

/** A new container is filled through its mounted disks. Where the recordings were made, there was no device to mount a file by. */
export function refuseUnmountable(shop: Workshop, mounts: ReadonlyMap<string, string>): void {
  if (shop.world.statusDaemon) return
  for (const value of mounts.values()) {
    const volume = findVolume(shop.host, parseProperties(value, 'volume').main)
    const [storage = '', name = ''] = parseProperties(value, 'volume').main.split(':')
    const entry = shop.world.storages.get(storage)
    if (volume !== undefined && entry?.files && volume.format !== 'subvol')
      throw failed(`command 'losetup --show -f ${filePath(entry, name)}' failed: exit code 1`)
  }
}

function sizeText(bytes: number): string {
  return bytes === 0 ? '0T' : printSize(bytes)
}

/** Where it is mounted stands first, the rest in order. */
function inOrder(mount: { main: string; named: Map<string, string> }): string {
  const { named } = mount
  const mp = named.get('mp')
  if (mp === undefined) return printProperties({ main: mount.main, named })
  const rest = new Map([...named].filter(([key]) => key !== 'mp'))
  return printProperties({ main: `${mount.main},mp=${mp}`, named: rest })
}

/** What is taken out stays, as `unusedN`; a folder of the host was never the container's. */
export function detachMount(guest: Guest, value: string): void {
  const volid = parseProperties(value, 'volume').main
  if (parseVolumeId(volid) !== undefined) keepUnused(guest, volid)
}

/** What the daemon says of a mount point that is not there. */
function needMount(guest: Guest, key: string): string {
  const value = guest.config.get(key)
  if (value !== undefined) return value
  const text = 'property is missing and it is not optional'
  throw new ApiError(500, 'format error', { volume: text, mp: text })
}

/** The work that makes a disk larger, or the refusal that comes before any work. */
export function resizeMount(call: Call, guest: Guest): (work: Work) => Promise<void> {
  const key = param(call, 'disk')
  const value = needMount(guest, key)
  const { main } = parseProperties(value, 'volume')
  const id = parseVolumeId(main)
  if (id === undefined) throw failed(`unable to parse volume ID '${main}'`)
  const owner = /(?:^|\/)(?:vm|base|subvol|basevol)-(\d+)-/.exec(id.name)?.[1]
  if (owner !== undefined && Number(owner) !== guest.vmid)
    throw failed(`can't resize mount point owned by another container (${owner})`)
  requireRight(call, `/storage/${id.storage}`, 'Datastore.AllocateSpace')
  const volume = findVolume(hostOf(call), main)
  if (volume === undefined) throw failed(`volume '${main}' does not exist`)
  const entry = call.world.storages.get(id.storage)
  const asked = param(call, 'size')
  const bytes = parseSize(asked.replace(/^\+/, '')) ?? 0
  const canGrow = !(entry?.files && volume.format === 'subvol')
  const wanted = asked.startsWith('+') ? volume.sizeBytes + bytes : bytes
  // Judged before there is a task; a folder has no size to compare with.
  if (canGrow && wanted < volume.sizeBytes) throw failed('unable to shrink disk size')
  if (canGrow && wanted === volume.sizeBytes) throw failed('disk is already at specified size')
  return async (work) => {
    if (!canGrow) throw new Error("can't resize this image format")
    await work.pass(call.world.timing.shortTaskMs)
    volume.sizeBytes = wanted
    const mount = parseProperties(value, 'volume')
    mount.named.set('size', sizeText(wanted))
    guest.config.set(key, inOrder(mount))
    touch(guest)
  }
}

function isInSnapshot(guest: Guest, volid: string): boolean {
  return [...guest.snapshots.values()].some(({ config }) =>
    [...config].some(([key, value]) => isMount(key) && parseProperties(value, 'volume').main === volid),
  )
}

function move(call: Call): Promise<string> {
  const { storage } = call.params
  if (call.params['target-vmid'] !== undefined) throw notSimulated('to give a volume to another container')
  if (storage !== undefined) return toStorage(call, storage)
  const text = "both 'storage' and 'target-vmid' missing, either needs to be set"
  throw badParameters({ storage: text, 'target-vmid': text })
}

/** The mark is set before there is a task, and taken away at its end. */
async function toStorage(call: Call, id: string): Promise<string> {
  const { params, world } = call
  const host = hostOf(call)
  requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
  const guest = guestOf(call, 'lxc')
  const key = param(call, 'volume')
  await withConfigLock(world, host, guest.vmid, () => {
    refuseLocked(guest)
    if (guest.run.status === 'running') throw failed('cannot move volumes of a running container')
    if (isUnused(key))
      throw failed(`cannot move volume '${key}', only configured volumes can be moved to another storage`)
    const volid = parseProperties(needMount(guest, key), 'volume').main
    if (flag(call, 'delete') && isInSnapshot(guest, volid))
      throw failed("you can't move a volume with snapshots and delete the source")
    if (params.digest !== undefined && params.digest !== configDigest(guest)) throw failed(STALE)
    guest.config.set('lock', 'disk')
    touch(guest)
  })
  return startTask(world, host, 'move_volume', `${guest.vmid}`, call.who.id, async (work) => {
    try {
      await copyTo(call, guest, id, work)
    } catch (error) {
      if (error instanceof PowerLost) throw error
      guest.config.delete('lock')
      touch(guest)
      throw error
    }
    guest.config.delete('lock')
    touch(guest)
  })
}

async function copyTo(call: Call, guest: Guest, id: string, work: Work): Promise<void> {
  const { world } = call
  const host = hostOf(call)
  const key = param(call, 'volume')
  const mount = parseProperties(needMount(guest, key), 'volume')
  const old = mount.main
  const volume = findVolume(host, old)
  if (volume === undefined) throw new Error(`volume '${old}' does not exist`)
  const storage = storageOn(world, host, id)
  if (storage === undefined) throw new Error(`storage '${id}' does not exist`)
  const shop = { world, host, vmid: guest.vmid, work, made: [] as string[] }
  const folder = volume.format === 'subvol'
  const bytes = volume.sizeBytes
  const made = await newDisk(shop, storage, folder ? 'subvol' : 'raw', bytes, folder ? 'subvol' : 'disk')
  try {
    await copyFiles(call, work, bytes, 'move', [parseVolumeId(old)?.storage, id])
  } catch (error) {
    if (error instanceof PowerLost) throw error
    freeVolume(host, made)
    throw error instanceof Interrupted ? new Error('received interrupt') : error
  }
  mount.named.set('size', sizeText(bytes))
  guest.config.set(key, inOrder({ main: made, named: mount.named }))
  if (flag(call, 'delete')) freeVolume(host, old)
  else keepUnused(guest, old)
}

import { may } from '../../../world/access.ts'
import { configDigest, touch } from '../../../world/guest-config.ts'
import { parseProperties, printProperties } from '../../../world/properties.ts'
import { GIB, parseSize, printSize } from '../../../world/sizes.ts'
import type { Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume, freeVolume, parseVolumeId, storageOn, storageProblem } from '../../../world/volumes.ts'
import { ApiError, badParameters, failed, forbidden } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { STALE } from '../collection.ts'
import { refuseLocked } from '../guest/config-lock.ts'
import { keepUnused } from '../guest/config-update.ts'
import { requireRight } from '../guest/option-rights.ts'
import { newDisk, type Workshop } from '../qemu/drive-make.ts'
import { inTask } from './task.ts'

export const lxcMountRoutes: Routes = { 'POST /nodes/{node}/lxc/{vmid}/move_volume': move }

export function isMount(key: string): boolean {
  return /^(rootfs|mp\d+)$/.test(key)
}

const NEW = /^([^:\s]+):(\d+(?:\.\d+)?)$/

/** Makes or attaches what a mount point asks for. No size at all means a plain folder, without a limit. */
export async function makeMount(shop: Workshop, _key: string, value: string): Promise<string> {
  const mount = parseProperties(value, 'volume')
  const fresh = NEW.exec(mount.main)
  if (fresh === null) {
    const volume = findVolume(shop.host, mount.main)
    if (volume === undefined || mount.main.startsWith('/')) return inOrder(mount)
    mount.named.set('size', sizeText(volume.sizeBytes))
    return inOrder(mount)
  }
  const id = fresh[1] ?? ''
  const storage = storageOn(shop.world, shop.host, id)
  if (storage === undefined)
    throw failed(storageProblem(shop.world, shop.host, id, 'rootdir') ?? `storage '${id}' is gone`)
  const bytes = Math.round(Number(fresh[2]) * GIB)
  const folder = bytes === 0 || !storage.files
  const made = await newDisk(shop, storage, folder ? 'subvol' : 'raw', bytes, folder ? 'subvol' : 'disk')
  mount.named.set('size', sizeText(bytes))
  return inOrder({ main: made, named: mount.named })
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
  const volume = findVolume(hostOf(call), parseProperties(value, 'volume').main)
  const entry = call.world.storages.get(parseVolumeId(value)?.storage ?? '')
  const asked = param(call, 'size')
  const bytes = parseSize(asked.replace(/^\+/, '')) ?? 0
  const canGrow = volume !== undefined && !(entry?.files && volume.format === 'subvol')
  const wanted = asked.startsWith('+') ? (volume?.sizeBytes ?? 0) + bytes : bytes
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

/** No volume of a container goes to another one here: that is told after everything else that may be wrong. */
function refuseReassign(call: Call, guest: Guest, vmid: number): never {
  const { params, world } = call
  const key = param(call, 'volume')
  const to = params['target-volume'] ?? key
  if (!may(world, call.who, `/vms/${vmid}`, 'VM.Config.Disk')) throw forbidden(`/vms/${vmid}, VM.Config.Disk`)
  if (key === 'rootfs' || to === 'rootfs') throw failed("Cannot move to/from 'rootfs'")
  if (/^unused\d+$/.test(key) && !/^unused\d+$/.test(to))
    throw failed('Moving an unused volume to a used one is not possible')
  const target = world.guests.get(vmid)
  if (target === undefined) throw failed(`could not find CT ${vmid}`)
  if (target.node !== guest.node)
    throw failed(`Both containers need to be on the same node (${guest.node} != ${target.node})`)
  refuseLocked(guest)
  refuseLocked(target)
  if (guest.config.get('template') === '1' || target.config.get('template') === '1')
    throw failed("Can't move volumes from or to template CT")
  if (params.digest !== undefined && params.digest !== configDigest(guest))
    throw failed(`Container ${guest.vmid}: ${STALE}`)
  const digest = params['target-digest']
  if (digest !== undefined && digest !== configDigest(target)) throw failed(`Container ${vmid}: ${STALE}`)
  if (!guest.config.has(key)) throw failed(`volume '${key}' for container '${guest.vmid}' does not exist`)
  if (target.config.has(to)) throw failed(`Target volume key '${to}' is already in use for container '${vmid}'`)
  throw failed('Storage does not support moving of this disk to another container')
}

function move(call: Call): string {
  const { params, world } = call
  const guest = guestOf(call, 'lxc')
  const key = param(call, 'volume')
  const toGuest = params['target-vmid']
  if (toGuest !== undefined && params.storage !== undefined)
    throw failed('either set storage or target-vmid, but not both')
  if (toGuest === undefined && params.storage === undefined) {
    const text = "both 'storage' and 'target-vmid' missing, either needs to be set"
    throw badParameters({ storage: text, 'target-vmid': text })
  }
  if (toGuest !== undefined) return refuseReassign(call, guest, Number(toGuest))
  requireRight(call, `/storage/${params.storage}`, 'Datastore.AllocateSpace')
  refuseLocked(guest)
  if (guest.run.status === 'running') throw failed('cannot move volumes of a running container')
  if (/^unused\d+$/.test(key))
    throw failed(`cannot move volume '${key}', only configured volumes can be moved to another storage`)
  if (params.digest !== undefined && params.digest !== configDigest(guest)) throw failed(STALE)
  const value = needMount(guest, key)
  return inTask(call, 'move_volume', async (_, work) => {
    const host = hostOf(call)
    const storage = storageOn(world, host, params.storage ?? '')
    if (storage === undefined) throw new Error(`storage '${params.storage}' does not exist`)
    const mount = parseProperties(value, 'volume')
    const old = mount.main
    const volume = findVolume(host, old)
    const shop = { world, host, vmid: guest.vmid, work, made: [] as string[] }
    const bytes = volume?.sizeBytes ?? 0
    const folder = volume?.format === 'subvol'
    const made = await newDisk(shop, storage, folder ? 'subvol' : 'raw', bytes, folder ? 'subvol' : 'disk')
    guest.config.set(key, inOrder({ main: made, named: mount.named }))
    if (flag(call, 'delete')) freeVolume(host, old)
    else keepUnused(guest, old)
    touch(guest)
  })
}

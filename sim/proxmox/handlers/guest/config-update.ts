import {
  bootOrder,
  configDigest,
  driveVolume,
  isCdrom,
  isDrive,
  isUnused,
  memoryMb,
  touch,
} from '../../../world/guest-config.ts'
import { noteSeen } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { findVolume, freeVolume } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { makeDrive } from '../qemu/drive-make.ts'
import { canUnplug, changesLive, replacesCard } from '../qemu/hotplug.ts'
import type { Workshop } from '../qemu/workshop.ts'
import { refuseLocked } from './config-lock.ts'
import { keptValue } from './option-values.ts'

export interface ConfigChange {
  readonly set: ReadonlyMap<string, string>
  readonly drop: readonly string[]
  readonly revert: readonly string[]
  readonly digest: string | undefined
  readonly skipLock: boolean
  /** Throw volumes away instead of keeping them as unused. */
  readonly force: boolean
}

/** Writes a change into a guest's configuration. The caller holds the guest's lock file. */
export async function updateConfig(
  world: World,
  host: Host,
  guest: Guest,
  change: ConfigChange,
  work: Workshop['work'],
): Promise<void> {
  refuseEarly(guest, change)
  checkBootOrder(guest, change)
  for (const key of change.revert) {
    guest.pending.delete(key)
    guest.pendingDelete.delete(key)
  }
  for (const key of change.drop) dropOption(host, guest, key, change.force)
  if (change.drop.includes('vmstate')) dropState(guest)
  const shop: Workshop = { world, host, vmid: guest.vmid, work, made: [] }
  for (const [key, value] of change.set) await setOption(shop, guest, key, value)
  forgetUsed(guest)
  pinMachine(guest, change)
  touch(guest)
  noteSeen(world, guest)
}

/** A volume that a drive names is not lying about, whoever says so. */
function forgetUsed(guest: Guest): void {
  const drives = [...guest.config, ...guest.pending].filter(([key]) => isDrive(key))
  const used = new Set(drives.map(([, value]) => driveVolume(value)))
  for (const [key, volid] of guest.config) if (isUnused(key) && used.has(volid)) guest.config.delete(key)
}

/** Windows takes a new board for new hardware: the newest one there is at the time is kept. */
function pinMachine(guest: Guest, change: ConfigChange): void {
  if (/^(w|win)/.test(change.set.get('ostype') ?? '') && !guest.config.has('machine'))
    guest.config.set('machine', 'pc-i440fx-10.0+pve1')
}

/** What is asked before any work begins, and again with the lock in hand. */
export function refuseEarly(guest: Guest, change: ConfigChange): void {
  if (change.digest !== undefined && change.digest !== configDigest(guest)) {
    throw failed('checksum mismatch (file change by other user?)')
  }
  // Who throws away what was written to disk wakes nobody: the mark goes with it.
  if (!change.skipLock) refuseLocked(guest, ...(change.drop.includes('vmstate') ? ['suspended'] : []))
  if (!change.set.has('memory') && !change.set.has('balloon')) return
  const after = new Map([...guest.config, ...guest.pending, ...change.set])
  const balloon = Number(after.get('balloon') ?? 0)
  if (balloon > memoryMb(after)) throw failed('balloon value too large (must be smaller than assigned memory)')
}

function checkBootOrder(guest: Guest, change: ConfigChange): void {
  if (!change.set.has('boot')) return
  const after = new Map([...guest.config, ...guest.pending, ...change.set])
  for (const device of bootOrder(after)) {
    if (!after.has(device) || change.drop.includes(device))
      throw failed(`invalid bootorder: device '${device}' does not exist'`)
  }
}

function dropOption(host: Host, guest: Guest, key: string, force: boolean): void {
  guest.pending.delete(key)
  const current = guest.config.get(key)
  if (current === undefined) return
  if (guest.config.get('protection') === '1') refuseProtected(key, current)
  leaveBootOrder(guest, key)
  if (!changesLive(guest, key, undefined)) {
    guest.pendingDelete.add(key)
    return
  }
  if (!canUnplug(guest, key)) {
    guest.pendingDelete.add(key)
    touch(guest)
    throw stillBusy(key)
  }
  guest.pendingDelete.delete(key)
  guest.config.delete(key)
  if (isUnused(key) || key === 'vmstate') freeVolume(host, driveVolume(current))
  else if (isDrive(key)) detach(host, guest, current, force)
}

/** Nothing stays of a state that is thrown away. */
function dropState(guest: Guest): void {
  if (guest.config.get('lock') === 'suspended') guest.config.delete('lock')
  for (const key of ['runningmachine', 'runningcpu', 'running-nets-host-mtu']) guest.config.delete(key)
}

function refuseProtected(key: string, value: string): void {
  if (isUnused(key)) throw failed(`can't remove unused disk '${value}' - protection mode enabled`)
  if (isDrive(key) && !isCdrom(value)) throw failed(`can't remove drive '${key}' - protection mode enabled`)
}

function stillBusy(key: string) {
  return badParameter(key, `hotplug problem - error on hot-unplugging device '${key}' - still busy in guest?\n`)
}

/** A disk that is taken out stays, as `unusedN`; a cloud-init drive is thrown away. */
function detach(host: Host, guest: Guest, value: string, force: boolean): void {
  const volid = driveVolume(value)
  const volume = findVolume(host, volid)
  if (volume !== undefined && volume.vmid === guest.vmid) {
    if (force || /cloudinit/.test(volid)) freeVolume(host, volid)
    else keepUnused(guest, volid)
  }
}

/** What is to go is not booted from any more, whether or not it can go at once. */
export function leaveBootOrder(guest: Guest, key: string): void {
  const order = /(?:^|,)order=([^,]*)/.exec(guest.pending.get('boot') ?? guest.config.get('boot') ?? '')?.[1]
  if (!order?.split(';').includes(key)) return
  const left = order.split(';').filter((device) => device !== key)
  setBoot(guest, left.length > 0 ? `order=${left.join(';')}` : ' ')
}

function setBoot(guest: Guest, wanted: string): void {
  if (changesLive(guest, 'boot', wanted)) guest.config.set('boot', wanted)
  else guest.pending.set('boot', wanted)
}

export function keepUnused(guest: Guest, volid: string): void {
  for (let number = 0; ; number++) {
    if (guest.config.has(`unused${number}`)) continue
    guest.config.set(`unused${number}`, volid)
    return
  }
}

function refuseSecondCloudInit(guest: Guest, key: string): void {
  for (const [other, value] of guest.config) {
    if (other !== key && isDrive(other) && /cloudinit/.test(driveVolume(value))) {
      throw failed(`${key} - cloud-init drive is already attached at '${other}'`)
    }
  }
}

/** What the state of a TPM was made as it stays. */
function refuseOtherTpm(current: string, value: string): void {
  const version = (text: string) => parseProperties(text).named.get('version') ?? 'v1.2'
  if (driveVolume(current) === driveVolume(value) && version(current) !== version(value))
    throw failed('cannot change TPM state version after creation')
}

/** A drive for discs, even an empty one, can be booted from after all that could be before. */
function bootFrom(guest: Guest, key: string): void {
  const order = /^order=(.+)$/.exec(guest.pending.get('boot') ?? guest.config.get('boot') ?? '')?.[1]
  if (order === undefined || order.split(';').includes(key)) return
  setBoot(guest, `order=${order};${key}`)
}

async function setOption(shop: Workshop, guest: Guest, key: string, value: string): Promise<void> {
  const current = guest.config.get(key)
  if (isDrive(key) && /:cloudinit(,|$)/.test(value)) refuseSecondCloudInit(guest, key)
  if (key === 'tpmstate0' && current !== undefined) refuseOtherTpm(current, value)
  const kept = isDrive(key) ? await makeDrive(shop, key, value) : keptValue(shop.world, key, value)
  guest.pendingDelete.delete(key)
  guest.pending.delete(key)
  if (isDrive(key) && isCdrom(kept) && !/cloudinit/.test(kept)) bootFrom(guest, key)
  if (current === kept) return
  if (key === 'description' && kept === '') {
    guest.config.delete(key)
    return
  }
  if (!changesLive(guest, key, kept)) {
    guest.pending.set(key, kept)
    return
  }
  if (current !== undefined && replacesCard(key, current, kept) && !canUnplug(guest, key)) {
    guest.pending.set(key, kept)
    touch(guest)
    throw stillBusy(key)
  }
  if (isDrive(key) && current !== undefined && driveVolume(current) !== driveVolume(kept)) {
    guest.config.delete(key)
    const volume = findVolume(shop.host, driveVolume(current))
    if (volume?.vmid === guest.vmid) {
      if (/cloudinit/.test(driveVolume(current))) freeVolume(shop.host, driveVolume(current))
      else keepUnused(guest, driveVolume(current))
    }
  }
  guest.config.set(key, kept)
}

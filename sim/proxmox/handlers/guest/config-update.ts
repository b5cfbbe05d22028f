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
import { badParameters, failed } from '../../api-error.ts'
import { makeDrive } from '../qemu/drive-make.ts'
import { type Plugging, plugging } from '../qemu/hotplug.ts'
import type { Workshop } from '../qemu/workshop.ts'
import { refuseLocked } from './config-lock.ts'
import { keptValue, pinnedMachine } from './option-values.ts'

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
  // Apply what can be applied, even if the rest fails.
  const problems: PlugProblems = {}
  for (const key of change.revert) {
    letGo(host, guest, key)
    guest.pendingDelete.delete(key)
  }
  const boots: BootList = { order: orderIn(guest.config.get('boot')) }
  for (const key of change.drop) {
    if (guest.config.has(key) || guest.pending.has(key)) leaveBootOrder(guest, key, boots)
    dropOption(host, guest, key, change.force, problems)
  }
  if (change.drop.includes('vmstate')) dropState(guest)
  const shop: Workshop = { world, host, vmid: guest.vmid, work, made: [] }
  for (const [key, value] of change.set) await setOption(shop, guest, key, value, problems, boots)
  forgetUsed(guest)
  pinMachine(guest, change)
  // Each change remakes a pending cloud-init drive.
  if (guest.run.status === 'running' && comingSeed(guest)) guest.seed = new Map(guest.config)
  touch(guest)
  noteSeen(world, guest)
  if (Object.keys(problems).length > 0) throw badParameters(problems)
}

type PlugProblems = Record<string, string>

/** Is this option changed now? Where it should be and cannot, that is noted. */
function isNow(key: string, how: Plugging, problems: PlugProblems): boolean {
  if (typeof how !== 'string') problems[key] = `hotplug problem - ${how.problem}\n`
  return how === 'now'
}

/** Does a drive for cloud-init wait for the next start? */
export function comingSeed(guest: Guest): boolean {
  return [...guest.pending].some(([key, value]) => isDrive(key) && /cloudinit/.test(driveVolume(value)))
}

/** Drops a pending value. A disk that was made for it stays as an unused one. */
function letGo(host: Host, guest: Guest, key: string): void {
  const value = guest.pending.get(key)
  guest.pending.delete(key)
  if (value === undefined || !isDrive(key)) return
  const current = guest.config.get(key)
  if (current === undefined || driveVolume(current) !== driveVolume(value)) detach(host, guest, value, false)
}

/** Removes the unused entries of volumes that a drive uses. */
function forgetUsed(guest: Guest): void {
  const drives = [...guest.config, ...guest.pending].filter(([key]) => isDrive(key))
  const used = new Set(drives.map(([, value]) => driveVolume(value)))
  for (const [key, volid] of guest.config) if (isUnused(key) && used.has(volid)) guest.config.delete(key)
}

/** Windows takes a new board for new hardware: the newest one there is at the time is kept. */
function pinMachine(guest: Guest, change: ConfigChange): void {
  if (change.set.has('machine') || change.drop.includes('machine') || guest.pending.has('machine')) return
  const pinned = pinnedMachine(guest.config.get('machine'), change.set.get('ostype'))
  if (pinned === undefined) return
  if (guest.run.status === 'running') guest.pending.set('machine', pinned)
  else guest.config.set('machine', pinned)
}

/** What is asked before any work begins, and again with the lock in hand. */
export function refuseEarly(guest: Guest, change: ConfigChange): void {
  if (change.digest !== undefined && change.digest !== configDigest(guest)) {
    throw failed('checksum mismatch (file change by other user?)')
  }
  // Deleting the saved memory also deletes the suspended mark: the next start is a cold one.
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

function dropOption(host: Host, guest: Guest, key: string, force: boolean, problems: PlugProblems): void {
  letGo(host, guest, key)
  const current = guest.config.get(key)
  if (current === undefined) return
  if (guest.config.get('protection') === '1') refuseProtected(key, current)
  if (!isNow(key, plugging(guest, key, undefined), problems)) {
    guest.pendingDelete.add(key)
    return
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

export function refuseProtected(key: string, value: string): void {
  if (isUnused(key)) throw failed(`can't remove unused disk '${value}' - protection mode enabled`)
  if (isDrive(key)) throw failed(`can't remove drive '${key}' - protection mode enabled`)
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

/** What a running guest boots from, as one request changes it: a change that waits is not looked at. */
interface BootList {
  order: readonly string[] | undefined
}

function orderIn(boot: string | undefined): readonly string[] | undefined {
  return /(?:^|,)order=([^,]*)/
    .exec(boot ?? '')?.[1]
    ?.split(';')
    .filter((device) => device !== '')
}

/** What is to go is not booted from any more, whether or not it can go at once. */
export function leaveBootOrder(
  guest: Guest,
  key: string,
  boots: BootList = { order: orderIn(guest.config.get('boot')) },
): void {
  if (boots.order?.includes(key) !== true) return
  boots.order = boots.order.filter((device) => device !== key)
  setBoot(guest, boots.order.length > 0 ? `order=${boots.order.join(';')}` : ' ')
}

function setBoot(guest: Guest, wanted: string): void {
  if (plugging(guest, 'boot', wanted) === 'now') guest.config.set('boot', wanted)
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
function bootFrom(guest: Guest, key: string, boots: BootList): void {
  if (boots.order === undefined || boots.order.length === 0 || boots.order.includes(key)) return
  boots.order = [...boots.order, key]
  setBoot(guest, `order=${boots.order.join(';')}`)
}

async function setOption(
  shop: Workshop,
  guest: Guest,
  key: string,
  value: string,
  problems: PlugProblems,
  boots: BootList,
): Promise<void> {
  const current = guest.config.get(key)
  if (isDrive(key) && /:cloudinit(,|$)/.test(value)) refuseSecondCloudInit(guest, key)
  if (key === 'tpmstate0' && current !== undefined) refuseOtherTpm(current, value)
  const kept = isDrive(key) ? await makeDrive(shop, key, value) : keptValue(shop.world, key, value)
  guest.pendingDelete.delete(key)
  if (guest.pending.get(key) !== value) letGo(shop.host, guest, key)
  guest.pending.delete(key)
  if (isDrive(key) && isCdrom(kept) && !/cloudinit/.test(kept)) bootFrom(guest, key, boots)
  if (current === kept) return
  // A line without a value is not read again.
  if (/^(description|sshkeys)$/.test(key) && kept === '') {
    guest.config.delete(key)
    return
  }
  if (!isNow(key, plugging(guest, key, kept), problems)) {
    guest.pending.set(key, kept)
    return
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

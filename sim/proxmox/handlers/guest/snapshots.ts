import { driveVolume, isCdrom, isDrive, isUnused, touch } from '../../../world/guest-config.ts'
import { PowerLost } from '../../../world/locks.ts'
import type { Snapshot } from '../../../world/parts.ts'
import type { Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { parseVolumeId } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, param } from '../../call.ts'
import { refuseLocked, withConfigLock } from './config-lock.ts'
import { shownValue } from './config-view.ts'

export function needSnapshot(guest: Guest, name: string): Snapshot {
  const snapshot = guest.snapshots.get(name)
  if (snapshot === undefined) throw failed(`snapshot '${name}' does not exist`)
  return snapshot
}

export function newSnapshot(call: Call, guest: Guest): Snapshot {
  return {
    config: new Map([...guest.config].filter(([key]) => !isUnused(key) && key !== 'lock')),
    description: call.params.description,
    timeSeconds: Math.floor(call.world.clock.now() / 1000),
    parent: guest.config.get('parent'),
    state: 'prepare',
  }
}

/** One that could not be finished is removed again. */
export async function passOrForget(call: Call, guest: Guest, name: string, work: Work): Promise<void> {
  try {
    await work.pass(call.world.timing.shortTaskMs)
  } catch (error) {
    if (!(error instanceof PowerLost)) guest.snapshots.delete(name)
    throw error
  }
  delete guest.snapshots.get(name)?.state
}

/** A snapshot's own words stand in the place of the guest's. */
export function shownSnapshot(guest: Guest, snapshot: Snapshot): Record<string, unknown> {
  const shown: Record<string, unknown> = { snaptime: snapshot.timeSeconds }
  for (const [key, value] of snapshot.config) shown[key] = shownValue(guest, key, value)
  delete shown.description
  return snapshot.description === undefined ? shown : { ...shown, description: snapshot.description }
}

/** Nothing to write is no reason to look. */
export async function describe(call: Call, type: 'qemu' | 'lxc'): Promise<null> {
  const { description } = call.params
  if (description === undefined) return null
  const guest = guestOf(call, type)
  await withConfigLock(call.world, hostOf(call), guest.vmid, () => {
    refuseLocked(guest)
    needSnapshot(guest, param(call, 'snapname')).description = description
    touch(guest)
  })
  return null
}

export function refuseReserved(name: string, ...reserved: readonly string[]): void {
  if (reserved.includes(name)) throw failed(`unable to use snapshot name '${name}' (reserved name)`)
}

/** The configuration of then, with what people wrote about the guest since. Disks that came later are kept as unused. */
export function wentBack(guest: Guest, snapshot: Snapshot): Map<string, string> {
  const config = new Map(snapshot.config)
  const description = guest.config.get('description')
  if (description === undefined) config.delete('description')
  else config.set('description', description)
  const then = new Set([...snapshot.config.values()].map(driveVolume))
  const kept = [...guest.config].filter(([key, value]) => isUnused(key) && !then.has(value))
  for (const [key, value] of kept) config.set(key, value)
  for (const [key, value] of guest.config) {
    const volid = driveVolume(value)
    if (
      !(isDrive(key) || /^mp\d+$/.test(key)) ||
      volid === '' ||
      then.has(volid) ||
      (isCdrom(value) && !/cloudinit/.test(volid))
    )
      continue
    let number = 0
    while (config.has(`unused${number}`)) number++
    config.set(`unused${number}`, volid)
  }
  return config
}

/** The snapshot to go back to, or why that cannot be. A pool goes back to the newest of its snapshots only. */
export function rollbackTo(
  call: Call,
  guest: Guest,
  name: string,
  holdsVolume: (key: string) => boolean,
): Promise<Snapshot> {
  return withConfigLock(call.world, hostOf(call), guest.vmid, () => target(call, guest, name, holdsVolume))
}

function target(call: Call, guest: Guest, name: string, holdsVolume: (key: string) => boolean): Snapshot {
  if (guest.config.get('template') === '1') throw new Error("you can't rollback if vm is a template")
  const snapshot = needSnapshot(guest, name)
  const newest = [...guest.snapshots.keys()].at(-1) === name
  for (const [key, value] of newest ? [] : snapshot.config) {
    const volid = driveVolume(value)
    const storage = call.world.storages.get(parseVolumeId(volid)?.storage ?? '')
    if (holdsVolume(key) && !isCdrom(value) && storage?.type === 'zfspool')
      throw new Error(`can't rollback, '${name}' is not most recent snapshot on '${volid}'`)
  }
  if (snapshot.state !== undefined)
    throw new Error(`unable to rollback to incomplete snapshot (snapstate = ${snapshot.state})`)
  return snapshot
}

export function forget(guest: Guest, name: string, snapshot: Snapshot): void {
  guest.snapshots.delete(name)
  // What stood on it stands on what it stood on.
  for (const [other, entry] of guest.snapshots)
    if (entry.parent === name) guest.snapshots.set(other, { ...entry, parent: snapshot.parent })
  if (guest.config.get('parent') !== name) return
  if (snapshot.parent === undefined) guest.config.delete('parent')
  else guest.config.set('parent', snapshot.parent)
}

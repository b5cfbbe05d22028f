import { defined } from '../../../src/lib/defined.ts'
import { configDigest, driveKeys, driveVolume, isCdrom, touch } from '../../world/guest-config.ts'
import { powerOff } from '../../world/guest-run.ts'
import { PowerLost } from '../../world/locks.ts'
import { parseSize } from '../../world/sizes.ts'
import { startTask, type Work } from '../../world/tasks.ts'
import type { Guest, Host, Snapshot } from '../../world/types.ts'
import { findVolume, parseVolumeId } from '../../world/volumes.ts'
import { failed } from '../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../call.ts'
import { underMark } from './config-lock.ts'
import { shownValue } from './config-view.ts'
import { startGuest } from './qemu-start.ts'

const AT = '/nodes/{node}/qemu/{vmid}/snapshot'

export const qemuSnapshotRoutes: Routes = {
  'GET /nodes/{node}/qemu/{vmid}/feature': feature,
  [`GET ${AT}`]: list,
  [`POST ${AT}`]: take,
  [`DELETE ${AT}/{snapname}`]: (call) => inTask(call, 'qmdelsnapshot', remove),
  [`POST ${AT}/{snapname}/rollback`]: (call) => inTask(call, 'qmrollback', rollback),
  [`GET ${AT}/{snapname}/config`]: (call) => {
    const guest = guestOf(call)
    const snapshot = needSnapshot(guest, param(call, 'snapname'))
    return shownSnapshot(guest, snapshot)
  },
  [`GET ${AT}/{snapname}`]: () => ['rollback', 'config'].map((cmd) => ({ cmd })),
  [`PUT ${AT}/{snapname}/config`]: (call) => {
    const guest = guestOf(call)
    needSnapshot(guest, param(call, 'snapname')).description = call.params.description
    touch(guest)
    return null
  },
}

/** A snapshot's own words stand in the place of the guest's. */
export function shownSnapshot(guest: Guest, snapshot: Snapshot): Record<string, unknown> {
  const shown: Record<string, unknown> = { snaptime: snapshot.timeSeconds }
  for (const [key, value] of snapshot.config) shown[key] = shownValue(guest, key, value)
  delete shown.description
  return snapshot.description === undefined ? shown : { ...shown, description: snapshot.description }
}

function list(call: Call): unknown[] {
  const guest = guestOf(call)
  const parent = guest.config.get('parent')
  const rows: unknown[] = [...guest.snapshots].map(([name, snapshot]) => ({
    name,
    snaptime: snapshot.timeSeconds,
    description: snapshot.description ?? '',
    vmstate: 0,
    ...defined({ snapstate: snapshot.state, parent: snapshot.parent }),
  }))
  rows.push({
    name: 'current',
    description: 'You are here!',
    digest: configDigest(guest),
    running: guest.run.status === 'running' ? 1 : 0,
    ...defined({ parent }),
  })
  return rows
}

function take(call: Call): string {
  const name = param(call, 'snapname')
  if (name === 'current') throw failed("unable to use snapshot name 'current' (reserved name)")
  return inTask(call, 'qmsnapshot', async (guest, host, work) => {
    if (guest.config.get('template') === '1') throw new Error("you can't take a snapshot if it's a template")
    const disks = driveKeys(guest.config).filter((key) => !isCdrom(guest.config.get(key) ?? ''))
    const prepare = () => {
      if (guest.snapshots.has(name)) throw new Error(`snapshot name '${name}' already used`)
      for (const key of disks) refuseNoSnapshot(call, host, driveVolume(guest.config.get(key) ?? ''))
      guest.snapshots.set(name, newSnapshot(call, guest))
    }
    const deed = async () => {
      for (const key of disks) work.log(`snapshotting 'drive-${key}' (${driveVolume(guest.config.get(key) ?? '')})`)
      await passOrForget(call, guest, name, work)
      guest.config.set('parent', name)
    }
    await underMark(call.world, host, guest, 'snapshot', deed, prepare)
  })
}

export function newSnapshot(call: Call, guest: Guest): Snapshot {
  return {
    config: new Map(guest.config),
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

/** Raw files cannot keep an earlier state; a pool or a qcow2 file can. */
function refuseNoSnapshot(call: Call, host: Host, volid: string): void {
  const entry = call.world.storages.get(parseVolumeId(volid)?.storage ?? '')
  if (entry?.files && findVolume(host, volid)?.format === 'raw') throw new Error('snapshot feature is not available')
}

function feature(call: Call): Record<string, unknown> {
  const guest = guestOf(call)
  const { snapname } = call.params
  if (snapname !== undefined) needSnapshot(guest, snapname)
  const template = guest.config.get('template') === '1'
  const able =
    call.params.feature === 'snapshot' ? canSnapshot(call, guest) : call.params.feature === 'copy' || template
  return { hasFeature: able ? 1 : 0, nodes: [...call.world.hosts.keys()] }
}

function canSnapshot(call: Call, guest: Guest): boolean {
  try {
    for (const key of driveKeys(guest.config)) {
      const value = guest.config.get(key) ?? ''
      if (!isCdrom(value)) refuseNoSnapshot(call, hostOf(call), driveVolume(value))
    }
    return true
  } catch {
    return false
  }
}

function inTask(
  call: Call,
  type: string,
  deed: (guest: Guest, host: Host, work: Work, call: Call) => Promise<void>,
): string {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call)
  return startTask(world, host, type, `${guest.vmid}`, call.who.id, (work) => deed(guest, host, work, call))
}

async function remove(guest: Guest, host: Host, work: Work, call: Call): Promise<void> {
  const name = param(call, 'snapname')
  const snapshot = needSnapshot(guest, name)
  await underMark(call.world, host, guest, 'snapshot-delete', async () => {
    snapshot.state = 'delete'
    touch(guest)
    await work.pass(call.world.timing.shortTaskMs)
    forget(guest, name, snapshot)
  })
}

function forget(guest: Guest, name: string, snapshot: Snapshot): void {
  guest.snapshots.delete(name)
  // What stood on it stands on what it stood on.
  for (const [other, entry] of guest.snapshots)
    if (entry.parent === name) guest.snapshots.set(other, { ...entry, parent: snapshot.parent })
  if (guest.config.get('parent') !== name) return
  if (snapshot.parent === undefined) guest.config.delete('parent')
  else guest.config.set('parent', snapshot.parent)
}

async function rollback(guest: Guest, host: Host, work: Work, call: Call): Promise<void> {
  const name = param(call, 'snapname')
  const snapshot = needSnapshot(guest, name)
  await underMark(call.world, host, guest, 'rollback', async () => {
    powerOff(call.world, guest)
    await work.pass(call.world.timing.shortTaskMs)
    guest.config = wentBack(guest, snapshot)
    guest.config.set('parent', name)
  })
  // Disks that were grown since are as small again as they were.
  for (const key of driveKeys(guest.config)) {
    const value = guest.config.get(key) ?? ''
    const volume = findVolume(host, driveVolume(value))
    const bytes = parseSize(/(?:^|,)size=([^,]+)/.exec(value)?.[1] ?? '')
    if (volume !== undefined && bytes !== undefined && !isCdrom(value)) volume.sizeBytes = bytes
  }
  if (!flag(call, 'start')) return
  startTask(call.world, host, 'qmstart', `${guest.vmid}`, call.who.id, (own) =>
    startGuest(call.world, host, guest, own),
  )
}

/** The configuration of then, with what people wrote about the guest since. */
export function wentBack(guest: Guest, snapshot: Snapshot): Map<string, string> {
  const config = new Map(snapshot.config)
  const description = guest.config.get('description')
  if (description === undefined) config.delete('description')
  else config.set('description', description)
  return config
}

function needSnapshot(guest: Guest, name: string) {
  const snapshot = guest.snapshots.get(name)
  if (snapshot === undefined) throw failed(`snapshot '${name}' does not exist`)
  return snapshot
}

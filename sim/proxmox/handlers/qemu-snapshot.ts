import { configDigest, driveKeys, driveVolume, isCdrom, touch } from '../../world/guest-config.ts'
import { powerOff } from '../../world/guest-run.ts'
import { parseSize } from '../../world/sizes.ts'
import { startTask, type Work } from '../../world/tasks.ts'
import type { Guest, Host, Snapshot } from '../../world/types.ts'
import { findVolume, parseVolumeId } from '../../world/volumes.ts'
import { failed } from '../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../call.ts'
import { refuseLocked, withConfigLock } from './config-lock.ts'
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
    ...(snapshot.parent === undefined ? {} : { parent: snapshot.parent }),
  }))
  rows.push({
    name: 'current',
    description: 'You are here!',
    digest: configDigest(guest),
    running: guest.run.status === 'running' ? 1 : 0,
    ...(parent === undefined ? {} : { parent }),
  })
  return rows
}

function take(call: Call): string {
  const name = param(call, 'snapname')
  if (name === 'current') throw failed("unable to use snapshot name 'current' (reserved name)")
  return inTask(call, 'qmsnapshot', async (guest, host, work) => {
    refuseLocked(guest)
    if (guest.config.get('template') === '1') throw new Error("you can't take a snapshot if it's a template")
    if (guest.snapshots.has(name)) throw new Error(`snapshot name '${name}' already used`)
    const disks = driveKeys(guest.config).filter((key) => !isCdrom(guest.config.get(key) ?? ''))
    for (const key of disks) refuseNoSnapshot(call, host, driveVolume(guest.config.get(key) ?? ''))
    for (const key of disks) work.log(`snapshotting 'drive-${key}' (${driveVolume(guest.config.get(key) ?? '')})`)
    await work.pass(call.world.timing.shortTaskMs)
    guest.snapshots.set(name, {
      config: new Map(guest.config),
      description: call.params.description,
      timeSeconds: Math.floor(call.world.clock.now() / 1000),
      parent: guest.config.get('parent'),
    })
    guest.config.set('parent', name)
  })
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
  return startTask(world, host, type, `${guest.vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, guest.vmid, async () => {
      await deed(guest, host, work, call)
      touch(guest)
    }),
  )
}

async function remove(guest: Guest, _host: Host, work: Work, call: Call): Promise<void> {
  refuseLocked(guest)
  const name = param(call, 'snapname')
  const snapshot = needSnapshot(guest, name)
  await work.pass(call.world.timing.shortTaskMs)
  guest.snapshots.delete(name)
  // What stood on it stands on what it stood on.
  for (const [other, entry] of guest.snapshots)
    if (entry.parent === name) guest.snapshots.set(other, { ...entry, parent: snapshot.parent })
  if (guest.config.get('parent') !== name) return
  if (snapshot.parent === undefined) guest.config.delete('parent')
  else guest.config.set('parent', snapshot.parent)
}

async function rollback(guest: Guest, host: Host, work: Work, call: Call): Promise<void> {
  refuseLocked(guest)
  const name = param(call, 'snapname')
  const snapshot = needSnapshot(guest, name)
  await work.pass(call.world.timing.shortTaskMs)
  powerOff(call.world, guest)
  guest.config = wentBack(guest, snapshot)
  guest.config.set('parent', name)
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

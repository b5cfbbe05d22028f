import { defined } from '../../../../src/lib/defined.ts'
import { configDigest, touch } from '../../../world/guest-config.ts'
import { noteSeen, powerOff, powerOn } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { carryVolumes, findVolume, parseVolumeId, volumesOf } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { refuseLocked, underMark, withConfigLock, withMigrationLock, withSnapshotLock } from '../guest/config-lock.ts'
import { migrationTarget } from '../guest/migration-target.ts'
import {
  describe,
  forget,
  needSnapshot,
  newSnapshot,
  passOrForget,
  refuseReserved,
  rollbackTo,
  shownSnapshot,
  wentBack,
} from '../guest/snapshots.ts'
import { storageMap } from '../guest/storage-map.ts'
import { destinations } from '../ha/motion.ts'
import { movedByManager } from '../ha/power.ts'
import { haEntry } from '../ha/resources.ts'
import { nameAnew, orAborted } from '../qemu/migrate.ts'
import { type VolumeFeature, volumeHasFeature } from '../volume-features.ts'
import { isMount } from './mounts.ts'
import { startContainer } from './power.ts'
import { inOpenTask } from './task.ts'

const ONE = '/nodes/{node}/lxc/{vmid}'

/** Templates, snapshots and migrations of containers. */
export const lxcCopyRoutes: Routes = {
  [`POST ${ONE}/template`]: async (call) => {
    const { world } = call
    const host = hostOf(call)
    const guest = guestOf(call, 'lxc')
    await withConfigLock(world, host, guest.vmid, () => {
      refuseLocked(guest)
      if (guest.snapshots.size > 0) throw failed('unable to create template, because CT contains snapshots')
      if (guest.config.get('template') === '1') throw failed("you can't convert a template to a template")
      if (guest.run.status === 'running') throw failed("you can't convert a CT to template if the CT is running")
      // The answer does not name the task that does it, and the lock is not held for it.
      startTask(world, host, 'vztemplate', `${guest.vmid}`, call.who.id, async (work) => {
        await work.pass(world.timing.shortTaskMs)
        for (const key of guest.config.keys()) if (isMount(key)) requireTemplate(call, guest, key)
        for (const key of guest.config.keys()) if (isMount(key)) toBase(call, guest, key)
        guest.config.set('template', '1')
        touch(guest)
      })
    })
    return null
  },
  [`GET ${ONE}/snapshot`]: snapshots,
  [`POST ${ONE}/snapshot`]: take,
  [`GET ${ONE}/snapshot/{snapname}`]: () => ['rollback', 'config'].map((cmd) => ({ cmd })),
  [`DELETE ${ONE}/snapshot/{snapname}`]: (call) =>
    inOpenTask(call, 'vzdelsnapshot', (guest, host, work) =>
      withSnapshotLock(call, host, guest.vmid, async () => {
        const snapshot = needSnapshot(guest, param(call, 'snapname'))
        await underMark(call.world, host, guest, 'snapshot-delete', async () => {
          snapshot.state = 'delete'
          if (guest.config.get('template') === '1') throw new Error("you can't delete a snapshot if vm is a template")
          await work.pass(call.world.timing.shortTaskMs)
          forget(guest, param(call, 'snapname'), snapshot)
        })
      }),
    ),
  [`GET ${ONE}/snapshot/{snapname}/config`]: (call) => {
    const guest = guestOf(call, 'lxc')
    return shownSnapshot(guest, needSnapshot(guest, param(call, 'snapname')))
  },
  [`PUT ${ONE}/snapshot/{snapname}/config`]: (call) => describe(call, 'lxc'),
  [`POST ${ONE}/snapshot/{snapname}/rollback`]: (call) =>
    inOpenTask(call, 'vzrollback', async (guest, host, work) => {
      const name = param(call, 'snapname')
      await withMigrationLock(call.world, host, guest.vmid, async () => {
        const snapshot = await rollbackTo(call, guest, name, isMount)
        await underMark(call.world, host, guest, 'rollback', async () => {
          powerOff(call.world, guest)
          await work.pass(call.world.timing.shortTaskMs)
          guest.config = wentBack(guest, snapshot)
          guest.config.set('parent', name)
        })
      })
      if (!flag(call, 'start')) return
      startTask(call.world, host, 'vzstart', `${guest.vmid}`, call.who.id, (own) =>
        startContainer(call.world, host, guest, own),
      )
    }),
  [`GET ${ONE}/migrate`]: (call) => {
    const guest = guestOf(call, 'lxc')
    refuseLocked(guest)
    return {
      running: guest.run.status === 'running' ? 1 : 0,
      ...destinations(call, guest, 'allowed-nodes', 'not-allowed-nodes'),
    }
  },
  [`POST ${ONE}/migrate`]: migrate,
}

/** What can be done with every volume can be done with the container. A folder in a file system keeps no earlier state. */
function hasFeature(
  call: Call,
  config: ReadonlyMap<string, string>,
  feature: VolumeFeature,
  ofSnapshot = false,
): boolean {
  return [...config].every(([key, value]) => {
    const volid = parseProperties(value, 'volume').main
    return !isMount(key) || volumeHasFeature(call.world, hostOf(call), feature, volid, ofSnapshot, true)
  })
}

function requireTemplate(call: Call, guest: Guest, key: string): void {
  const volid = parseProperties(guest.config.get(key) ?? '', 'volume').main
  if (!volumeHasFeature(call.world, hostOf(call), 'template', volid))
    throw new Error(`Template feature is not available for '${volid}'`)
}

/** Volumes of a template are renamed, so that everybody sees that others may stand on them; a folder in a file system is not. */
function toBase(call: Call, guest: Guest, key: string): void {
  const host = hostOf(call)
  const value = guest.config.get(key) ?? ''
  const volid = parseProperties(value, 'volume').main
  const volume = findVolume(host, volid)
  const storage = parseVolumeId(volid)?.storage ?? ''
  if (volume === undefined) return
  const volumes = volumesOf(host, storage)
  const folders = call.world.storages.get(storage)?.files === true ? 'subvol-' : 'basevol-'
  volumes.delete(volume.name)
  volume.name = volume.name.replace(/(^|\/)vm-/, '$1base-').replace(/(^|\/)subvol-/, `$1${folders}`)
  volumes.set(volume.name, volume)
  guest.config.set(key, value.replace(volid, `${storage}:${volume.name}`))
}

function snapshots(call: Call): unknown[] {
  const guest = guestOf(call, 'lxc')
  const rows: unknown[] = [...guest.snapshots].map(([name, snapshot]) => ({
    name,
    snaptime: snapshot.timeSeconds,
    description: snapshot.description ?? '',
    ...defined({ snapstate: snapshot.state, parent: snapshot.parent }),
  }))
  const running = guest.run.status === 'running' ? 1 : 0
  const parent = guest.config.get('parent')
  const here = { name: 'current', description: 'You are here!', digest: configDigest(guest), running }
  return [...rows, { ...here, ...defined({ parent }) }]
}

function take(call: Call): string {
  const name = param(call, 'snapname')
  refuseReserved(name, 'current', 'vzdump')
  return inOpenTask(call, 'vzsnapshot', (guest, host, work) => {
    if (guest.config.get('template') === '1') throw new Error("you can't take a snapshot if it's a template")
    const prepare = () => {
      if (guest.snapshots.has(name)) throw new Error(`snapshot name '${name}' already used`)
      if (!hasFeature(call, guest.config, 'snapshot')) throw new Error('snapshot feature is not available')
      guest.snapshots.set(name, newSnapshot(call, guest))
    }
    const deed = async () => {
      await passOrForget(call, guest, name, work)
      guest.config.set('parent', name)
    }
    return underMark(call.world, host, guest, 'snapshot', deed, prepare)
  })
}

function migrate(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const target = migrationTarget(call)
  const asked = guestOf(call, 'lxc')
  if (asked.run.status === 'running' && !flag(call, 'online') && !flag(call, 'restart'))
    throw failed("can't migrate running container without --online or --restart")
  const storages = storageMap(call, 'target-storage', target, 'rootdir')
  // A container cannot move while it runs: it is shut down here and started there.
  const move = (guest: Guest) => {
    const ran = guest.run.status === 'running'
    if (ran) powerOff(world, guest, true)
    nameAnew(
      guest,
      carryVolumes(world, host, target, guest.vmid, (storage) => storages?.to(storage) ?? storage),
    )
    guest.node = target.name
    if (ran) powerOn(world, target, guest)
    touch(guest)
    noteSeen(world, guest)
  }
  if (haEntry(world, asked) !== undefined) return movedByManager(call, asked, target, () => move(asked))
  return inOpenTask(call, 'vzmigrate', (guest, _, work) =>
    withMigrationLock(world, host, guest.vmid, () =>
      orAborted(world, work, () => withConfigLock(world, host, guest.vmid, () => carry(guest, work))),
    ),
  )

  async function carry(guest: Guest, work: Work): Promise<void> {
    refuseLocked(guest)
    if (guest.run.status === 'running' && flag(call, 'online'))
      throw new Error('lxc live migration is currently not implemented')
    work.log(`starting migration of CT ${guest.vmid} to node '${target.name}' (${target.address})`)
    await work.pass(world.timing.shortTaskMs)
    move(guest)
  }
}

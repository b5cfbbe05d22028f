import { defined } from '../../../../src/lib/defined.ts'
import { macAddress } from '../../../world/chance.ts'
import { configDigest, touch } from '../../../world/guest-config.ts'
import { newGuest, noteSeen, powerOff, powerOn } from '../../../world/guest-run.ts'
import { PowerLost } from '../../../world/locks.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { carryVolumes, findVolume, freeVolume, parseVolumeId, storageOn, volumesOf } from '../../../world/volumes.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { copyFirewall, forgetFirewall } from '../firewall/place.ts'
import {
  refuseLocked,
  underMark,
  unmark,
  withConfigLock,
  withMigrationLock,
  withNewId,
  withSnapshotLock,
} from '../guest/config-lock.ts'
import { migrationTarget } from '../guest/migration-target.ts'
import { requireBridgeRights, requireRight } from '../guest/option-rights.ts'
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
import { newDisk } from '../qemu/drive-make.ts'
import { nameAnew, orAborted } from '../qemu/migrate.ts'
import { requireEnabled } from '../storage-check.ts'
import { type VolumeFeature, volumeHasFeature } from '../volume-features.ts'
import { copyFiles } from './copy-files.ts'
import { isMount } from './mounts.ts'
import { startContainer } from './power.ts'
import { inOpenTask } from './task.ts'

const ONE = '/nodes/{node}/lxc/{vmid}'

/** Copies, templates, earlier states and other hosts. */
export const lxcCopyRoutes: Routes = {
  [`POST ${ONE}/clone`]: clone,
  [`POST ${ONE}/template`]: async (call) => {
    const { world } = call
    const host = hostOf(call)
    const guest = guestOf(call, 'lxc')
    await withConfigLock(world, host, guest.vmid, () => {
      refuseLocked(guest)
      if (guest.snapshots.size > 0) throw failed('unable to create template, because CT contains snapshots')
      if (guest.config.get('template') === '1') throw failed("you can't convert a template to a template")
      if (guest.run.status === 'running') throw failed("you can't convert a CT to template if the CT is running")
      // Nobody is told of the task that does it, and the lock is not held for it.
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
  [`GET ${ONE}/feature`]: (call) => {
    const guest = guestOf(call, 'lxc')
    const { snapname } = call.params
    const config = snapname === undefined ? guest.config : needSnapshot(guest, snapname).config
    const able = hasFeature(call, config, param(call, 'feature') as VolumeFeature, snapname !== undefined)
    return { hasFeature: able ? 1 : 0 }
  },
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

async function clone(call: Call): Promise<string> {
  const { world, params } = call
  const host = hostOf(call)
  const newid = Number(param(call, 'newid'))
  if (params.pool !== undefined && !world.pools.has(params.pool))
    throw forbidden(`pool '${params.pool}' does not exist`)
  const elsewhere = params.target === host.name || params.target === 'localhost' ? undefined : params.target
  if (elsewhere !== undefined && !world.hosts.has(elsewhere)) throw failed(`no such cluster node '${elsewhere}'`)
  if (params.storage !== undefined) {
    requireEnabled(world, host.name, params.storage)
    if (elsewhere !== undefined && !requireEnabled(world, elsewhere, params.storage).shared)
      throw failed(`can't clone to non-shared storage '${params.storage}'`)
  }
  const source = guestOf(call, 'lxc')
  // Marked before anything else is asked: who fails takes the mark off again.
  await withConfigLock(world, host, source.vmid, () => {
    refuseLocked(source)
    source.config.set('lock', 'disk')
    touch(source)
  })
  // Its id is taken at once. Until the end it has everything but its volumes, and says that it is being made.
  const take = () => {
    const kept = refuseClone(call, source, newid, elsewhere)
    const made = newGuest(newid, 'lxc', host.name, new Map([...copiedOptions(call, kept), ['lock', 'create']]))
    world.guests.set(newid, made)
    return [kept, made] as const
  }
  const [from, copy] = await orUnmarked(() => withNewId(world, host, { vmid: newid, type: 'lxc', before: '' }, take))
  async function orUnmarked<T>(deed: () => T | Promise<T>): Promise<T> {
    try {
      return await deed()
    } catch (error) {
      await unmark(world, host, source)
      throw error
    }
  }
  return inOpenTask(call, 'vzclone', async (_, __, work) => {
    const shop = { world, host, vmid: newid, work, made: [] as string[] }
    try {
      work.log(`creating a clone of container ${source.vmid} with ID ${newid}`)
      copyFirewall(world, source, copy)
      const config = new Map(copy.config)
      for (const [key, value] of from)
        if (isMount(key)) config.set(key, await copyMount(call, shop, value, isLinked(call, source)))
      config.delete('lock')
      copy.config = config
      copy.node = elsewhere ?? host.name
    } catch (error) {
      if (error instanceof PowerLost) throw error
      for (const volid of shop.made) freeVolume(host, volid)
      forgetFirewall(world, copy)
      world.guests.delete(newid)
      await unmark(world, host, source)
      throw new Error(`clone failed: ${error instanceof Error ? error.message : String(error)}`)
    }
    await unmark(world, host, source)
    if (params.pool !== undefined) world.pools.get(params.pool)?.guests.add(newid)
    world.access.version += 1
    touch(copy)
    noteSeen(world, copy)
  })
}

/** What keeps a container from being copied under this id; else the configuration to copy. */
function refuseClone(
  call: Call,
  source: Guest,
  newid: number,
  elsewhere: string | undefined,
): ReadonlyMap<string, string> {
  const { world, params } = call
  const taken = world.guests.get(newid)
  if (taken !== undefined)
    throw failed(`${taken.type === 'qemu' ? 'VM' : 'CT'} ${newid} already exists on node '${taken.node}'`)
  const linked = isLinked(call, source)
  if (linked && params.storage !== undefined) throw failed("parameter 'storage' not allowed for linked clones")
  const from = params.snapname === undefined ? source.config : needSnapshot(source, params.snapname).config
  let shared = true
  for (const [key, value] of [...from].sort(([a], [b]) => (a < b ? -1 : 1))) {
    requireBridgeRights(call, key, value)
    if (!isMount(key)) continue
    const volid = parseProperties(value, 'volume').main
    const id = parseVolumeId(volid)?.storage
    if (id === undefined)
      throw failed(`unable to clone mountpoint '${key}' (type ${volid.startsWith('/dev/') ? 'device' : 'bind'})`)
    const target = params.storage ?? id
    const entry = world.storages.get(target)
    if (entry === undefined) throw failed(`storage '${target}' does not exist`)
    shared &&= entry.shared
    requireRight(call, `/storage/${target}`, 'Datastore.AllocateSpace')
    if (!linked && source.run.status === 'running' && params.snapname === undefined)
      throw failed('Full clone of a running container is only possible from a snapshot')
    if (linked && !volumeHasFeature(world, hostOf(call), 'clone', volid, params.snapname !== undefined, true))
      throw failed(`Linked clone feature for '${volid}' is not available`)
  }
  if (elsewhere !== undefined && !shared) throw failed(`can't clone CT to node '${elsewhere}' (CT uses local storage)`)
  return from
}

/** What a copy has of its source besides volumes; its cards get addresses of their own. */
function copiedOptions(call: Call, from: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const { world, params } = call
  const config = new Map<string, string>()
  for (const [key, value] of from) {
    if (isMount(key) || /^(lock|template|parent|unused\d+)$/.test(key)) continue
    const isCard = /^net\d+$/.test(key)
    config.set(key, isCard ? value.replace(/hwaddr=[^,]*/, `hwaddr=${macAddress(world.random)}`) : value)
  }
  if (params.hostname) config.set('hostname', params.hostname)
  if (params.description) config.set('description', params.description)
  return config
}

async function copyMount(
  call: Call,
  shop: Parameters<typeof newDisk>[0],
  value: string,
  linked: boolean,
): Promise<string> {
  const volid = parseProperties(value, 'volume').main
  const id = call.params.storage ?? parseVolumeId(volid)?.storage ?? ''
  const storage = storageOn(shop.world, shop.host, id)
  if (parseVolumeId(volid) === undefined) return value
  if (storage === undefined) throw new Error(`storage '${id}' does not exist`)
  const old = findVolume(shop.host, volid)
  if (old === undefined) throw new Error(`volume '${volid}' does not exist`)
  const folder = old.format === 'subvol'
  const made = await newDisk(shop, storage, folder ? 'subvol' : 'raw', old.sizeBytes, folder ? 'subvol' : 'disk')
  if (!linked) await copyFiles(call, shop.work, old.sizeBytes, 'clone', [parseVolumeId(volid)?.storage, id])
  return value.replace(/^[^,]*/, made)
}

/** A copy of a template shares its disks unless somebody asks for a whole one. */
function isLinked(call: Call, source: Guest): boolean {
  return call.params.full === undefined ? source.config.get('template') === '1' : !flag(call, 'full')
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

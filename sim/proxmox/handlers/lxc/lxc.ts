import { may, seesGuest } from '../../../world/access.ts'
import { directoryNameProblem } from '../../../world/directory-name.ts'
import { configDigest } from '../../../world/guest-config.ts'
import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { contentOfName, findVolume, parseVolumeId, volumeAtPath } from '../../../world/volumes.ts'
import { badParameter, badParameters, failed, forbidden, notSimulated, onlyRootNamesPaths } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { STALE } from '../collection.ts'
import { refuseLocked, withConfigLock, withNewId } from '../guest/config-lock.ts'
import { shownConfig, shownPending } from '../guest/config-view.ts'
import { configured } from '../guest/creation.ts'
import { haId, nodeRow, statusRow } from '../guest/guest-rows.ts'
import { requireRight } from '../guest/option-rights.ts'
import { needSnapshot, shownSnapshot } from '../guest/snapshots.ts'
import { checkKeys } from '../guest/ssh-keys.ts'
import { removeGuest } from '../qemu/destroy.ts'
import { requireVolume } from '../qemu/drive-check.ts'
import { shelf } from '../shelf.ts'
import { refuseReplicated } from '../storage/replication.ts'
import { requireEnabled } from '../storage-check.ts'
import { changeContainer, checkDropped, checkOptions, newConfig, refuseConflicts } from './config.ts'
import { isMount, makeMount, refuseUnmountable, resizeMount } from './mounts.ts'
import { checkValue } from './option-checks.ts'
import { startContainer } from './power.ts'
import { inTask } from './task.ts'

const AT = '/nodes/{node}/lxc'
const ONE = `${AT}/{vmid}`
const PARTS =
  'config pending status vncproxy termproxy vncwebsocket spiceproxy migrate clone rrd rrddata firewall snapshot resize interfaces'

export const lxcRoutes: Routes = {
  [`GET ${AT}`]: (call) => {
    const host = hostOf(call)
    return [...call.world.guests.values()]
      .filter(
        (guest) => guest.type === 'lxc' && guest.node === host.name && seesGuest(call.world, call.who, guest.vmid),
      )
      .map((guest) => nodeRow(call.world, host, guest))
  },
  [`POST ${AT}`]: create,
  [`GET ${ONE}`]: (call) => {
    guestOf(call, 'lxc')
    return PARTS.split(' ').map((subdir) => ({ subdir }))
  },
  [`DELETE ${ONE}`]: destroy,
  [`GET ${ONE}/config`]: readConfig,
  [`PUT ${ONE}/config`]: update,
  [`GET ${ONE}/pending`]: (call) => {
    const guest = guestOf(call, 'lxc')
    requireEnvironment(call, guest, [...guest.config.keys(), ...guest.pending.keys()])
    return shownPending(guest)
  },
  [`GET ${ONE}/status/current`]: (call) => statusRow(call.world, hostOf(call), guestOf(call, 'lxc')),
  [`PUT ${ONE}/resize`]: (call) => {
    const guest = guestOf(call, 'lxc')
    refuseLocked(guest)
    // The name of the disk is asked for as if it were an option.
    requireRight(call, `/vms/${guest.vmid}`, 'VM.Config.Options')
    if (call.params.digest !== undefined && call.params.digest !== configDigest(guest)) throw failed(STALE)
    const resize = resizeMount(call, guest)
    return inTask(call, 'resize', (_, work) => resize(work))
  },
}

function readConfig(call: Call): Record<string, unknown> {
  const { snapshot: name, current } = call.params
  if (name !== undefined && current === '1') {
    const text = "cannot use 'snapshot' parameter with 'current'"
    throw badParameters({ snapshot: text, current: text })
  }
  const guest = guestOf(call, 'lxc')
  const shown =
    name === undefined
      ? shownConfig(guest, current === '1')
      : { ...shownSnapshot(guest, needSnapshot(guest, name)), digest: configDigest(guest) }
  requireEnvironment(call, guest, [
    shown.env === undefined ? '' : 'env',
    ...(name === undefined ? guest.pending.keys() : []),
  ])
  return shown
}

/** What a container's programs are told may be secret: who may only look sees nothing at all of such a container. */
function requireEnvironment(call: Call, guest: Guest, keys: Iterable<string>): void {
  if ([...keys].includes('env')) requireRight(call, `/vms/${guest.vmid}`, 'VM.Config.Options')
}

function create(call: Call): string | Promise<string> {
  const { world, params } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const { pool } = params
  if (flag(call, 'restore')) throw notSimulated('to restore a container from a backup')
  if (params.unprivileged === '0') requireRight(call, '/', 'Sys.Modify')
  if (flag(call, 'ha-managed')) requireRight(call, '/', 'Sys.Console')
  refuseTaken(call)
  checkKeys(params['ssh-public-keys'])
  if (pool !== undefined && !world.pools.has(pool)) throw forbidden(`pool '${pool}' does not exist`)
  requireAllocate(call)
  checkOptions(call, vmid, undefined, pool)
  const template = param(call, 'ostemplate')
  checkTemplate(call, template)
  const mounts = wantedMounts(call)
  for (const [key, value] of Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1))) checkValue(call, key, value)
  const finish = (guest: Guest) => finishCreation(call, guest)
  const id = { vmid, type: 'lxc', before: `unable to create CT ${vmid} - ` } as const
  return withNewId(world, host, id, () => beginCreate(call, template, mounts, finish))
}

function beginCreate(
  call: Call,
  template: string,
  mounts: readonly (readonly [string, string])[],
  finish: (guest: Guest) => void,
): string {
  const { world, params } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const taken = world.guests.get(vmid)
  if (taken !== undefined)
    throw failed(
      `unable to create CT ${vmid} - ${taken.type === 'qemu' ? 'VM' : 'CT'} ${vmid} already exists on node '${taken.node}'`,
    )
  const guest = newGuest(vmid, 'lxc', host.name, new Map([['lock', 'create']]))
  world.guests.set(vmid, guest)
  noteSeen(world, guest)
  return startTask(world, host, 'vzcreate', `${vmid}`, call.who.id, async (work) => {
    const shop = { world, host, vmid, work, made: [] as string[] }
    await configured(shop, guest, async () => {
      if (findVolume(host, volumeAtPath(world, host, template) ?? template) === undefined)
        throw new Error(
          template.startsWith('/') ? `can't find file '${template}'` : `volume '${template}' does not exist`,
        )
      const config = newConfig(call)
      const made = new Map<string, string>()
      const wanted = mounts.length > 0 ? mounts : [['rootfs', `${params.storage ?? 'local'}:4`] as const]
      for (const [key, value] of wanted) made.set(key, await makeMount(shop, key, value))
      refuseUnmountable(shop, made)
      for (const [key, value] of made) config.set(key, value)
      work.log(`extracting archive '${template}'`)
      await work.pass(world.timing.shortTaskMs)
      return config
    })
    finish(guest)
  })
}

function refuseTaken(call: Call): void {
  const vmid = vmidOf(call)
  const taken = call.world.guests.get(vmid)
  if (taken === undefined) return
  throw failed(`${taken.type === 'qemu' ? 'VM' : 'CT'} ${vmid} already exists on node '${taken.node}'`)
}

function requireAllocate(call: Call): void {
  const has = (path: string) => may(call.world, call.who, path, 'VM.Allocate')
  if (has(`/vms/${vmidOf(call)}`)) return
  if (call.params.pool === undefined || !has(`/pool/${call.params.pool}`)) throw forbidden()
}

function finishCreation(call: Call, guest: Guest): void {
  const { world, params } = call
  if (params.pool !== undefined) world.pools.get(params.pool)?.guests.add(guest.vmid)
  world.access.version += 1
  if (flag(call, 'ha-managed'))
    shelf(world, 'ha/resources').set(haId(guest), { type: 'ct', state: flag(call, 'start') ? 'started' : 'stopped' })
  if (flag(call, 'start')) startAfterCreate(call, guest)
}

/** The disks of a new container: a bare number is a size on the storage of the call. */
function wantedMounts(call: Call): (readonly [string, string])[] {
  const { storage = 'local' } = call.params
  const asked = Object.entries(call.params)
    .filter(([key]) => isMount(key))
    .map(([key, value]) => [key, /^\d+(\.\d+)?$/.test(value) ? `${storage}:${value}` : value] as const)
  if (asked.length > 0 && !asked.some(([key]) => key === 'rootfs'))
    throw failed("mount points configured, but 'rootfs' not set - aborting")
  for (const [, value] of asked) {
    const id = parseVolumeId(parseProperties(value, 'volume').main)?.storage
    if (id !== undefined) requireRootdir(call, id)
  }
  if (asked.length === 0) requireRootdir(call, storage)
  return asked
}

function requireRootdir(call: Call, id: string): void {
  const entry = requireEnabled(call.world, hostOf(call).name, id)
  if (!entry.content.includes('rootdir'))
    throw badParameter('storage', `storage '${id}' does not support container directories`)
  requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
}

/** Starts the guest in a second task, whose failure does not fail the creation. */
function startAfterCreate(call: Call, guest: Guest): void {
  const host = hostOf(call)
  startTask(call.world, host, 'vzstart', `${guest.vmid}`, call.who.id, (work) =>
    startContainer(call.world, host, guest, work),
  )
}

function checkTemplate(call: Call, volid: string): void {
  if (volid === '-') throw failed('pipe requires cli environment')
  const id = parseVolumeId(volid)
  if (id === undefined && call.who.id === 'root@pam') return
  if (id === undefined) throw onlyRootNamesPaths()
  const entry = call.world.storages.get(id.storage)
  if (entry === undefined) throw failed(`storage '${id.storage}' does not exist`)
  const unread = entry.files ? directoryNameProblem(id.name) : undefined
  if (unread !== undefined) throw failed(unread)
  if (contentOfName(id.name) !== 'vztmpl')
    throw failed(`unable to use volume ${volid} - content type needs to be 'vztmpl'`)
  requireVolume(call, volid)
}

async function update(call: Call): Promise<null> {
  const guest = guestOf(call, 'lxc')
  const { params } = call
  if (!Object.keys(params).some((key) => key !== 'node' && key !== 'vmid' && key !== 'digest'))
    throw failed('no options specified')
  await withConfigLock(call.world, hostOf(call), guest.vmid, () => {
    refuseLocked(guest)
    if (params.digest !== undefined && params.digest !== configDigest(guest)) throw failed(STALE)
    checkDropped(call, guest)
    refuseConflicts(call)
    checkOptions(call, guest.vmid, guest)
    return changeContainer(call, guest)
  })
  return null
}

function destroy(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call, 'lxc')
  if (guest.config.get('protection') === '1') throw failed(`can't remove CT ${guest.vmid} - protection mode enabled`)
  refuseLocked(guest)
  const purge = flag(call, 'purge')
  if (!purge && world.shelves.get('ha/resources')?.has(haId(guest)))
    throw failed(`unable to remove CT ${guest.vmid} - used in HA resources and purge parameter not set.`)
  if (!purge) refuseReplicated(world, guest.vmid)
  if (guest.run.status === 'running' && !flag(call, 'force'))
    throw failed(`unable to destroy CT ${guest.vmid} - container is running`)
  const options = { purge, unreferenced: flag(call, 'destroy-unreferenced-disks') }
  return inTask(call, 'vzdestroy', (_, work) => removeGuest(world, host, guest, work, options))
}

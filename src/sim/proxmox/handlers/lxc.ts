import { seesGuest } from '../../world/access.ts'
import { touch } from '../../world/guest-config.ts'
import { newGuest, noteSeen, powerOff, powerOn } from '../../world/guest-run.ts'
import { startTask, type Work } from '../../world/tasks.ts'
import type { Guest, Host, World } from '../../world/types.ts'
import { findVolume, parseVolumeId, storageOn } from '../../world/volumes.ts'
import { failed } from '../api-error.ts'
import { type Call, guestOf, guestOn, hostOf, missingConfig, param, type Routes, vmidOf } from '../call.ts'
import { refuseLocked, withConfigLock } from './config-lock.ts'
import { shownConfig, shownPending } from './config-view.ts'
import { newDisk } from './drive-make.ts'
import { nodeRow, statusRow } from './guest-rows.ts'
import { buildContainer, changeContainer, checkFeatures } from './lxc-config.ts'
import { removeGuest } from './qemu-destroy.ts'

const AT = '/nodes/{node}/lxc'
const ONE = `${AT}/{vmid}`

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
  [`DELETE ${ONE}`]: destroy,
  [`GET ${ONE}/config`]: (call) => shownConfig(guestOf(call, 'lxc'), call.params.current === '1'),
  [`PUT ${ONE}/config`]: update,
  [`GET ${ONE}/pending`]: (call) => shownPending(guestOf(call, 'lxc')),
  [`GET ${ONE}/status/current`]: (call) => statusRow(call.world, hostOf(call), guestOf(call, 'lxc')),
  [`GET ${ONE}/interfaces`]: () => null,
  [`POST ${ONE}/status/start`]: (call) =>
    power(call, 'vzstart', (world, host, guest) => powerOn(world, host, guest, 1000)),
  [`POST ${ONE}/status/stop`]: (call) => power(call, 'vzstop', (world, _, guest) => powerOff(world, guest)),
  [`POST ${ONE}/status/shutdown`]: (call) => power(call, 'vzshutdown', (world, _, guest) => powerOff(world, guest)),
  [`PUT ${ONE}/resize`]: (call) => inTask(call, 'resize', () => failing("can't resize this image format")),
  [`POST ${ONE}/snapshot`]: (call) => inTask(call, 'vzsnapshot', () => failing('snapshot feature is not available')),
  [`POST ${ONE}/template`]: (call) => {
    const guest = guestOf(call, 'lxc')
    guest.config.set('template', '1')
    touch(guest)
    return null
  },
  [`POST ${ONE}/clone`]: clone,
}

function failing(message: string): never {
  throw new Error(message)
}

function inTask(call: Call, type: string, deed: (guest: Guest, work: Work) => void | Promise<void>): string {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call, 'lxc')
  return startTask(world, host, type, `${guest.vmid}`, call.who.id, (work) =>
    withConfigLock(world, host, guest.vmid, () => {
      refuseLocked(guest)
      return deed(guest, work)
    }),
  )
}

function power(call: Call, type: string, deed: (world: World, host: Host, guest: Guest) => void): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  return startTask(world, host, type, `${vmid}`, call.who.id, async (work) => {
    const guest = guestOn(world, host.name, vmid, 'lxc')
    if (guest === undefined) throw new Error(missingConfig(host.name, vmid, 'lxc'))
    refuseLocked(guest)
    await work.pass(world.timing.shortTaskMs)
    deed(world, host, guest)
  })
}

function create(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  checkFeatures(call, call.params.features, call.params.unprivileged === '1', true)
  const taken = world.guests.get(vmid)
  if (taken !== undefined) {
    throw failed(
      `unable to create CT ${vmid} - ${taken.type === 'qemu' ? 'VM' : 'CT'} ${vmid} already exists on node '${taken.node}'`,
    )
  }
  const rootfs = parseVolumeId(call.params.rootfs ?? `${call.params.storage ?? 'local'}:4`)
  const entry = storageOn(world, host, rootfs?.storage ?? '')
  if (entry === undefined) throw failed(`storage '${rootfs?.storage}' does not exist`)
  const guest = newGuest(vmid, 'lxc', host.name, new Map([['lock', 'create']]))
  world.guests.set(vmid, guest)
  noteSeen(world, guest)
  return startTask(world, host, 'vzcreate', `${vmid}`, call.who.id, async (work) => {
    const template = param(call, 'ostemplate')
    if (findVolume(host, template) === undefined) {
      work.log(`volume '${template}' does not exist`)
      world.guests.delete(vmid)
      throw new Error(`unable to create CT ${vmid} - volume '${template}' does not exist`)
    }
    work.log(`extracting archive '${template}'`)
    const gib = Number(/^(\d+(?:\.\d+)?)/.exec(rootfs?.name ?? '')?.[1] ?? 4)
    const shop = { world, host, vmid, work, made: [] as string[] }
    const role = gib === 0 || !entry.files ? 'subvol' : 'disk'
    const volid = await newDisk(shop, entry, role === 'subvol' ? 'subvol' : 'raw', gib * 1024 ** 3, role)
    await work.pass(world.timing.shortTaskMs)
    guest.config = buildContainer(call, `${volid},size=${gib === 0 ? '0T' : `${gib}G`}`)
    touch(guest)
    noteSeen(world, guest)
  })
}

async function update(call: Call): Promise<null> {
  const guest = guestOf(call, 'lxc')
  checkFeatures(call, call.params.features, guest.config.get('unprivileged') === '1', false)
  await withConfigLock(call.world, hostOf(call), guest.vmid, () => changeContainer(call, guest))
  return null
}

function destroy(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOf(call, 'lxc')
  if (guest.config.get('protection') === '1') throw failed(`can't remove CT ${guest.vmid} - protection mode enabled`)
  if (guest.run.status === 'running') throw failed(`unable to destroy CT ${guest.vmid} - container is running`)
  const options = { purge: call.params.purge === '1', unreferenced: false }
  return inTask(call, 'vzdestroy', (_, work) => removeGuest(world, host, guest, work, options))
}

function clone(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const newid = Number(param(call, 'newid'))
  if (world.guests.has(newid)) throw failed(`unable to create CT ${newid}: config file already exists`)
  return inTask(call, 'vzclone', async (source, work) => {
    work.log(`creating a clone of container ${source.vmid} with ID ${newid}`)
    const rootfs = parseVolumeId(source.config.get('rootfs') ?? '')
    const entry = storageOn(world, host, rootfs?.storage ?? '')
    if (entry === undefined) throw new Error('storage of the root disk does not exist')
    const shop = { world, host, vmid: newid, work, made: [] as string[] }
    const volid = await newDisk(shop, entry, 'subvol', 0, 'subvol')
    const copy = newGuest(newid, 'lxc', host.name, new Map(source.config))
    copy.config.set('rootfs', (source.config.get('rootfs') ?? '').replace(/^[^,]*/, volid))
    if (call.params.hostname !== undefined) copy.config.set('hostname', call.params.hostname)
    world.guests.set(newid, copy)
    noteSeen(world, copy)
  })
}

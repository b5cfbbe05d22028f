import { newGuest, noteSeen } from '../../../world/guest-run.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask } from '../../../world/tasks.ts'
import { ApiError, badParameter, failed } from '../../api-error.ts'
import { type Call, flag, guestOf, hostOf, param, type Routes, vmidOf } from '../../call.ts'
import { haEntry } from '../ha/resources.ts'
import { requireEnabled } from '../storage-check.ts'
import { refuseLocked } from './config-lock.ts'
import { requireRight } from './option-rights.ts'

type Sort = 'qemu' | 'lxc'

/** Guests that go to another cluster, or come from one. There is none that answers. */
export const otherClusterRoutes: Routes = {
  ...routesOf('qemu'),
  ...routesOf('lxc'),
  'POST /nodes/{node}/qemu/{vmid}/dbus-vmstate': (call) => {
    const guest = call.world.guests.get(vmidOf(call))
    const { name } = hostOf(call)
    if (guest?.node !== name || guest.type !== 'qemu' || guest.run.status !== 'running')
      throw badParameter('node', `VM ${vmidOf(call)} not running locally on node '${name}'`)
    return null
  },
}

function routesOf(sort: Sort): Routes {
  const one = `/nodes/{node}/${sort}/{vmid}`
  return {
    [`POST ${one}/remote_migrate`]: (call) => sendAway(call, sort),
    [`POST ${one}/mtunnel`]: (call) => openTunnel(call, sort),
    [`GET ${one}/mtunnelwebsocket`]: (call) => {
      guestOf(call, sort)
      throw new ApiError(401, 'permission denied - invalid PVETUNNEL ticket')
    },
  }
}

function sendAway(call: Call, sort: Sort): never {
  const guest = guestOf(call, sort)
  refuseLocked(guest)
  if (sort === 'lxc' && guest.run.status === 'running' && !flag(call, 'online') && !flag(call, 'restart'))
    throw failed("can't migrate running container without --online or --restart")
  if (haEntry(call.world, guest) !== undefined)
    throw badParameter('vmid', `cannot remote-migrate ${nameOf(sort)} that is configured for HA`)
  const { named } = parseProperties(param(call, 'target-endpoint'))
  throw failed(`500 Can't connect to ${named.get('host')}:${named.get('port') ?? '8006'} (Connection refused)`)
}

/** How long an end of a tunnel waits for the other one. */
const TUNNEL_MS = 300_000

function openTunnel(call: Call, sort: Sort): Record<string, string> {
  const { world } = call
  const host = hostOf(call)
  const vmid = vmidOf(call)
  const content = sort === 'qemu' ? 'images' : 'rootdir'
  for (const id of listed(call.params.storages)) {
    const entry = requireEnabled(world, host.name, id)
    requireRight(call, `/storage/${id}`, 'Datastore.AllocateSpace')
    if (!entry.content.includes(content))
      throw failed(`storage '${id}' does not support ${sort === 'qemu' ? 'vm images' : 'CT rootdirs'}`)
  }
  for (const bridge of listed(call.params.bridges))
    if (!host.interfaces.has(bridge)) throw failed(`bridge '${bridge}' does not exist`)
  const taken = world.guests.get(vmid)
  if (taken !== undefined) {
    const there = `${nameOf(taken.type)} ${vmid} already exists on node '${taken.node}'`
    throw badParameter('vmid', `unable to create empty ${nameOf(sort)} config - ${there}\n`)
  }
  const guest = newGuest(vmid, sort, host.name, new Map([['lock', 'create']]))
  world.guests.set(vmid, guest)
  noteSeen(world, guest)
  const upid = startTask(
    world,
    host,
    sort === 'qemu' ? 'qmtunnel' : 'vzmtunnel',
    `${vmid}`,
    call.who.id,
    async (work) => {
      work.log('mtunnel started')
      await work.pass(TUNNEL_MS)
      if (world.guests.get(vmid) === guest) world.guests.delete(vmid)
      throw new Error('Exiting mtunnel')
    },
  )
  const socket = sort === 'qemu' ? `/run/qemu-server/${vmid}.mtunnel` : `/run/pve/ct-${vmid}.mtunnel`
  return { ticket: `PVETUNNEL:${upid.split(':')[4] ?? ''}::`, upid, socket }
}

function nameOf(sort: Sort): string {
  return sort === 'qemu' ? 'VM' : 'CT'
}

function listed(text: string | undefined): string[] {
  return (text ?? '').split(/[,;\s]+/).filter((part) => part !== '')
}

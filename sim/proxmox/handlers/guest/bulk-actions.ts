import { may } from '../../../world/access.ts'
import { powerOff, powerOn } from '../../../world/guest-run.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'
import { startGuest } from '../qemu/start.ts'

type Deed = (world: World, host: Host, guest: Guest, work: Work, call: Call) => void | Promise<void>

const DEEDS: Readonly<Record<string, Deed>> = { start, shutdown, suspend }

/** The same for many guests at once. One that fails does not make the whole fail. */
export const bulkActionRoutes: Routes = {
  'POST /nodes/{node}/startall': (call) => onNode(call, 'startall', start),
  'POST /nodes/{node}/stopall': (call) => onNode(call, 'stopall', shutdown),
  'POST /nodes/{node}/suspendall': (call) => onNode(call, 'suspendall', suspend),
  'POST /nodes/{node}/migrateall': (call) => {
    const target = param(call, 'target')
    if (!call.world.hosts.has(target)) throw failed(`no such cluster node '${target}'`)
    throw failed('moving all guests at once is not simulated')
  },
  'GET /cluster/bulk-action': () => [{ name: 'guest' }],
  'GET /cluster/bulk-action/guest': () => ['start', 'shutdown', 'migrate', 'suspend'].map((name) => ({ name })),
  ...Object.fromEntries(
    Object.entries(DEEDS).map(([name, deed]) => [
      `POST /cluster/bulk-action/guest/${name}`,
      (call: Call) => {
        const [host] = call.world.hosts.values()
        if (host === undefined) throw failed('there is no node')
        return inTask(call, host, `bulk-${name}`, deed, [...call.world.guests.values()])
      },
    ]),
  ),
}

function onNode(call: Call, type: string, deed: Deed): string {
  const host = hostOf(call)
  if (call.params.vms === undefined && !may(call.world, call.who, '/', 'VM.PowerMgmt'))
    throw forbidden('/, VM.PowerMgmt')
  const here = [...call.world.guests.values()].filter((guest) => guest.node === host.name)
  return inTask(call, host, type, deed, here)
}

function inTask(call: Call, host: Host, type: string, deed: Deed, guests: readonly Guest[]): string {
  const { world } = call
  const named = call.params.vms === undefined ? undefined : call.params.vms.split(/[,;\s]+/).map(Number)
  const chosen = guests.filter((guest) =>
    named === undefined ? type !== 'startall' || guest.config.get('onboot') === '1' : named.includes(guest.vmid),
  )
  for (const guest of chosen) {
    if (!may(world, call.who, `/vms/${guest.vmid}`, 'VM.PowerMgmt')) throw forbidden(`/vms/${guest.vmid}, VM.PowerMgmt`)
  }
  return startTask(world, host, type, '', call.who.id, async (work) => {
    for (const guest of chosen) {
      const at = world.hosts.get(guest.node)
      if (at === undefined || guest.config.get('template') === '1') continue
      try {
        await deed(world, at, guest, work, call)
      } catch (error) {
        work.log(`VM ${guest.vmid} failed: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    await work.pass(world.timing.shortTaskMs)
  })
}

function start(world: World, host: Host, guest: Guest, work: Work): void | Promise<void> {
  if (guest.run.status === 'running') return
  work.log(`Starting ${guest.type === 'qemu' ? 'VM' : 'CT'} ${guest.vmid}`)
  if (guest.type === 'qemu') return startGuest(world, host, guest, work)
  powerOn(world, host, guest)
}

/** A system that hears goes down by itself; another one is switched off when its time is over, if that is wanted. */
async function shutdown(world: World, _: Host, guest: Guest, work: Work, call: Call): Promise<void> {
  if (guest.run.status !== 'running') return
  work.log(`Stopping ${guest.type === 'qemu' ? 'VM' : 'CT'} ${guest.vmid}`)
  const hears = guest.type === 'lxc' || (guest.run.system?.acpi === true && guest.run.bootedAtMs !== undefined)
  await work.pass(hears ? world.timing.shortTaskMs : 1000 * Number(call.params.timeout ?? 180))
  if (hears || call.params['force-stop'] === undefined || flag(call, 'force-stop')) powerOff(world, guest)
}

function suspend(_world: World, _host: Host, guest: Guest): void {
  if (guest.run.status === 'running') guest.run.paused = true
}

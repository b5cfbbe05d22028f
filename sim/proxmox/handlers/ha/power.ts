import { powerOff, powerOn } from '../../../world/guest-run.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Guest, Host, World } from '../../../world/types.ts'
import { type Call, guestOn, hostOf, vmidOf } from '../../call.ts'
import { shelf } from '../shelf.ts'
import { haEntry } from './resources.ts'

/** How often the manager looks for work. */
const MANAGER_CYCLE_MS = 10_000

/** The manager notices with its next look, and says so until then. */
export function requestDisarm(world: World, mode: string): void {
  const known = shelf(world, 'ha').get('disarmed')
  shelf(world, 'ha').set('disarmed', { mode, sinceMs: known?.sinceMs ?? world.clock.now() })
}

/** Undefined: it is armed. One that never ran has nothing to disarm. */
export function disarmState(world: World): 'disarming' | 'disarmed' | undefined {
  const asked = shelf(world, 'ha').get('disarmed')
  if (!world.statusDaemon || asked === undefined) return undefined
  return world.clock.now() - Number(asked.sinceMs) < MANAGER_CYCLE_MS ? 'disarming' : 'disarmed'
}

/**
 * Hands a start or stop to the high-availability manager: the request is noted, the task ends, and the manager acts some
 * seconds later. Undefined: the manager does not manage the guest.
 */
export function byManager(
  call: Call,
  type: string,
  state: 'started' | 'stopped',
  kind: 'qemu' | 'lxc' = 'qemu',
): string | undefined {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOn(world, host.name, vmidOf(call), kind)
  const entry = guest === undefined ? undefined : haEntry(world, guest)
  if (guest === undefined || entry === undefined) return undefined
  const released = shelf(world, 'ha').get('disarmed')
  // Disarmed with `ignore`: as if the guest were not managed.
  if (released?.mode === 'ignore' && disarmState(world) === 'disarmed') return undefined
  return startTask(world, host, type, `${guest.vmid}`, call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    // A start changes what is wanted; a stop is a request that only a manager turns into that.
    if (state === 'started' || world.statusDaemon) entry.state = state
    const what = kind === 'qemu' ? 'VM' : 'CT'
    work.log(`Requesting HA ${state === 'started' ? 'start' : 'stop'} for ${what} ${guest.vmid}`)
    // Frozen: a request is carried out when HA is armed again, or never.
    if (!world.statusDaemon || released?.mode === 'freeze') return
    world.clock.schedule(world.clock.now() + MANAGER_CYCLE_MS, () => {
      const running = guest.run.status === 'running'
      if (world.guests.get(guest.vmid) !== guest || entry.state !== state || host.power !== 'on') return
      if (state === 'started' && !running) powerOn(world, host, guest)
      if (state === 'stopped' && running) powerOff(world, guest)
    })
  })
}

/** Who looks after a guest is asked to bring it to another host, and does so some seconds later. */
export function movedByManager(call: Call, guest: Guest, target: Host, move: () => void): string {
  const { world } = call
  const from = hostOf(call)
  return startTask(world, from, 'hamigrate', `${guest.vmid}`, call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    work.log(`Requesting HA migration for ${guest.type === 'qemu' ? 'VM' : 'CT'} ${guest.vmid} to node ${target.name}`)
    if (!world.statusDaemon || disarmState(world) !== undefined) return
    world.clock.schedule(world.clock.now() + MANAGER_CYCLE_MS, () => {
      const stays = world.guests.get(guest.vmid) !== guest || guest.node !== from.name
      if (!stays && from.power === 'on' && target.power === 'on') move()
    })
  })
}

import { powerOff, powerOn } from '../../world/guest-run.ts'
import { startTask } from '../../world/tasks.ts'
import { type Call, guestOn, hostOf, vmidOf } from '../call.ts'
import { haEntry } from './ha-resources.ts'

/** How often the manager looks what is to be done. */
const MANAGER_CYCLE_MS = 10_000

/**
 * A guest that the high-availability manager looks after is not started or stopped by whoever asks: the wish is noted,
 * the task ends, and the manager follows some seconds later. Undefined: nobody looks after it.
 */
export function byManager(call: Call, type: string, state: 'started' | 'stopped'): string | undefined {
  const { world } = call
  const host = hostOf(call)
  const guest = guestOn(world, host.name, vmidOf(call))
  const entry = guest === undefined ? undefined : haEntry(world, guest)
  if (guest === undefined || entry === undefined) return undefined
  return startTask(world, host, type, `${guest.vmid}`, call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    // A start changes what is wanted; a stop is a request that only a manager turns into that.
    if (state === 'started' || world.statusDaemon) entry.state = state
    work.log(`Requesting HA ${state === 'started' ? 'start' : 'stop'} for VM ${guest.vmid}`)
    if (!world.statusDaemon) return
    world.clock.schedule(world.clock.now() + MANAGER_CYCLE_MS, () => {
      const running = guest.run.status === 'running'
      if (world.guests.get(guest.vmid) !== guest || entry.state !== state || host.power !== 'on') return
      if (state === 'started' && !running) powerOn(world, host, guest)
      if (state === 'stopped' && running) powerOff(world, guest)
    })
  })
}

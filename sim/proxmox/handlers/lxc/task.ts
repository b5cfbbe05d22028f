import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest, Host } from '../../../world/types.ts'
import { type Call, guestOf, hostOf, vmidOf } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'

/** Starts a task that works on a container and holds its lock. */
export function inTask(call: Call, type: string, deed: (guest: Guest, work: Work) => void | Promise<void>): string {
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

/** The same for work that takes the lock itself, and only where it needs it. That the container is missing, the task finds out. */
export function inOpenTask(
  call: Call,
  type: string,
  deed: (guest: Guest, host: Host, work: Work) => Promise<void>,
): string {
  const host = hostOf(call)
  return startTask(call.world, host, type, `${vmidOf(call)}`, call.who.id, (work) =>
    deed(guestOf(call, 'lxc'), host, work),
  )
}

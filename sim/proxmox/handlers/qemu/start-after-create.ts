import { startTask, type Work } from '../../../world/tasks.ts'
import type { Guest } from '../../../world/types.ts'
import { type Call, hostOf } from '../../call.ts'
import { startGuest } from './start.ts'

/** Starts the guest in a second task, after the creation ended: its failure does not fail the creation. */
export function startAfterCreate(call: Call, guest: Guest, work: Work): void {
  const { world } = call
  const host = hostOf(call)
  work.log('Execute autostart')
  startTask(world, host, 'qmstart', `${guest.vmid}`, call.who.id, (own) => startGuest(world, host, guest, own))
}

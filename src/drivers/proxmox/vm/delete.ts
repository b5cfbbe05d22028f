import type { Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import { isUp, powerOf } from '../../guests.ts'
import { called, type GuestPlace, guestStep, shutdownStep } from '../guest-steps.ts'
import { hostQueue } from '../steps.ts'
import { unseedSteps } from './seed-steps.ts'

/** Works for containers too: nothing of the declaration is needed to remove a guest. */
export function deleteGuestSteps(sighting: Sighting): readonly Step[] {
  const { host, externalId, close } = sighting
  const guest: GuestPlace = { type: sighting.type === 'container' ? 'container' : 'vm', host, externalId }
  // What is about to be removed need not wait for a guest that does not listen.
  const stop = isUp(powerOf(sighting)) ? [shutdownStep(guest, { forceStop: '1', timeout: '60' })] : []
  const last = guestStep(guest, 'DELETE', '', {
    verb: 'delete',
    summary: `delete ${called(guest)} on ${host} with its disks`,
    params: { purge: '1', 'destroy-unreferenced-disks': '1' },
    queues: [hostQueue(host)],
    disruption: 'data-loss',
  })
  return [...stop, ...unseedSteps(sighting, stop.length === 0 ? close?.digest : undefined), last]
}

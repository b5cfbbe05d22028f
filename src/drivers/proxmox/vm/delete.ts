import type { Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import { guestPath, hostQueue, makeStep } from '../steps.ts'
import { isUp, powerOf } from './power.ts'
import { unseedSteps } from './seed-steps.ts'

/** Works for containers too: nothing of the declaration is needed to remove a guest. */
export function deleteGuestSteps(sighting: Sighting): readonly Step[] {
  const { host, externalId } = sighting
  const type = sighting.type === 'container' ? 'container' : 'vm'
  const called = `${type === 'vm' ? 'VM' : 'container'} ${externalId}`
  const path = guestPath(host, type, externalId)
  const steps: Step[] = []
  if (isUp(powerOf(sighting))) {
    steps.push(
      makeStep({
        verb: 'shutdown',
        summary: `shut down ${called} on ${host}`,
        host,
        method: 'POST',
        path: `${path}/status/shutdown`,
        // What is about to be removed need not wait for a guest that does not listen.
        params: { forceStop: '1', timeout: '60' },
        disruption: 'restart',
      }),
    )
  }
  steps.push(...unseedSteps(sighting, steps.length === 0 ? sighting.close?.digest : undefined))
  steps.push(
    makeStep({
      verb: 'delete',
      summary: `delete ${called} on ${host} with its disks`,
      host,
      method: 'DELETE',
      path,
      params: { purge: '1', 'destroy-unreferenced-disks': '1' },
      queues: [hostQueue(host)],
      disruption: 'data-loss',
    }),
  )
  return steps
}

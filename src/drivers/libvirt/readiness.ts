import type { FirstBoot } from '../../model/policy.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { VmSpec } from '../../model/vm.ts'
import { agentReadiness, answerAbout, powerOf, powerReadiness } from '../guests.ts'
import { seedInConfig } from './declared.ts'

/**
 * Nothing here asks for a lease: an address is known because it was declared, or because the agent tells it. `adopted`: it
 * was there before us, so its first boot is none of our business.
 */
export function vmReadiness(vm: VmSpec, sighting: Sighting, adopted: boolean, firstBoot?: FirstBoot): Readiness {
  const power = powerOf(sighting)
  const id = `domain ${vm.name} on ${sighting.host}`
  const answer = answerAbout(id, power)
  const early = powerReadiness(vm, power, answer)
  if (early !== undefined) return early
  const unread = seedInConfig(vm, sighting).inserted !== undefined
  if (vm.agent?.enabled !== true || !bringsSystem(vm)) {
    if (unread) return answer(false, 'Seeding', 'running and has yet to read its seed', 'Booting')
    return answer(true, 'Running', 'running')
  }
  if (unread && sighting.close?.agent === 'up')
    return answer(false, 'Seeding', 'running; the disc that it was seeded from is still in it', 'Booting')
  return agentReadiness(sighting, id, adopted || vm.seed === undefined, firstBoot, answer)
}

/** Nothing waits for an agent that the declaration makes impossible. */
function bringsSystem(vm: VmSpec): boolean {
  return vm.disks.some((disk) => disk.importFrom !== undefined) || (vm.cdrom?.length ?? 0) > 0
}

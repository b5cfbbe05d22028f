import { cloudInitReadiness } from '../../cloudinit/result.ts'
import type { FirstBoot } from '../../model/policy.ts'
import type { Readiness } from '../../model/rules.ts'
import type { PowerState, Sighting } from '../../model/sighting.ts'
import type { VmSpec } from '../../model/vm.ts'
import { seedInConfig } from './declared.ts'

/**
 * Nothing here asks for a lease: an address is known because it was declared, or because the agent tells it. `adopted`: it
 * was there before us, so its first boot is none of our business.
 */
export function vmReadiness(vm: VmSpec, sighting: Sighting, adopted: boolean, firstBoot?: FirstBoot): Readiness {
  const power = powerOf(sighting)
  const id = `domain ${vm.name} on ${sighting.host}`
  const status = power === 'unknown' ? 'Unknown' : `${power[0]?.toUpperCase()}${power.slice(1)}`
  const answer = (ready: boolean, reason: string, message: string, shown = status): Readiness => ({
    ready,
    reason,
    message,
    status: shown,
  })
  if (vm.power === 'stopped')
    return power === 'stopped'
      ? answer(true, 'Stopped', `${id} is stopped, as declared`)
      : answer(false, 'NotStopped', `${id} is ${power}`)
  if (power !== 'running') {
    const ready = vm.power === undefined && power === 'stopped'
    return answer(ready, ready ? 'Present' : 'NotRunning', `${id} is ${power}`)
  }
  const unread = seedInConfig(vm, sighting).inserted !== undefined
  if (vm.agent?.enabled !== true || !bringsSystem(vm)) {
    if (unread) return answer(false, 'Seeding', `${id} is running and has yet to read its seed`, 'Booting')
    return answer(true, 'Running', `${id} is running`)
  }
  switch (sighting.close?.agent) {
    case 'up':
      return unread
        ? answer(false, 'Seeding', `${id} is running; the disc that it was seeded from is still in it`, 'Booting')
        : ((adopted || vm.seed === undefined
            ? undefined
            : cloudInitReadiness(sighting.close.cloudInit, id, firstBoot)) ??
            answer(true, 'AgentUp', `${id} is running and its agent answers`))
    case 'down':
      return answer(false, 'AgentDown', `${id} is running; its agent does not answer yet`, 'Booting')
    default:
      return answer(false, 'AgentNotAsked', `${id} is running; its agent was not asked`)
  }
}

/** Nothing waits for an agent that the declaration makes impossible. */
function bringsSystem(vm: VmSpec): boolean {
  return vm.disks.some((disk) => disk.importFrom !== undefined) || (vm.cdrom?.length ?? 0) > 0
}

export function powerOf(sighting: Sighting): PowerState {
  return sighting.close?.power ?? sighting.power ?? 'unknown'
}

export function isUp(power: PowerState): boolean {
  return power === 'running' || power === 'paused'
}

import { cloudInitReadiness } from '../../../cloudinit/result.ts'
import type { FirstBoot } from '../../../model/policy.ts'
import type { Readiness } from '../../../model/rules.ts'
import type { PowerState, Sighting } from '../../../model/sighting.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { powerOf } from './power.ts'

/** `adopted`: it was there before us, so something runs in it whatever the declaration says. */
export function vmReadiness(vm: VmSpec, sighting: Sighting, adopted: boolean, firstBoot?: FirstBoot): Readiness {
  const power = powerOf(sighting)
  const id = `VM ${sighting.externalId} on ${sighting.host}`
  if (sighting.lock !== undefined) return lockedReadiness(sighting, id)
  if (vm.template === true) {
    return sighting.template === true
      ? { ready: true, reason: 'Template', message: `${id} is a template`, status: 'Template' }
      : { ready: false, reason: 'NotATemplate', message: `${id} is not a template yet`, status: 'Stopped' }
  }
  if (vm.power === 'stopped') {
    return power === 'stopped'
      ? { ready: true, reason: 'Stopped', message: `${id} is stopped, as declared`, status: 'Stopped' }
      : { ready: false, reason: 'NotStopped', message: `${id} is ${power}`, status: statusOf(power) }
  }
  if (power !== 'running') {
    const ready = vm.power === undefined && power === 'stopped'
    return { ready, reason: ready ? 'Present' : 'NotRunning', message: `${id} is ${power}`, status: statusOf(power) }
  }
  const { seeding, unseeding } = sighting.mark ?? {}
  const seeded = seeding !== undefined || unseeding !== undefined
  // Only where an agent is declared may anything wait for it.
  if (vm.agent?.enabled !== true || (seeded && sighting.close?.agent === 'up')) {
    return seeded
      ? {
          ready: false,
          reason: 'Seeding',
          message: `${id} is running; the image that it was seeded from is still to be taken away`,
          status: 'Booting',
        }
      : { ready: true, reason: 'Running', message: `${id} is running`, status: 'Running' }
  }
  if (!adopted && !seeded && sighting.close?.agent !== 'up' && !bringsSystem(vm)) {
    const message = `${id} is running; nothing in its declaration brings an operating system, so no agent is awaited`
    return { ready: true, reason: 'NoSystem', message, status: 'Running' }
  }
  switch (sighting.close?.agent) {
    case 'up': {
      const booted = adopted || (vm.cloudInit === undefined && vm.seed === undefined)
      return (
        (booted ? undefined : cloudInitReadiness(sighting.close.cloudInit, id, firstBoot)) ?? {
          ready: true,
          reason: 'AgentUp',
          message: `${id} is running and its agent answers`,
          status: 'Running',
        }
      )
    }
    case 'down':
      return {
        ready: false,
        reason: 'AgentDown',
        message: `${id} is running; its agent does not answer yet`,
        status: 'Booting',
      }
    default:
      return {
        ready: false,
        reason: 'AgentNotAsked',
        message: `${id} is running; its agent was not asked`,
        status: 'Running',
      }
  }
}

/** Could an agent ever answer? Nothing waits for what the declaration makes impossible. */
function bringsSystem(vm: VmSpec): boolean {
  return (
    vm.clone !== undefined ||
    vm.disks.some((disk) => disk.importFrom !== undefined) ||
    (vm.cdrom?.length ?? 0) > 0 ||
    (vm.bootOrder?.some((device) => device.startsWith('net')) ?? false)
  )
}

function statusOf(power: PowerState): string {
  return power === 'unknown' ? 'Unknown' : `${power[0]?.toUpperCase()}${power.slice(1)}`
}

function lockedReadiness(sighting: Sighting, id: string): Readiness {
  const unlock = `if nothing is at work on it any more, run on ${sighting.host}: qm unlock ${sighting.externalId}`
  const making = sighting.lock === 'create' || sighting.lock === 'clone'
  return {
    ready: false,
    reason: 'Locked',
    message: `${id} is locked (${sighting.lock}); ${unlock}`,
    status: making ? 'Creating' : 'Locked',
  }
}

import { cloudInitReadiness } from '../../cloudinit/result.ts'
import type { ContainerSpec } from '../../model/container.ts'
import type { FirstBoot } from '../../model/policy.ts'
import type { Readiness } from '../../model/rules.ts'
import type { PowerState, Sighting } from '../../model/sighting.ts'
import type { VmSpec } from '../../model/vm.ts'
import { powerOf } from './vm/power.ts'

/** `adopted`: it was there before us, so something runs in it whatever the declaration says. */
export function vmReadiness(vm: VmSpec, sighting: Sighting, adopted: boolean, firstBoot?: FirstBoot): Readiness {
  const power = powerOf(sighting)
  const id = `VM ${sighting.externalId} on ${sighting.host}`
  const early = lockedOrTemplate(vm, sighting, id, 'qm')
  if (early !== undefined) return early
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

/** Nothing inside a container can be asked, so running is as much as can be known. */
export function containerReadiness(container: ContainerSpec, sighting: Sighting): Readiness {
  const power = powerOf(sighting)
  const id = `container ${sighting.externalId} on ${sighting.host}`
  const early = lockedOrTemplate(container, sighting, id, 'pct')
  if (early !== undefined) return early
  const wanted = container.power ?? power
  const ready = power === wanted && power !== 'unknown'
  const reason = ready ? statusOf(power) : wanted === 'stopped' ? 'NotStopped' : 'NotRunning'
  return { ready, reason, message: `${id} is ${power}`, status: statusOf(power) }
}

/** What is the same for every guest. */
function lockedOrTemplate(
  { template }: { readonly template?: boolean },
  { host, externalId, lock, template: isTemplate }: Sighting,
  id: string,
  program: 'qm' | 'pct',
): Readiness | undefined {
  if (lock !== undefined) {
    const unlock = `if nothing is at work on it any more, run on ${host}: ${program} unlock ${externalId}`
    const status = lock === 'create' || lock === 'clone' ? 'Creating' : 'Locked'
    return { ready: false, reason: 'Locked', message: `${id} is locked (${lock}); ${unlock}`, status }
  }
  if (template !== true) return undefined
  return isTemplate === true
    ? { ready: true, reason: 'Template', message: `${id} is a template`, status: 'Template' }
    : { ready: false, reason: 'NotATemplate', message: `${id} is not a template yet`, status: 'Stopped' }
}

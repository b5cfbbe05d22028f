import type { ContainerSpec } from '../../model/container.ts'
import type { FirstBoot } from '../../model/declaration.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { Readiness } from '../../model/rules.ts'
import type { VmSpec } from '../../model/vm.ts'
import { agentReadiness, answerAbout, powerOf, powerReadiness, statusOf } from '../guests.ts'

/** `adopted`: it existed before croft, so a system runs in it regardless of the declaration. */
export function vmReadiness(
  vm: VmSpec,
  observed: ObservedResource,
  adopted: boolean,
  firstBoot?: FirstBoot,
): Readiness {
  const power = powerOf(observed)
  const id = `VM ${observed.externalId} on ${observed.host}`
  const answer = answerAbout(id, power)
  const early = lockedOrTemplate(vm, observed, id, 'qm') ?? powerReadiness(vm, power, answer)
  if (early !== undefined) return early
  const { seeding, unseeding } = observed.mark ?? {}
  const seeded = seeding !== undefined || unseeding !== undefined
  const up = observed.close?.agent === 'up'
  // Only a declared agent is awaited.
  if (vm.agent?.enabled !== true || (seeded && up)) {
    const taken = 'running; its seed image is still attached'
    return seeded ? answer(false, 'Seeding', taken, 'Booting') : answer(true, 'Running', 'running')
  }
  if (!adopted && !seeded && !up && !bringsSystem(vm)) {
    const why = 'nothing in its declaration brings an operating system, so no agent is awaited'
    return answer(true, 'NoSystem', `running; ${why}`)
  }
  const booted = adopted || (vm.cloudInit === undefined && vm.seed === undefined)
  return agentReadiness(observed, id, booted, firstBoot, answer)
}

/** Reports whether an agent can ever answer, since only then a wait for it makes sense. */
function bringsSystem(vm: VmSpec): boolean {
  return (
    vm.clone !== undefined ||
    vm.disks.some((disk) => disk.importFrom !== undefined) ||
    (vm.cdrom?.length ?? 0) > 0 ||
    (vm.bootOrder?.some((device) => device.startsWith('net')) ?? false)
  )
}

/** Nothing inside a container can be asked, so running is all that can be known. */
export function containerReadiness(container: ContainerSpec, observed: ObservedResource): Readiness {
  const power = powerOf(observed)
  const id = `container ${observed.externalId} on ${observed.host}`
  const early = lockedOrTemplate(container, observed, id, 'pct')
  if (early !== undefined) return early
  const wanted = container.power ?? power
  const ready = power === wanted && power !== 'unknown'
  const reason = ready ? statusOf(power) : wanted === 'stopped' ? 'NotStopped' : 'NotRunning'
  return answerAbout(id, power)(ready, reason, power)
}

/** The checks common to all guests. */
function lockedOrTemplate(
  { template }: { readonly template?: boolean },
  { host, externalId, lock, template: isTemplate }: ObservedResource,
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

import type { ContainerSpec } from '../../../model/container.ts'
import type { Change, ObservedResource, Resource, Survey } from '../../../model/resource.ts'
import type { Step } from '../../../model/step.ts'
import { isUp, powerOf } from '../../guests.ts'
import * as guests from '../guest-steps.ts'
import { moveGuestSteps } from '../move-guest.ts'
import { createParams, wantedOf } from '../option.ts'
import { OPTIONS } from './options.ts'
import { declaredVolumes, movingContainer } from './volumes.ts'

export function createContainerSteps(
  resource: Resource,
  container: ContainerSpec,
  externalId: string,
  survey?: Survey,
): readonly Step[] {
  const guest = guestAt(container.host, externalId)
  const storages = declaredVolumes(container).flatMap(({ storage }) => storage ?? [])
  const params = createParams(OPTIONS, wantedOf(resource, container, externalId))
  const create = guests.createStep(guest, container.name, params, storages, survey)
  const steps: Step[] = [container.password === undefined ? create : { ...create, secretParams: ['password'] }]
  if (container.template === true) steps.push(guests.templateStep(guest))
  else if (container.power === 'running') steps.push(guests.startStep(guest))
  return steps
}

/** The first step carries the digest of the close look; each later one follows a new look or needs none. */
export function updateContainerSteps(
  resource: Resource,
  container: ContainerSpec,
  observed: ObservedResource,
  changes: readonly Change[],
  survey?: Survey,
): readonly Step[] {
  const guest = guestAt(observed.host, observed.externalId)
  if (changes.some(({ path }) => path === 'host')) return moveGuestSteps(movingContainer(container), observed, survey)
  const chosen = new Set(changes.filter((change) => change.effect !== 'replace').map((change) => change.path))
  const wanted = wantedOf(resource, container, guest.externalId, observed.mark)
  const allocates = (paths: ReadonlySet<string>) =>
    container.mounts.flatMap(({ slot, storage }) =>
      storage !== undefined && paths.has(`mounts.${slot}`) ? [storage] : [],
    )
  const writing = (paths: ReadonlySet<string>) => ({ allocates: allocates(paths) })
  const steps = guests.configureSteps(OPTIONS, guest, wanted, observed, chosen, writing, survey)
  const digest = () => (steps.length === 0 ? observed.close?.digest : undefined)
  for (const { path, key: slot, storage, sizeGb } of declaredVolumes(container)) {
    if (storage !== undefined && chosen.has(`${path}.storage`))
      steps.push(guests.moveStep(guest, { slot, storage }, digest(), survey))
    if (sizeGb !== undefined && chosen.has(`${path}.sizeGb`))
      steps.push(guests.growStep(guest, { slot, sizeGb, storage }, digest(), survey))
  }
  if (chosen.has('pool') && container.pool !== undefined) steps.push(guests.poolStep(guest, container.pool))
  if (chosen.has('template') && container.template === true) {
    if (isUp(powerOf(observed))) steps.push(guests.shutdownStep(guest))
    return [...steps, guests.templateStep(guest)]
  }

  const restarts = changes.some((change) => change.effect === 'restart') && container.restart !== 'never'
  if (chosen.has('power'))
    steps.push(container.power === 'stopped' ? guests.shutdownStep(guest) : guests.startStep(guest))
  else if (isUp(powerOf(observed)) && restarts) steps.push(guests.rebootStep(guest))
  return steps
}

export function adoptContainerSteps(
  resource: Resource,
  container: ContainerSpec,
  observed: ObservedResource,
): readonly Step[] {
  return guests.adoptGuestSteps(OPTIONS, guestAt(observed.host, observed.externalId), resource, container, observed)
}

function guestAt(host: string, externalId: string): guests.GuestPlace {
  return { type: 'container', host, externalId }
}

import type { Change } from '../../../model/change.ts'
import type { ContainerSpec } from '../../../model/container.ts'
import type { Resource } from '../../../model/resource.ts'
import type { Sighting } from '../../../model/sighting.ts'
import type { Step } from '../../../model/step.ts'
import type { Survey } from '../../../model/survey.ts'
import { moveGuestSteps } from '../move-guest.ts'
import type { Params } from '../option.ts'
import { beforeOthers, withoutDigest } from '../slots.ts'
import { guestPath, hostQueue, makeStep, storageQueues } from '../steps.ts'
import { isUp, powerOf } from '../vm/power.ts'
import { poolStep, withDigest } from '../vm/single-steps.ts'
import { wantedOf } from '../vm/wanted.ts'
import { createParams } from './diff.ts'
import { movingContainer } from './moving.ts'
import { OPTIONS } from './options.ts'
import { declaredVolumes } from './volumes.ts'

export function createContainerSteps(
  resource: Resource,
  container: ContainerSpec,
  externalId: string,
  survey?: Survey,
): readonly Step[] {
  const { host } = container
  const storages = declaredVolumes(container).flatMap(({ storage }) => storage ?? [])
  const create = makeStep({
    verb: 'create',
    summary: `create container ${externalId} (${container.name}) on ${host}`,
    host,
    method: 'POST',
    path: guestPath(host, 'container'),
    params: createParams(wantedOf(resource, container, externalId)),
    queues: [hostQueue(host), ...storageQueues(host, storages, survey)],
  })
  const steps: Step[] = [container.password === undefined ? create : { ...create, secretParams: ['password'] }]
  if (container.template === true) steps.push(templateStep(host, externalId))
  else if (container.power === 'running') steps.push(powerStep(host, externalId, 'start'))
  return steps
}

/** The first step carries the digest of the close look; each later one follows a new look or stands by itself. */
export function updateContainerSteps(
  resource: Resource,
  container: ContainerSpec,
  sighting: Sighting,
  changes: readonly Change[],
  survey?: Survey,
): readonly Step[] {
  const { host, externalId } = sighting
  if (changes.some(({ path }) => path === 'host')) return moveGuestSteps(movingContainer(container), sighting, survey)
  const chosen = new Set(changes.filter((change) => change.effect !== 'replace').map((change) => change.path))
  const steps: Step[] = []
  const digest = () => (steps.length === 0 ? sighting.close?.digest : undefined)

  const first = beforeOthers(container, sighting.close?.config ?? {}, chosen)
  const lift = first === undefined ? undefined : configureStep(resource, container, sighting, first, survey)
  const rest = first === undefined ? chosen : new Set([...chosen].filter((path) => !first.has(path)))
  const configure = configureStep(resource, container, sighting, rest, survey)
  if (lift !== undefined) steps.push(lift)
  if (configure !== undefined) steps.push(lift === undefined ? configure : withoutDigest(configure))
  for (const { path, key, storage, sizeGb } of declaredVolumes(container)) {
    if (storage !== undefined && chosen.has(`${path}.storage`))
      steps.push(moveStep(host, externalId, key, storage, digest(), survey))
    if (sizeGb !== undefined && chosen.has(`${path}.sizeGb`))
      steps.push(growStep(host, externalId, key, sizeGb, storage, digest(), survey))
  }
  if (chosen.has('pool') && container.pool !== undefined) steps.push(poolStep(host, externalId, container.pool))
  if (chosen.has('template') && container.template === true) {
    if (isUp(powerOf(sighting))) steps.push(powerStep(host, externalId, 'shutdown'))
    return [...steps, templateStep(host, externalId)]
  }

  const restarts = changes.some((change) => change.effect === 'restart') && container.restart !== 'never'
  if (chosen.has('power')) steps.push(powerStep(host, externalId, container.power === 'stopped' ? 'shutdown' : 'start'))
  else if (isUp(powerOf(sighting)) && restarts) steps.push(powerStep(host, externalId, 'reboot'))
  return steps
}

export function adoptContainerSteps(resource: Resource, container: ContainerSpec, sighting: Sighting): readonly Step[] {
  const { host, externalId } = sighting
  return [
    makeStep({
      verb: 'mark',
      summary: `mark container ${externalId} on ${host} as ${resource.key}`,
      host,
      method: 'PUT',
      path: `${guestPath(host, 'container', externalId)}/config`,
      params: withDigest(updateParams(resource, container, sighting, new Set(['mark'])), sighting.close?.digest),
    }),
  ]
}

function updateParams(
  resource: Resource,
  container: ContainerSpec,
  sighting: Sighting,
  chosen: ReadonlySet<string>,
): Params {
  const params: Params = {}
  const wanted = wantedOf(resource, container, sighting.externalId, sighting.mark)
  for (const option of OPTIONS) option.update(wanted, sighting.close?.config ?? {}, params, chosen)
  return params
}

function configureStep(
  resource: Resource,
  container: ContainerSpec,
  sighting: Sighting,
  chosen: ReadonlySet<string>,
  survey?: Survey,
): Step | undefined {
  const { host, externalId } = sighting
  const params = updateParams(resource, container, sighting, chosen)
  const names = Object.keys(params).flatMap((name) => (name === 'delete' ? (params.delete ?? '').split(',') : [name]))
  if (names.length === 0) return undefined
  const allocates = container.mounts.flatMap(({ slot, storage }) =>
    storage !== undefined && chosen.has(`mounts.${slot}`) ? [storage] : [],
  )
  return makeStep({
    verb: 'configure',
    summary: `set ${names.join(', ')} of container ${externalId} on ${host}`,
    host,
    method: 'PUT',
    path: `${guestPath(host, 'container', externalId)}/config`,
    params: withDigest(params, sighting.close?.digest),
    queues: allocates.length === 0 ? [] : [hostQueue(host), ...storageQueues(host, allocates, survey)],
  })
}

function growStep(
  host: string,
  externalId: string,
  key: string,
  sizeGb: number,
  storage: string | undefined,
  digest: string | undefined,
  survey?: Survey,
): Step {
  return makeStep({
    verb: 'resize',
    summary: `grow ${key} of container ${externalId} to ${sizeGb} GiB`,
    host,
    method: 'PUT',
    path: `${guestPath(host, 'container', externalId)}/resize`,
    // Absolute, so that doing it twice is the same as once.
    params: withDigest({ disk: key, size: `${sizeGb}G` }, digest),
    queues: storage === undefined ? [] : storageQueues(host, [storage], survey),
  })
}

function moveStep(
  host: string,
  externalId: string,
  key: string,
  storage: string,
  digest: string | undefined,
  survey?: Survey,
): Step {
  return makeStep({
    verb: 'move',
    summary: `move ${key} of container ${externalId} to ${storage}`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'container', externalId)}/move_volume`,
    // The source goes when the copy is complete: what was on it is on the copy.
    params: withDigest({ volume: key, storage, delete: '1' }, digest),
    queues: [hostQueue(host), ...storageQueues(host, [storage], survey)],
  })
}

const POWER_WORDS = { start: 'start', shutdown: 'shut down', reboot: 'restart' } as const

/** Never by force: what runs inside is not ours to risk. */
function powerStep(host: string, externalId: string, verb: 'start' | 'shutdown' | 'reboot'): Step {
  return makeStep({
    verb,
    summary: `${POWER_WORDS[verb]} container ${externalId} on ${host}`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'container', externalId)}/status/${verb}`,
    queues: verb === 'shutdown' ? [] : [hostQueue(host)],
    ...(verb === 'start' ? {} : { disruption: 'restart' as const }),
  })
}

function templateStep(host: string, externalId: string): Step {
  return makeStep({
    verb: 'template',
    summary: `turn container ${externalId} on ${host} into a template`,
    host,
    method: 'POST',
    path: `${guestPath(host, 'container', externalId)}/template`,
    queues: [hostQueue(host)],
  })
}

import { defined } from '../../lib/defined.ts'
import { changed, destroying } from '../../model/destruction.ts'
import type { ObservedResource, PowerState, Resource, Survey } from '../../model/resource.ts'
import type { HarmParts, Step, StepOver } from '../../model/step.ts'
import { DISK } from './irreplaceable.ts'
import { splitDescription, splitTags, withoutMarkTags } from './marks.ts'
import { type Option, type Params, type WantedGuest, wantedOf } from './option.ts'
import { beforeOthers, withoutDigest } from './slots.ts'
import { type CallStepParts, guestPath, hostQueue, makeStep, storageQueues } from './steps.ts'

/** The VM or container of a step. */
export interface GuestPlace {
  readonly type: 'vm' | 'container'
  readonly host: string
  readonly externalId: string
}

/** `VM 101`, `container 101`. */
export function called({ type, externalId }: GuestPlace): string {
  return `${type === 'vm' ? 'VM' : 'container'} ${externalId}`
}

type CallOfGuest = HarmParts & Omit<CallStepParts, 'host' | 'method' | 'path' | keyof HarmParts>

/** Creates one call on a guest, at a path below its own. */
export function guestStep(
  guest: GuestPlace,
  method: CallStepParts['method'],
  below: string,
  parts: CallOfGuest,
): StepOver<'rest'> {
  const { type, host, externalId } = guest
  return makeStep({ ...parts, host, method, path: `${guestPath(host, type, externalId)}${below}` })
}

/** Creates a guest with all declared values and its mark in one call. */
export function createStep(
  { type, host, externalId }: GuestPlace,
  name: string,
  params: Params,
  storages: readonly string[],
  survey?: Survey,
): StepOver<'rest'> {
  return makeStep({
    verb: 'create',
    summary: `create ${called({ type, host, externalId })} (${name}) on ${host}`,
    host,
    method: 'POST',
    path: guestPath(host, type),
    params,
    queues: [hostQueue(host), ...storageQueues(host, storages, survey)],
  })
}

/** Writes only the mark on an existing guest. */
export function adoptGuestSteps<Spec>(
  options: readonly Option<Spec>[],
  guest: GuestPlace,
  resource: Resource,
  spec: Spec,
  { mark, close }: ObservedResource,
): readonly Step[] {
  const wanted = wantedOf(resource, spec, guest.externalId, mark)
  const params = updateParams(options, wanted, close, new Set(['mark']))
  const summary = `mark ${called(guest)} on ${guest.host} as ${resource.key}`
  return [guestStep(guest, 'PUT', '/config', { verb: 'mark', summary, params: withDigest(params, close?.digest) })]
}

/** Removes the mark: our tags and our description line, and nothing that a person wrote. */
export function leaveGuestSteps({ type, host, externalId, close }: ObservedResource): readonly Step[] {
  const guest: GuestPlace = { type: type === 'container' ? 'container' : 'vm', host, externalId }
  const { tags, description } = close?.config ?? {}
  const all = splitTags(tags)
  const kept = withoutMarkTags(all)
  const { human, line } = splitDescription(description)
  const params: Params = {
    ...(kept.length === all.length || kept.length === 0 ? {} : { tags: kept.join(';') }),
    ...(line === undefined || human === '' ? {} : { description: human }),
  }
  const gone = [
    ...(kept.length < all.length && kept.length === 0 ? ['tags'] : []),
    ...(line !== undefined && human === '' ? ['description'] : []),
  ]
  if (gone.length > 0) params.delete = gone.join(',')
  if (Object.keys(params).length === 0) return []
  const summary = `take croft's mark off ${called(guest)} on ${host}`
  return [guestStep(guest, 'PUT', '/config', { verb: 'mark', summary, params: withDigest(params, close?.digest) })]
}

function updateParams<Spec>(
  options: readonly Option<Spec>[],
  wanted: WantedGuest<Spec>,
  close: ObservedResource['close'],
  chosen: ReadonlySet<string>,
): Params {
  const params: Params = {}
  for (const option of options) option.update(wanted, close?.config ?? {}, params, chosen)
  return params
}

/** How the chosen changes of a configuration are written: which storages they allocate on, and by which call. */
interface Writing {
  readonly allocates: readonly string[]
  readonly method?: 'PUT' | 'POST'
}

/** Returns the calls that write the chosen changes of a configuration: protection is lifted first, alone. */
export function configureSteps<Spec extends { readonly protection?: boolean }>(
  options: readonly Option<Spec>[],
  guest: GuestPlace,
  wanted: WantedGuest<Spec>,
  observed: ObservedResource,
  chosen: ReadonlySet<string>,
  writing: (chosen: ReadonlySet<string>) => Writing,
  survey?: Survey,
): Step[] {
  const { host } = guest
  const { close } = observed
  const configure = (paths: ReadonlySet<string>): Step[] => {
    const params = updateParams(options, wanted, close, paths)
    const names = Object.keys(params).flatMap((name) => (name === 'delete' ? (params.delete ?? '').split(',') : [name]))
    if (names.length === 0) return []
    const { allocates, method = 'PUT' } = writing(paths)
    const right = guest.type === 'vm' && 'startup' in params ? ' (startup needs Sys.Modify on /)' : ''
    const step = guestStep(guest, method, '/config', {
      verb: 'configure',
      summary: `set ${names.join(', ')} of ${called(guest)} on ${host}${right}`,
      params: withDigest(params, close?.digest),
      ...takingDisks(observed, params, paths),
      queues: allocates.length === 0 ? [] : [hostQueue(host), ...storageQueues(host, allocates, survey)],
    })
    return [step]
  }
  const first = beforeOthers(wanted.spec, close?.config ?? {}, chosen)
  if (first === undefined) return configure(chosen)
  const lift = configure(first)
  const rest = configure(new Set([...chosen].filter((path) => !first.has(path))))
  return [...lift, ...(lift.length === 0 ? rest : rest.map(withoutDigest))]
}

/** Finds disks that a call detaches. Their volumes become unused ones; an unused one is destroyed. */
function takingDisks(observed: ObservedResource, params: Params, paths: ReadonlySet<string>) {
  const disks = (params.delete ?? '').split(',').filter((name) => DISK.test(name))
  if (disks.length === 0) return {}
  return destroying(
    changed(
      observed,
      disks,
      [...paths].map((path) => ({ path })),
    ),
  )
}

export function growStep(
  guest: GuestPlace,
  volume: { readonly slot: string; readonly sizeGb: number; readonly storage: string | undefined },
  digest: string | undefined,
  survey?: Survey,
): Step {
  const { slot, sizeGb, storage } = volume
  return guestStep(guest, 'PUT', '/resize', {
    verb: 'resize',
    summary: `grow ${slot} of ${called(guest)} to ${sizeGb} GiB`,
    // An absolute size, so that a repetition has no effect.
    params: withDigest({ disk: slot, size: `${sizeGb}G` }, digest),
    queues: storage === undefined ? [] : storageQueues(guest.host, [storage], survey),
  })
}

/** A volume with a new storage or format. */
export interface Move {
  readonly slot: string
  readonly storage: string
  readonly format?: string
}

export function moveStep(guest: GuestPlace, move: Move, digest: string | undefined, survey?: Survey): Step {
  const { slot, storage, format } = move
  const [below, volume] = guest.type === 'vm' ? ['/move_disk', { disk: slot }] : ['/move_volume', { volume: slot }]
  return guestStep(guest, 'POST', below, {
    verb: 'move',
    summary: `move ${slot} of ${called(guest)} to ${storage}${format === undefined ? '' : ` as ${format}`}`,
    // The source is deleted once the copy is complete, so no data is lost.
    params: withDigest({ ...volume, storage, ...defined({ format }), delete: '1' }, digest),
    queues: [hostQueue(guest.host), ...storageQueues(guest.host, [storage], survey)],
  })
}

/** Proxmox considers a paused guest running: resume it instead of starting it. */
export function startStep(guest: GuestPlace, paused = false): Step {
  const word = paused ? 'resume' : 'start'
  const summary = `${word} ${called(guest)} on ${guest.host}`
  return guestStep(guest, 'POST', `/status/${word}`, { verb: 'start', summary, queues: [hostQueue(guest.host)] })
}

/** Never by force: it could lose the guest's data. */
export function shutdownStep(guest: GuestPlace, params: Params = {}, why = ''): Step {
  const summary = `shut down ${called(guest)} on ${guest.host}${why}`
  return guestStep(guest, 'POST', '/status/shutdown', { verb: 'shutdown', summary, params, disruption: 'restart' })
}

/** Proxmox sends no request to a paused guest: resume it first. */
export function shutdownSteps(guest: GuestPlace, power: PowerState, why = ''): readonly Step[] {
  return [...(power === 'paused' ? [startStep(guest, true)] : []), shutdownStep(guest, {}, why)]
}

export function rebootStep(guest: GuestPlace): Step {
  return guestStep(guest, 'POST', '/status/reboot', {
    verb: 'reboot',
    summary: `restart ${called(guest)} on ${guest.host}`,
    queues: [hostQueue(guest.host)],
    disruption: 'restart',
  })
}

export function templateStep(guest: GuestPlace): Step {
  const summary = `turn ${called(guest)} on ${guest.host} into a template`
  return guestStep(guest, 'POST', '/template', { verb: 'template', summary, queues: [hostQueue(guest.host)] })
}

export function poolStep({ host, externalId }: GuestPlace, pool: string): Step {
  return makeStep({
    verb: 'configure',
    summary: `put VM ${externalId} into pool ${pool}`,
    host,
    method: 'PUT',
    path: '/pools',
    params: { poolid: pool, vms: externalId, 'allow-move': '1' },
  })
}

export function withDigest(params: Params, digest: string | undefined): Params {
  return digest === undefined ? params : { ...params, digest }
}

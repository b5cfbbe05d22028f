import type { ClientCommand } from '../../model/command.ts'
import { type Destruction, destroying } from '../../model/destruction.ts'
import type { Loss } from '../../model/loss.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import type { SettingSpec } from '../../model/rest.ts'
import type { Readiness } from '../../model/rules.ts'
import type { Step } from '../../model/step.ts'
import { UUID, uuidOf, VIRSH } from './names.ts'
import type { PlaceKind } from './place-view.ts'
import { makeStep } from './steps.ts'

/** A close look at a network or pool: the shape of `ObservedResource.close.config`. */
export interface PlaceConfig {
  readonly [key: string]: unknown
  readonly place: PlaceKind
  readonly digest: string
  readonly name: string
  readonly active: boolean
  readonly autostart: boolean
  /** Its state after the next start. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Its current state while active. */
  readonly live: Readonly<Record<string, unknown>> | undefined
  /** Cards in a network, volumes in a pool. Undefined: unreadable. */
  readonly users: number | undefined
}

export function placeConfigOf(observed: ObservedResource): PlaceConfig | undefined {
  const config = observed.close?.config
  return config?.place === undefined ? undefined : (config as PlaceConfig)
}

export function placeList(host: string, kind: PlaceKind): string {
  return `${kind}s/${host}`
}

/** Returns the kind of places in a list; undefined for a list of volumes. */
export function placeListed(list: string): PlaceKind | undefined {
  const [first] = list.split('/')
  return first === 'networks' ? 'network' : first === 'pools' ? 'pool' : undefined
}

/** Networks and pools have no mark, but a UUID that follows from the declaration: one with another UUID is not ours. */
export function placeId({ uid, policy }: Resource): string {
  return policy.adopt !== undefined && UUID.test(policy.adopt) ? policy.adopt : uuidOf(uid)
}

export function diffPlace({ fields }: SettingSpec, observed: ObservedResource): readonly Change[] {
  const config = placeConfigOf(observed)
  if (config === undefined) return []
  const { autostart, ...declared } = fields
  const changes: Change[] = []
  const late: string[] = []
  for (const [path, to] of Object.entries(declared)) {
    const from = config.fields[path]
    const change: Change = { path, from, to, effect: 'live' }
    if (!same(from, to)) changes.push(blockedBy(config) === undefined ? change : { ...change, ...blockedBy(config) })
    else if (config.live !== undefined && !same(config.live[path], to)) late.push(path)
  }
  if (autostart !== undefined && autostart !== config.autostart)
    changes.push({ path: 'autostart', from: config.autostart, to: autostart, effect: 'live' })
  if (!config.active) changes.push({ path: 'active', from: false, to: true, effect: 'live' })
  else if (late.length > 0 && changes.length === 0)
    changes.push({
      path: 'restart',
      from: `pending: ${late.sort().join(', ')}`,
      to: 'in force',
      effect: 'live',
      ...blockedBy(config),
    })
  return changes
}

/** Why it cannot change now. A pool cannot move; stopping a network cuts off its users. */
function blockedBy({ place, name, active, users }: PlaceConfig): Pick<Change, 'blocked'> | undefined {
  if (place === 'pool')
    return {
      blocked: {
        message: `pool ${name} stays where it is: what is in it would be lost from sight`,
        allow: 'declare a pool of another name, and move the volumes there',
      },
    }
  if (!active || users === 0) return undefined
  const who =
    users === undefined ? 'it is not known who is in it' : `${users} card${users === 1 ? ' is' : 's are'} in it`
  return {
    blocked: {
      message: `network ${name} would have to be stopped, and ${who}: they would be cut off until they restart`,
      allow: `stop its machines first, or run on the host when it suits: ${VIRSH} net-destroy ${name}`,
    },
  }
}

export function createPlaceSteps(setting: SettingSpec, kind: PlaceKind, uuid: string): readonly Step[] {
  const { id: name, host = '', fields } = setting
  const { autostart, ...declared } = fields
  const place: LibvirtPlace = { kind, host, uuid, name }
  const made = { do: 'make', options: { name }, values: { fields: declared } } as const
  const steps = [placeStep(place, 'create', `define ${kind} ${name} on ${host}`, made), startPlace(place, setting)]
  return autostart === true ? [...steps, autostartStep(place, true)] : steps
}

export function updatePlaceSteps(
  setting: SettingSpec,
  observed: ObservedResource,
  changes: readonly Change[],
): readonly Step[] {
  const config = placeConfigOf(observed)
  if (config === undefined) return []
  const { active } = config
  const place = placeSeen(observed, config)
  const chosen = changes.map(({ path }) => path)
  const fields = Object.fromEntries(
    Object.entries(setting.fields).filter(([path]) => path !== 'autostart' && chosen.includes(path)),
  )
  const steps: Step[] = []
  const names = Object.keys(fields)
  if (names.length > 0) {
    const summary = `set ${names.join(', ')} of ${place.kind} ${place.name} on ${place.host}`
    steps.push(
      placeStep(place, 'configure', summary, { do: 'set', values: { fields }, digest: observed.close?.digest }),
    )
  }
  if (active && (names.length > 0 || chosen.includes('restart'))) steps.push(stopPlace(place))
  if (names.length > 0 || chosen.includes('restart') || chosen.includes('active'))
    steps.push(startPlace(place, setting))
  if (chosen.includes('autostart')) steps.push(autostartStep(place, setting.fields.autostart === true))
  return steps
}

/** Deletes only the definition. Volumes and directories stay. */
export function deletePlaceSteps(destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const config = placeConfigOf(observed)
  if (config === undefined) return []
  const place = placeSeen(observed, config)
  const summary = `undefine ${place.kind} ${place.name} on ${place.host}`
  return [
    ...(config.active ? [stopPlace(place)] : []),
    placeStep(place, { verb: 'delete', ...destroying(destruction) }, summary, { do: 'delete' }),
  ]
}

export function undeletablePlace(
  observed: ObservedResource,
): { readonly message: string; readonly allow: string } | undefined {
  const config = placeConfigOf(observed)
  if (config === undefined || config.users === 0 || (config.place === 'network' && !config.active)) return undefined
  const { place, name, users } = config
  const what = place === 'pool' ? 'volume' : 'card'
  const count =
    users === undefined ? `croft cannot tell how many ${what}s are` : `${users} ${what}${users === 1 ? ' is' : 's are'}`
  return {
    message: `${place} ${name} is in use: ${count} in it`,
    allow: `empty it first, or set deletionPolicy: Orphan`,
  }
}

export function placeReadiness(setting: SettingSpec, kind: PlaceKind, observed: ObservedResource): Readiness {
  const what = `${kind} ${setting.id} on ${observed.host}`
  return placeConfigOf(observed)?.active === true
    ? { ready: true, reason: 'Active', message: `${what} is active`, status: 'Active' }
    : { ready: false, reason: 'Inactive', message: `${what} is not active`, status: 'Inactive' }
}

interface LibvirtPlace {
  readonly kind: PlaceKind
  readonly host: string
  readonly uuid: string
  readonly name: string
}

function placeSeen({ host, externalId: uuid }: ObservedResource, { place: kind, name }: PlaceConfig): LibvirtPlace {
  return { kind, host, uuid, name }
}

function placeStep(
  { kind, host, uuid }: LibvirtPlace,
  harm: Exclude<Step['verb'], 'delete'> | { readonly verb: 'delete'; readonly destroys: Loss },
  summary: string,
  {
    what,
    ...command
  }: Omit<ClientCommand, 'object' | 'options' | 'values'> & {
    readonly what?: string
    readonly options?: ClientCommand['options']
    readonly values?: ClientCommand['values']
    readonly digest?: string | undefined
  },
): Step {
  const object = `/${kind}/${uuid}${what === undefined ? '' : `/${what}`}`
  return makeStep({ ...(typeof harm === 'string' ? { verb: harm } : harm), summary, host, object, ...command })
}

/**
 * Starts a pool or network. Creates a missing directory of a pool in the same call, since a defined pool looks the same
 * without it. A volume group must exist: building would recreate it.
 */
function startPlace(place: LibvirtPlace, { id, fields }: SettingSpec): Step {
  const { kind, host } = place
  const options: ClientCommand['options'] = kind === 'pool' && fields.type !== 'logical' ? { build: '1' } : {}
  return placeStep(place, 'start', `start ${kind} ${id} on ${host}`, { do: 'make', what: 'start', options })
}

function stopPlace(place: LibvirtPlace): Step {
  return placeStep(place, 'stop', `stop ${place.kind} ${place.name} on ${place.host}`, { do: 'make', what: 'stop' })
}

function autostartStep(place: LibvirtPlace, on: boolean): Step {
  const summary = `${on ? 'start' : 'do not start'} ${place.kind} ${place.name} with its host ${place.host}`
  const options = { on: on ? '1' : '0' }
  return placeStep(place, 'configure', summary, { do: 'set', what: 'autostart', options })
}

function same(from: unknown, to: unknown): boolean {
  return JSON.stringify(from) === JSON.stringify(to)
}

import { changed, type Destruction, destroying, overwriting } from '../../../model/destruction.ts'
import type { Change, ObservedResource } from '../../../model/resource.ts'
import type { Definition, Field, RestWrite, SettingSpec, SettingValue } from '../../../model/rest.ts'
import type { Harm, Step, StepOver } from '../../../model/step.ts'
import type { ApiFields } from '../foreign.ts'
import { hostQueue } from '../steps.ts'
import { APPLIED, EXISTS } from './diff.ts'
import { entryCalls, plainEntries } from './entry-list.ts'
import { EVERYWHERE, fill, findList, type PathParts, placesOf } from './paths.ts'
import { LEAVING, UNAPPLIED } from './rows.ts'
import { plainRules, ruleCalls, type SubCall } from './rule-list.ts'
import { SECRETS } from './secrets.ts'
import { AGAIN, sent } from './sent.ts'
import { withPresent } from './usb-ports.ts'
import { apiName, isEmpty, wantedValue } from './values.ts'

const CONFIGURE = { verb: 'configure', disruption: 'none' } as const

function disksOf({ fields: { devices } }: SettingSpec): string {
  return Array.isArray(devices) ? devices.join(', ') : typeof devices === 'string' ? devices : 'its disks'
}

/** Returns the steps that create it: create, fill its lists, apply. */
export function createSteps(definition: Definition, setting: SettingSpec): readonly Step[] {
  const { create } = definition
  if (create === undefined) return []
  const places = placesOf(setting, setting.id)
  const params = {
    ...(create.id === undefined ? {} : { [create.id]: setting.id }),
    ...create.with,
    ...declaredParams(definition, setting),
  }
  const name = nameOf(definition, setting.id)
  const harm: Harm =
    create.disruption === 'data-loss'
      ? {
          verb: 'create',
          disruption: 'data-loss',
          ...overwriting(name, [`what is on ${disksOf(setting)}`]),
        }
      : { verb: 'create', disruption: 'none' }
  const step = makeStep(definition, create, places, params, harm, `create ${name}`)
  return [step, ...listSteps(definition, setting, places, {}), ...applySteps(definition, places)]
}

/** Returns the steps for these changes. After each one the rest can be computed again. */
export function updateSteps(
  definition: Definition,
  declared: SettingSpec,
  observed: ObservedResource,
  changes: readonly Change[],
): readonly Step[] {
  const config = observed.close?.config ?? {}
  const setting = withPresent(declared, config)
  const places = { ...textsIn(config), ...placesOf(setting, setting.id) }
  const paths = new Set(changes.map(({ path }) => path))
  if (paths.has(EXISTS)) return createSteps(definition, setting)
  if (paths.has(APPLIED)) return applySteps(definition, places, config[UNAPPLIED])
  const own = [...paths].filter((name) => !isList(definition.fields[name]))
  const { update } = definition
  const steps: Step[] = []
  if (own.length > 0 && update !== undefined) {
    const params = updateParams(definition, update, setting, observed, new Set(own))
    const summary = `set ${own.join(', ')} of ${nameOf(definition, setting.id)}`
    steps.push(makeStep(definition, update, places, params, CONFIGURE, summary))
  }
  return [
    ...steps,
    ...listSteps(definition, setting, places, config, changed(observed, [], changes)),
    ...applySteps(definition, places),
  ]
}

/** Deletes it, after its own list if that must be empty. */
export function deleteSteps(definition: Definition, destruction: Destruction): readonly Step[] {
  const { observed } = destruction
  const config = observed.close?.config ?? {}
  const found = observed.list === undefined ? undefined : findList(observed.list)
  const places = { ...textsIn(config), ...found?.places, id: observed.externalId }
  const { remove } = definition
  if (config[LEAVING] === true) return applySteps(definition, places, config[UNAPPLIED], destruction)
  if (remove === undefined) return []
  const params = {
    ...(remove.id === undefined ? {} : { [remove.id]: observed.externalId }),
    ...carried(remove, config),
    ...remove.with,
  }
  const emptied = { definition: definition.name, id: observed.externalId, fields: emptyLists(definition) }
  const step = makeStep(
    definition,
    remove,
    places,
    params,
    { verb: 'delete', disruption: remove.disruption ?? 'none', ...destroying(destruction) },
    `delete ${nameOf(definition, observed.externalId)}`,
  )
  return [
    ...listSteps(definition, emptied, places, config, destruction),
    step,
    ...applySteps(definition, places, undefined, destruction),
  ]
}

function emptyLists(definition: Definition): Record<string, SettingValue> {
  const lists = Object.entries(definition.fields).filter(([, field]) => isList(field))
  return Object.fromEntries(lists.map(([name]) => [name, []]))
}

function isList(field: Field | undefined): boolean {
  return field?.type === 'rules' || field?.type === 'entries'
}

function nameOf({ noun, identity }: Definition, id: string): string {
  return identity !== undefined && 'constant' in identity ? noun : `${noun} ${id}`
}

function declaredParams(definition: Definition, setting: SettingSpec): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [name, value] of Object.entries(setting.fields)) {
    const field = definition.fields[name]
    if (field === undefined) continue
    if (field.type !== 'secret' && (isEmpty(wantedValue(field, value)) || isOff(field, value))) continue
    Object.assign(params, sent(name, field, value))
  }
  return params
}

function isOff(field: Field, value: SettingValue): boolean {
  return field.offByAbsence === true && wantedValue(field, value) === false
}

function updateParams(
  definition: Definition,
  update: RestWrite,
  setting: SettingSpec,
  observed: ObservedResource,
  changed: ReadonlySet<string>,
): Record<string, string> {
  const config = observed.close?.config ?? {}
  const params: Record<string, string> = {
    ...(update.id === undefined ? {} : { [update.id]: setting.id }),
    ...update.with,
    ...carried(update, config),
  }
  const unset: string[] = []
  for (const [name, field] of Object.entries(definition.fields)) {
    if (isList(field) || field.unread === true) continue
    const value = setting.fields[name]
    const api = apiName(name, field)
    if (field.type === 'secret') {
      const again = changed.has(SECRETS) && field.fixed !== true
      if (value !== undefined && (again || update.carry?.includes(api))) Object.assign(params, sent(name, field, value))
      continue
    }
    if (field.fixed === true) continue
    const chosen = changed.has(name) || (update.whole === true && value !== undefined)
    if (chosen && value !== undefined) {
      const off = isOff(field, value)
      if (off && config[api] !== undefined) unset.push(api)
      else if (off) continue
      else if (!isEmpty(wantedValue(field, value))) Object.assign(params, sent(name, field, value, config))
      else if (definition.unset === 'empty') params[api] = ''
      else if (config[api] !== undefined) unset.push(api)
    } else if (update.whole === true) Object.assign(params, kept(name, field, config))
  }
  return {
    ...params,
    ...(unset.length === 0 ? {} : { delete: unset.join(',') }),
    ...(update.digest === true && observed.close?.digest !== undefined ? { digest: observed.close.digest } : {}),
  }
}

/** Undeclared values that a write of the whole thing would otherwise lose. */
function kept(name: string, field: Field, config: ApiFields): Record<string, string> {
  if (field.type === 'numbered') {
    const own = new RegExp(`^${apiName(name, field)}\\d$`)
    return textsIn(Object.fromEntries(Object.entries(config).filter(([key]) => own.test(key))))
  }
  const api = apiName(name, field)
  const value = config[api]
  if (Array.isArray(value)) return { [api]: value.map(String).join(AGAIN) }
  return textsIn({ [api]: value })
}

function carried(verb: RestWrite, config: ApiFields): Record<string, string> {
  return textsIn(Object.fromEntries((verb.carry ?? []).map((name) => [name, config[name]])))
}

/** Returns an answer's texts and numbers as text. */
function textsIn(config: ApiFields): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(config)) {
    if (typeof value === 'string' || typeof value === 'number') texts[name] = String(value)
    else if (typeof value === 'boolean') texts[name] = value ? '1' : '0'
  }
  return texts
}

/** Rules and entries: each needs a separate call below the thing. */
function listSteps(
  definition: Definition,
  setting: SettingSpec,
  places: PathParts,
  config: ApiFields,
  destruction?: Destruction,
): readonly Step[] {
  const digest = destruction?.observed.close?.digest
  return Object.entries(definition.fields).flatMap(([name, field]) => {
    const declared = setting.fields[name]
    if (declared === undefined || !isList(field)) return []
    const calls =
      field.type === 'rules'
        ? ruleCalls(field, plainRules(field, config.rules), plainRules(field, declared), digest)
        : entryCalls(field, plainEntries(field, config.entries), plainEntries(field, declared))
    return calls.map((call) => listStep(definition, setting.id, places, call, destruction))
  })
}

/** Entries of a list are deleted one by one, and the list itself stays. */
function listStep(
  definition: Definition,
  id: string,
  places: PathParts,
  call: SubCall,
  destruction: Destruction | undefined,
): Step {
  const path = definition.list.item?.path ?? definition.list.path
  const verb = { method: call.method, path }
  const summary = `${call.summary} of ${nameOf(definition, id)}`
  const goes = call.method === 'DELETE' && destruction !== undefined
  const harm = goes ? { ...CONFIGURE, ...destroying(destruction, []) } : CONFIGURE
  const step = makeStep(definition, verb, places, call.params, harm, summary)
  return { ...step, call: { ...step.call, path: `${step.call.path}${call.below}` } }
}

function applySteps(
  definition: Definition,
  places: PathParts,
  pending?: unknown,
  destruction?: Destruction,
): readonly Step[] {
  const { apply } = definition
  if (apply === undefined) return []
  const what = typeof pending === 'string' && pending !== 'changes' ? ` (${pending})` : ''
  const where = places.host === undefined ? '' : ` of ${places.host}`
  const harm = destruction === undefined ? CONFIGURE : { ...CONFIGURE, ...destroying(destruction) }
  const summary = `put the ${apply.noun}${where} in force${what}`
  return [makeStep(definition, { method: 'PUT', path: apply.path }, places, {}, harm, summary)]
}

function makeStep(
  definition: Definition,
  verb: Pick<RestWrite, 'method' | 'path'>,
  places: PathParts,
  params: Readonly<Record<string, string>>,
  harm: Harm,
  summary: string,
): StepOver<'rest'> {
  const path = fill(verb.path, places)
  const secrets = Object.entries(definition.fields)
    .filter(([name, field]) => field.type === 'secret' && isReference(params[apiName(name, field)]))
    .map(([name, field]) => apiName(name, field))
  const { host } = places
  return {
    ...harm,
    summary: host === undefined || summary.includes(host) ? summary : `${summary} on ${host}`,
    lane: 'rest',
    host: host ?? EVERYWHERE,
    // Concurrent reloads refuse each other; one applies all written changes.
    queues: [
      definition.apply?.path === verb.path && verb.method === 'PUT' ? `single/${path}` : hostQueue(host ?? EVERYWHERE),
    ],
    call: { method: verb.method, path, params },
    ...(secrets.length === 0 ? {} : { secretParams: secrets }),
  }
}

/** A parameter may have two fields, one of them secret: only a reference is resolved. */
function isReference(text: string | undefined): boolean {
  return text?.startsWith('{"') === true
}

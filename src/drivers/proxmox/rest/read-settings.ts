import { LIMITS } from '../../../lib/limits.ts'
import type { ObservedResource } from '../../../model/resource.ts'
import type { Definition, Field } from '../../../model/rest.ts'
import { ObservationFailed } from '../../port.ts'
import type { Api, CallSubject } from '../api.ts'
import { type ApiFields, cleanText, isRecord, nameOf, recordsOf } from '../foreign.ts'
import { EVERYWHERE, type FoundList, fill, findList } from './paths.ts'
import { LEAVING, rowsIn, ruleList, UNAPPLIED } from './rows.ts'
import { withPorts } from './usb-ports.ts'
import { apiName } from './values.ts'

/** Reads one list of settings: one call, plus one per entry if the list lacks fields. */
export async function readSettings(
  api: Api,
  connection: string,
  list: string,
  atMs: number,
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const found = findList(list)
  const [definition] = found?.definitions ?? []
  if (found === undefined || definition === undefined)
    throw new ObservationFailed({
      reason: 'UnknownList',
      meaning: 'stalled',
      message: `there is no list ${cleanText(list)}`,
    })
  const { host } = found.places
  const about = { doing: `list ${definition.noun} (${list})`, ...(host === undefined ? {} : { host }) }
  const rows = await readRows(api, found, about, signal)
  const seen = rows.flatMap((row) => observedFrom(found, row, connection, list, atMs))
  if (definition.name === 'usb-mapping') return withPorts(api, seen, signal)
  if (found.reading.item === undefined) return seen
  if (seen.length > LIMITS.settingsReadClosely)
    throw new ObservationFailed({
      reason: 'TooMany',
      meaning: 'stalled',
      message: `could not ${about.doing}: ${seen.length} things would have to be read one by one; the limit is ${LIMITS.settingsReadClosely}`,
    })
  return Promise.all(seen.map((one) => readItem(api, found, one, atMs, signal)))
}

/** Returns the definition of an observed thing: by its list, and by its type if several share one. */
export function definitionOf(observed: ObservedResource): Definition | undefined {
  const definitions = observed.list === undefined ? [] : (findList(observed.list)?.definitions ?? [])
  if (definitions.length < 2) return definitions[0]
  const config = observed.close?.config ?? {}
  // A leaving thing has only its name left; it is treated the same for all types in the list.
  return config[LEAVING] === true ? definitions[0] : definitions.find((definition) => isOfSort(definition, config))
}

async function readRows(
  api: Api,
  { reading, places }: FoundList,
  about: CallSubject,
  signal: AbortSignal,
): Promise<readonly ApiFields[]> {
  const path = fill(reading.path, places)
  try {
    const answer = await api.readAnswer(
      `${path}${reading.query === undefined ? '' : `?${reading.query}`}`,
      about,
      signal,
    )
    return rowsIn(reading, answer.data, answer)
  } catch (error) {
    const nothing = reading.emptyWhen
    if (error instanceof ObservationFailed && nothing !== undefined && error.message.includes(nothing)) return []
    throw error
  }
}

function observedFrom(
  { definitions, places }: FoundList,
  row: ApiFields,
  connection: string,
  list: string,
  atMs: number,
): readonly ObservedResource[] {
  const leaving = row[LEAVING] === true
  const definition = definitions.find((one) => leaving || isOfSort(one, row))
  const externalId = definition === undefined ? undefined : idOf(definition, row)
  if (definition === undefined || externalId === undefined) return []
  return [
    {
      connection,
      type: 'setting',
      list,
      externalId,
      host: places.host ?? EVERYWHERE,
      close: { config: known(definition, row), atMs, ...digestOf(row) },
    },
  ]
}

function idOf({ key, identity }: Definition, row: ApiFields): string | undefined {
  if (identity !== undefined && 'constant' in identity) return identity.constant
  const parts = key.map((name) => nameOf(row[name]))
  return parts.some((part) => part === undefined) ? undefined : parts.join(joinOf(identity))
}

function joinOf(identity: Definition['identity']): string {
  return identity !== undefined && 'fields' in identity ? identity.join : ' '
}

function isOfSort({ only }: Definition, row: ApiFields): boolean {
  return Object.entries(only ?? {}).every(([name, value]) => row[name] === value)
}

/** Keeps only fields of the definition, and no secrets: some answers contain them. */
function known(definition: Definition, row: ApiFields): ApiFields {
  const kept: Record<string, unknown> = Object.create(null)
  const keep = (name: string) => {
    if (row[name] !== undefined && row[name] !== null) kept[name] = row[name]
  }
  for (const [name, field] of Object.entries(definition.fields)) for (const api of apiNames(name, field)) keep(api)
  for (const name of [
    ...definition.key,
    ...Object.keys(definition.only ?? {}),
    ...(definition.remove?.carry ?? []),
    ...placeholders(definition),
    UNAPPLIED,
    LEAVING,
  ])
    keep(name)
  return kept
}

function apiNames(name: string, field: Field): readonly string[] {
  const api = apiName(name, field)
  if (field.type === 'secret') return []
  // The answer has another name for `certificates`.
  if (field.type === 'pem') return [api, 'pem']
  return field.type === 'numbered' ? Array.from({ length: field.max ?? 1 }, (_, at) => `${api}${at + 1}`) : [api]
}

/** Returns path parameters of the calls that only the row can fill. */
function placeholders({ update, remove }: Definition): readonly string[] {
  return [update, remove].flatMap((verb) =>
    [...(verb?.path ?? '').matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
  )
}

function digestOf(row: ApiFields): { digest?: string } {
  return typeof row.digest === 'string' ? { digest: row.digest } : {}
}

/** A thing that cannot be read alone has no close look: nothing is decided about it in this pass. */
async function readItem(
  api: Api,
  { reading, definitions, places }: FoundList,
  seen: ObservedResource,
  atMs: number,
  signal: AbortSignal,
): Promise<ObservedResource> {
  const [definition] = definitions
  if (reading.item === undefined || definition === undefined) return seen
  const about = { doing: `look at ${definition.noun} ${seen.externalId}` }
  try {
    const data = await api.read(fill(reading.item.path, { ...places, id: seen.externalId }), about, signal)
    const { as } = reading.item
    const row = as === undefined ? data : as === 'rules' ? ruleList(data) : { entries: recordsOf(data) }
    if (!isRecord(row)) return withoutClose(seen)
    const config = { ...seen.close?.config, ...known(definition, row) }
    return { ...seen, close: { config, atMs, ...(as === 'entries' ? {} : digestOf(row)) } }
  } catch (error) {
    if (error instanceof ObservationFailed && error.refusal.connectionWide !== true) return withoutClose(seen)
    throw error
  }
}

function withoutClose({ close: _, ...seen }: ObservedResource): ObservedResource {
  return seen
}

import type { WireRequest, WireResponse } from '../../../../lib/wire.ts'
import type { Definition, Field, RestWrite } from '../../../../model/rest.ts'
import { DEFINITIONS } from '../../../../proxmox/registry.ts'
import { valueText } from '../../../../proxmox/value-text.ts'
import { apiName } from '../values.ts'

type Row = Record<string, unknown>
type Params = Readonly<Record<string, string | readonly string[]>>

/**
 * A minimal Proxmox: stores settings in lists and answers like the recordings (numbers for flags, arrays for repeated
 * parameters, rules inserted at the top, pending changes), for every definition, including those that the simulator
 * lacks. It knows the definitions' paths and nothing of the driver.
 */
export function createPaper() {
  const lists = new Map<string, Map<string, Row>>()
  const unapplied = new Map<string, Map<string, Row>>()
  const listOf = (path: string) => {
    const found = lists.get(path) ?? new Map<string, Row>()
    lists.set(path, found)
    return found
  }

  function handle({ method, path, body }: WireRequest): WireResponse {
    const url = new URL(path.replace('/api2/json', ''), 'https://paper')
    const params = paramsOf([
      ...new URLSearchParams(method === 'DELETE' || typeof body !== 'string' ? url.search : body),
    ])
    const place = decodeURIComponent(url.pathname)
    try {
      if (method === 'GET') return ok(get(place))
      write(method, place, params)
      return ok({ data: null })
    } catch (error) {
      const text = error instanceof Error ? error.message : valueText(error)
      return { status: 500, reason: text, headers: {}, body: JSON.stringify({ data: null, message: `${text}\n` }) }
    }
  }

  function get(place: string): Row {
    for (const definition of DEFINITIONS) {
      const { list } = definition
      if (matches(list.path, place) !== undefined) return answer(list.rows, place, definition)
    }
    for (const definition of DEFINITIONS) {
      const { item, path } = definition.list
      const names = item === undefined ? undefined : matches(item.path, place)
      if (item === undefined || names === undefined) continue
      if (item.as !== undefined) return { data: subList(place) }
      const [row] = [...listOf(listPlace(path, place)).values()].filter((one) => idOf(definition, one) === names.id)
      if (row === undefined) throw new Error(`no such ${definition.noun}`)
      return { data: row }
    }
    throw new Error(`paper knows no GET ${place}`)
  }

  function answer(rows: Definition['list']['rows'], place: string, definition: Definition): Row {
    const all = [...listOf(place).values()]
    if (rows === 'one') return { data: { ...all[0], digest: 'd' } }
    if (rows === 'rules') return { data: subList(place) }
    if (rows === 'apt') {
      const files = all.filter((row) => row.sort === 'file')
      return {
        data: {
          digest: 'd',
          files: files.map((row) => ({ path: row.path, repositories: [{ Enabled: row.enabled === 1 }] })),
          'standard-repos': all.filter((row) => row.sort !== 'file').map((row) => ({ handle: row.handle, status: 1 })),
        },
      }
    }
    if (rows === 'acl') {
      const subject = (row: Row) => row.users ?? row.groups ?? row.tokens
      const type = (row: Row) => (row.groups !== undefined ? 'group' : row.tokens !== undefined ? 'token' : 'user')
      return {
        data: all.map((row) => ({
          path: row.path,
          roleid: row.roles,
          propagate: row.propagate ?? 1,
          type: type(row),
          ugid: subject(row),
        })),
      }
    }
    const before = unapplied.get(place)
    if (rows === 'pending') return { data: [...pendingRows(all, before, definition)] }
    const item = definition.list.item
    const shown = item === undefined || item.as !== undefined ? all : all.map((row) => only(row, definition.key))
    return {
      data: shown.map((row) => ({ ...row, digest: 'd' })),
      ...(rows === 'changes' && before !== undefined ? { changes: difference(before, listOf(place)) } : {}),
    }
  }

  function* pendingRows(all: readonly Row[], before: ReadonlyMap<string, Row> | undefined, definition: Definition) {
    for (const row of all) {
      const old = before?.get(idOf(definition, row) ?? '')
      const changed = before !== undefined && JSON.stringify(old) !== JSON.stringify(row)
      if (!changed) yield row
      else if (old === undefined) yield { ...row, state: 'new', pending: {}, digest: null }
      else {
        const gone = Object.keys(old).filter((name) => row[name] === undefined)
        yield {
          ...old,
          state: 'changed',
          pending: { ...row, ...Object.fromEntries(gone.map((name) => [name, 'deleted'])) },
        }
      }
    }
    for (const [id, row] of before ?? [])
      if (!all.some((one) => idOf(definition, one) === id)) yield { ...row, state: 'deleted' }
  }

  /** Rules and entries are stored under their list's path. */
  function subList(place: string): Row[] {
    return [...listOf(place).values()]
      .flatMap((row) => row.list as Row[])
      .map((row, pos) => ({ ...row, pos, digest: 'd' }))
  }

  function write(method: string, place: string, params: Params): void {
    for (const { apply, list } of DEFINITIONS) {
      if (apply === undefined || method !== 'PUT' || matches(apply.path, place) === undefined) continue
      for (const waiting of unapplied.keys())
        if (matches(list.path, waiting) !== undefined || apply.path === '/cluster/sdn') unapplied.delete(waiting)
      return
    }
    for (const definition of DEFINITIONS) {
      if (writeSub(definition, method, place, params)) return
      for (const does of ['create', 'update', 'remove'] as const) {
        const verb = definition[does]
        const names = verb === undefined || verb.method !== method ? undefined : matches(verb.path, place)
        if (verb === undefined || names === undefined || !sortFits(definition, params)) continue
        const isDelete = verb.with?.delete === '1'
        if (isDelete !== (params.delete === '1' && place === '/access/acl')) continue
        if (verb.id === 'rename' && params.rename === undefined) continue
        const id = idFor(definition, verb, names, params)
        const there = keyOf(listOf(listPlace(definition.list.path, place)), id) !== undefined
        // For some things one call both creates and changes: the existing thing decides.
        const sharesPath = definition.create?.path === definition.update?.path && does !== 'remove'
        if (sharesPath && there !== (does === 'update')) continue
        change(definition, does, place, id, params)
        return
      }
    }
    throw new Error(`paper knows no ${method} ${place}`)
  }

  function change(
    definition: Definition,
    does: 'create' | 'update' | 'remove',
    place: string,
    id: string,
    params: Params,
  ): void {
    const path = listPlace(definition.list.path, place)
    const rows = listOf(path)
    if (definition.apply !== undefined && !unapplied.has(path)) unapplied.set(path, new Map(rows))
    const given = storedRow(definition, params)
    const constant = definition.identity !== undefined && 'constant' in definition.identity
    const at = keyOf(rows, id) ?? id
    if (does === 'remove') {
      if (!rows.delete(at)) throw new Error(`${definition.noun} ${id} does not exist`)
      return
    }
    const before = rows.get(at)
    if (does === 'create' && before !== undefined) throw new Error(`${definition.noun} ${id} already defined`)
    if (does === 'update' && before === undefined && !constant)
      throw new Error(`${definition.noun} ${id} does not exist`)
    const whole = definition.update?.whole === true && definition.apply === undefined && does === 'update'
    const kept = whole ? only(before ?? {}, [...definition.key, ...FIXED(definition)]) : { ...before }
    const row: Row = { ...kept, ...(does === 'create' ? createdKey(definition, id) : {}), ...given }
    if (does === 'update') for (const key of definition.key) if (before?.[key] !== undefined) row[key] = before[key]
    for (const name of valueText(params.delete ?? '').split(',')) delete row[name]
    for (const [name, value] of Object.entries(row)) if (value === '') delete row[name]
    rows.set(at, row)
  }

  function writeSub(definition: Definition, method: string, place: string, params: Params): boolean {
    const sub =
      definition.list.rows === 'rules'
        ? definition.list.path
        : definition.list.item?.as === undefined
          ? undefined
          : definition.list.item.path
    if (sub === undefined) return false
    const [below, tail] = matches(sub, place) === undefined ? splitTail(sub, place) : [place, undefined]
    if (below === undefined || (tail === undefined && method !== 'POST')) return false
    const entry = listOf(below)
    const list = (entry.get('list')?.list ?? []) as Row[]
    entry.set('list', { list })
    const field = Object.values(definition.fields).find(({ type }) => type === 'rules' || type === 'entries')
    const { delete: gone, moveto, digest: _, ...rest } = params
    const given = field === undefined ? {} : partRow(field, rest)
    const at = field?.type === 'entries' ? list.findIndex((row) => row.cidr === tail) : Number(tail)
    if (method === 'POST') list.unshift(given)
    else if (list[at] === undefined) throw new Error(`no rule at position ${tail}`)
    else if (method === 'DELETE') list.splice(at, 1)
    else if (moveto !== undefined) list.splice(Number(moveto), 0, ...list.splice(at, 1))
    else {
      const row: Row = { ...list[at], ...given }
      for (const name of valueText(gone ?? '').split(',')) delete row[name]
      for (const [name, value] of Object.entries(row)) if (value === '') delete row[name]
      list[at] = row
    }
    return true
  }

  return { handle, lists, put: (path: string, id: string, row: Row) => void listOf(path).set(id, row) }
}

const FIXED = ({ fields }: Definition) =>
  Object.entries(fields).flatMap(([name, field]) => (field.fixed === true ? [apiName(name, field)] : []))

function only(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)))
}

/** Proxmox's own fields of a new thing. */
function createdKey(definition: Definition, id: string): Row {
  const [key = ''] = definition.key
  if (definition.name === 'sdn-subnet') return { subnet: `z-${id.replace('/', '-')}`, cidr: id }
  if (definition.name === 'certificate') return { filename: 'pveproxy-ssl.pem' }
  if (definition.name === 'apt-standard-repository') return { sort: 'standard', handle: id, key: id }
  return definition.identity === undefined ? { [key]: id, ...definition.only } : {}
}

function idFor(definition: Definition, verb: RestWrite, names: Row, params: Params): string {
  if (definition.identity !== undefined && 'constant' in definition.identity) return 'constant'
  const given = names.subnet ?? names.id ?? (verb.id === undefined ? undefined : params[verb.id])
  return valueText(given ?? idOf(definition, storedRow(definition, params)))
}

function keyOf(rows: ReadonlyMap<string, Row>, id: string): string | undefined {
  return [...rows.keys()].find((key) => key === id || valueText(rows.get(key)?.subnet) === id)
}

function sortFits({ only: sort }: Definition, params: Params): boolean {
  return params.type === undefined || sort?.type === undefined || params.type === sort.type
}

function idOf({ key, name }: Definition, row: Row): string | undefined {
  if (name === 'acl')
    return `${valueText(row.path)} ${valueText(row.users ?? row.groups ?? row.tokens)} ${valueText(row.roles)}`
  const parts = key.map((one) => row[one])
  return parts.some((part) => part === undefined) ? undefined : parts.map(valueText).join('#')
}

/** Returns parameters as Proxmox stores and shows them. */
function storedRow(definition: Definition, params: Params): Row {
  const row: Row = {}
  for (const [name, field] of Object.entries(definition.fields)) {
    if (field.type === 'secret' || field.unread === true) continue
    const api = apiName(name, field)
    const names = field.type === 'numbered' ? [`${api}1`, `${api}2`, `${api}3`] : [api]
    for (const one of names) {
      const value = params[one]
      if (value === undefined) continue
      row[field.type === 'pem' ? 'pem' : one] = stored(field, value)
    }
  }
  return row
}

function partRow(field: Field, params: Params): Row {
  const row: Row = {}
  for (const [name, value] of Object.entries(params)) {
    const part = Object.entries(field.parts ?? {}).find(([own, one]) => apiName(own, one) === name)?.[1]
    row[name] = part === undefined ? value : stored(part, value)
  }
  return row
}

function stored(field: Field, value: string | readonly string[]): unknown {
  switch (field.type) {
    case 'flag':
      return Number(value)
    case 'number':
      return field.min === 0 ? valueText(value) : Number(value)
    case 'blocks':
    case 'repeated':
      return typeof value === 'string' ? [value] : value
    case 'lines':
      return Buffer.from(valueText(value), 'base64').toString()
    case 'list':
      return valueText(value)
        .split(field.separator ?? ',')
        .toReversed()
        .join(field.separator ?? ',')
    default:
      return value
  }
}

function paramsOf(pairs: readonly (readonly [string, string])[]): Params {
  const params: Record<string, string | string[]> = {}
  for (const [name, value] of pairs) {
    const before = params[name]
    params[name] = before === undefined ? value : [...(typeof before === 'string' ? [before] : before), value]
  }
  return params
}

const FIREWALL = '(?:/cluster/firewall|/nodes/[^/]+(?:/(?:qemu|lxc)/\\d+)?/firewall)'

function matches(template: string, place: string): Row | undefined {
  const source = template.replace('{firewall}', FIREWALL).replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  const match = new RegExp(`^${source}$`).exec(place)
  return match === null ? undefined : { ...match.groups }
}

function splitTail(template: string, place: string): readonly [string?, string?] {
  const source = template.replace('{firewall}', FIREWALL).replaceAll(/\{(\w+)\}/g, '[^/]+')
  const match = new RegExp(`^(${source})/(.+)$`).exec(place)
  return match === null ? [] : [match[1] ?? '', match[2] ?? '']
}

/** Returns the list of an item's call. */
function listPlace(template: string, place: string): string {
  const source = template.replace('{firewall}', FIREWALL).replaceAll(/\{(\w+)\}/g, '[^/]+')
  const found = new RegExp(`^${source}`).exec(place)?.[0]
  // Not every write is below the list: a certificate is uploaded elsewhere.
  return found ?? place.replace('/custom', '/info')
}

function difference(before: ReadonlyMap<string, Row>, after: ReadonlyMap<string, Row>): string {
  const lines = ['--- /etc/network/interfaces', '+++ /etc/network/interfaces.new', '@@ -1,4 +1,4 @@']
  const stanza = (iface: string, row: Row) => [`iface ${iface} inet static`, `\t${JSON.stringify(row)}`]
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name), after.get(name)]
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    if (old !== undefined) lines.push(...stanza(name, old).map((line) => `-${line}`))
    if (now !== undefined) lines.push(...stanza(name, now).map((line) => `+${line}`))
  }
  return `${lines.join('\n')}\n`
}

function ok(answer: Row): WireResponse {
  return { status: 200, reason: 'OK', headers: {}, body: JSON.stringify(answer) }
}

import { may } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { deletions } from '../collection.ts'
import { fields, listOf, shelf, type Thing, textOf } from '../shelf.ts'
import { pending, visible } from './sdn.ts'
import { refuseWithoutLock } from './sdn-check.ts'

const LISTS = '/cluster/sdn/prefix-lists'
const MAPS = '/cluster/sdn/route-maps'

/**
 * Lists of networks and what is done with routes to them. Nothing is routed here: they are written down, take effect with
 * everything else of the network, and are shown again.
 */
export const sdnRoutingRoutes: Routes = {
  [`GET ${LISTS}`]: (call) =>
    shownOf(call, 'prefix-lists').map(({ entries, ...row }) =>
      flag(call, 'verbose') ? { ...row, entries: listOf(entries) } : row,
    ),
  [`POST ${LISTS}`]: (call) => {
    const id = param(call, 'id')
    refuseWithoutLock(call, 'create prefix list failed: ')
    add(call, 'prefix-lists', id, `prefix list '${id}'`, { entries: numbered(listOf(call.raw.entries), []) })
    return null
  },
  [`GET ${LISTS}/{id}`]: (call) => ({ id: param(call, 'id'), ...visible(listFor(call)) }),
  [`PUT ${LISTS}/{id}`]: (call) => {
    const list = listFor(call)
    refuseWithoutLock(call, 'update prefix list failed: ')
    if (call.raw.entries !== undefined) list.entries = numbered(listOf(call.raw.entries), [])
    for (const name of deletions(call)) delete list[name]
    return null
  },
  [`DELETE ${LISTS}/{id}`]: (call) => {
    listFor(call)
    refuseWithoutLock(call, 'delete prefix list failed: ')
    remove(call, 'prefix-lists', param(call, 'id'))
    return null
  },
  [`GET ${LISTS}/{id}/entries`]: (call) => entriesOf(listFor(call)),
  [`POST ${LISTS}/{id}/entries`]: (call) => {
    const list = listFor(call)
    const entry = printed(fields(call, 'id', 'lock-token'))
    list.entries = numbered([entry], listOf(list.entries))
    return null
  },
  [`GET ${LISTS}/{id}/entries/{url_seq}`]: (call) => entryAt(call).entry,
  [`PUT ${LISTS}/{id}/entries/{url_seq}`]: (call) => {
    const { list, entries, at, entry } = entryAt(call, 'update')
    const next: Thing = { ...entry, ...fields(call, 'id', 'url_seq', 'lock-token') }
    for (const name of deletions(call)) delete next[name]
    // What is changed goes to the end.
    list.entries = numbered([printed(next)], entries.toSpliced(at, 1))
    return null
  },
  [`DELETE ${LISTS}/{id}/entries/{url_seq}`]: (call) => {
    const { list, entries, at } = entryAt(call)
    list.entries = entries.toSpliced(at, 1)
    return null
  },
  [`GET ${MAPS}`]: (call) =>
    [...new Set(shownOf(call, 'route-maps').map((row) => textOf(row['route-map-id'])))].map((id) => ({ id })),
  [`GET ${MAPS}/entries`]: (call) => shownOf(call, 'route-maps').map(withoutId),
  [`POST ${MAPS}/entries`]: (call) => {
    refuseWithoutLock(call, 'create route map entry failed: ')
    const [map, order] = [param(call, 'route-map-id'), param(call, 'order')]
    const what = `route map entry '${order}' of '${map}'`
    add(call, 'route-maps', `${map}/${order}`, what, { ...fields(call, 'lock-token'), order: Number(order) })
    return null
  },
  [`GET ${MAPS}/entries/{route-map-id}`]: (call) =>
    shownOf(call, 'route-maps')
      .filter((row) => row['route-map-id'] === param(call, 'route-map-id'))
      .map(withoutId),
  [`GET ${MAPS}/entries/{route-map-id}/entry/{order}`]: (call) => visible(entryFor(call)),
  [`PUT ${MAPS}/entries/{route-map-id}/entry/{order}`]: (call) => {
    const entry = entryFor(call)
    Object.assign(entry, fields(call, 'route-map-id', 'order', 'lock-token'))
    for (const name of deletions(call)) delete entry[name]
    return null
  },
  [`DELETE ${MAPS}/entries/{route-map-id}/entry/{order}`]: (call) => {
    entryFor(call)
    remove(call, 'route-maps', `${param(call, 'route-map-id')}/${param(call, 'order')}`)
    return null
  },
}

type Kind = 'prefix-lists' | 'route-maps'

const SEES = ['SDN.Audit', 'SDN.Allocate']

/** As they are written down, or what is in effect of them; only what the reader may see. */
function shownOf(call: Call, kind: Kind): Thing[] {
  return [...shelf(call.world, `sdn/${kind}`)].flatMap(([id, thing]) => {
    const [name = ''] = id.split('/')
    if (!SEES.some((privilege) => may(call.world, call.who, `/sdn/${kind}/${name}`, privilege))) return []
    const applied = thing.applied as Thing | undefined
    if (flag(call, 'running')) return applied === undefined ? [] : [{ id, ...applied }]
    if (flag(call, 'pending')) return [{ id, ...(applied ?? visible(thing)), ...pending(thing, applied) }]
    return thing.gone === true ? [] : [{ id, ...visible(thing) }]
  })
}

function withoutId({ id: _, ...row }: Thing): Thing {
  return row
}

function add(call: Call, kind: Kind, id: string, what: string, thing: Thing): void {
  const things = shelf(call.world, `sdn/${kind}`)
  const old = things.get(id)
  if (old !== undefined && old.gone !== true) throw failed(`${what} already exists`)
  things.set(id, { ...thing, ...(old?.applied === undefined ? {} : { applied: old.applied }) })
}

function remove(call: Call, kind: Kind, id: string): void {
  const things = shelf(call.world, `sdn/${kind}`)
  const thing = things.get(id)
  if (thing?.applied === undefined) things.delete(id)
  else things.set(id, { ...thing, gone: true })
}

function need(call: Call, kind: Kind, id: string, what: string): Thing {
  const thing = shelf(call.world, `sdn/${kind}`).get(id)
  if (thing === undefined || thing.gone === true) throw failed(`${what} does not exist`)
  return thing
}

function listFor(call: Call): Thing {
  return need(call, 'prefix-lists', param(call, 'id'), `prefix list '${param(call, 'id')}'`)
}

function entryFor(call: Call): Thing {
  const [map, order] = [param(call, 'route-map-id'), param(call, 'order')]
  return need(call, 'route-maps', `${map}/${order}`, `route map entry '${order}' of '${map}'`)
}

function entriesOf(list: Thing): Thing[] {
  return listOf(list.entries).map((text) => {
    const { named } = parseProperties(text)
    return Object.fromEntries(
      [...named].map(([name, value]) => [name, /^(?:seq|ge|le)$/.test(name) ? Number(value) : value]),
    )
  })
}

/** The entry that the path names by its number. */
function entryAt(call: Call, verb?: 'update') {
  const list = listFor(call)
  const sequence = param(call, 'url_seq')
  const entries = listOf(list.entries)
  const at = entries.findIndex((text) => sequenceOf(text) === Number(sequence))
  const entry = entriesOf(list)[at]
  if (entry === undefined)
    throw failed(
      verb === 'update'
        ? `entry with sequence number ${sequence} does not exist!`
        : `prefix list '${param(call, 'id')}' has no entry '${sequence}'`,
    )
  return { list, entries, at, entry }
}

function sequenceOf(text: string): number {
  return Number(/(?:^|,)seq=(\d+)/.exec(text)?.[1] ?? 0)
}

function printed(entry: Thing): string {
  return ['action', 'prefix', 'ge', 'le', 'seq']
    .filter((name) => textOf(entry[name]) !== '')
    .map((name) => `${name}=${textOf(entry[name])}`)
    .join(',')
}

const STEP = 5

/** What has no number of its own gets the next one, as a router counts. */
function numbered(added: readonly string[], before: readonly string[]): string[] {
  const all = [...before]
  for (const text of added) {
    const taken = all.map(sequenceOf)
    const last = Math.max(0, ...taken)
    if (taken.includes(sequenceOf(text))) throw failed(`entry with sequence number ${sequenceOf(text)} already exists!`)
    refuseLengths(text)
    all.push(/(?:^|,)seq=/.test(text) ? text : `${text},seq=${last + STEP}`)
  }
  return all
}

/** The length of the network, the least and the most that an entry is for must not decrease. */
function refuseLengths(text: string): void {
  const { named } = parseProperties(text)
  const [address = '', own = ''] = (named.get('prefix') ?? '').split('/')
  const longest = address.includes(':') ? 128 : 32
  const [ge, le] = ['ge', 'le'].map((name) => (named.has(name) ? Number(named.get(name)) : undefined))
  const wrong = (sign: string, length: number | undefined) => {
    if (length === undefined) return undefined
    if (length > longest) return `Prefix ${sign} must not be greater than ${longest}`
    return Number(own) > length ? `Prefix ${sign} must not be less than ${own}` : undefined
  }
  const crossed =
    ge !== undefined && le !== undefined && ge > le
      ? `Prefix >= (${ge}) must not be greater than Prefix <= (${le})`
      : undefined
  const problem = wrong('<=', le) ?? crossed ?? wrong('>=', ge)
  if (problem !== undefined) throw failed(problem)
}

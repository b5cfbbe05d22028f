import { defined } from '../../../../src/lib/defined.ts'
import { may } from '../../../world/access.ts'
import { parseProperties } from '../../../world/properties.ts'
import { startTask } from '../../../world/tasks.ts'
import { failed, forbidden } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { deletions, refuseDeletions, refuseStale, STALE } from '../collection.ts'
import { requireRight } from '../guest/option-rights.ts'
import { digestOf, fields, listOf, shelf, type Thing, textOf } from '../shelf.ts'
import {
  checkController,
  checkSection,
  checkSubnet,
  checkVnet,
  checkZone,
  refuseNewIpam,
  refuseSectionDeletions,
  refuseUsedController,
  refuseUsedZone,
  refuseVnetWithSubnets,
  refuseWithoutLock,
} from './sdn-check.ts'
import { releaseSdnLock } from './sdn-state.ts'

/** Changes to the network of the cluster are written down and take effect all together, when they are applied. */
interface Kind {
  readonly at: string
  readonly key: string
  readonly word: string
  readonly shelf: (call: Call) => string
  /** What a thing is called, where that is not what it was made with. */
  readonly idOf?: (call: Call) => string
  readonly extra?: (call: Call, id: string) => Thing
}

const plain = (kind: string) => () => `sdn/${kind}`

const KINDS: readonly Kind[] = [
  { at: '/cluster/sdn/zones', key: 'zone', word: 'zone', shelf: plain('zones') },
  { at: '/cluster/sdn/vnets', key: 'vnet', word: 'vnet', shelf: plain('vnets'), extra: () => ({ type: 'vnet' }) },
  { at: '/cluster/sdn/controllers', key: 'controller', word: 'controller', shelf: plain('controllers') },
  {
    at: '/cluster/sdn/vnets/{vnet}/subnets',
    key: 'subnet',
    word: 'subnet',
    shelf: (call) => `sdn/subnets/${param(call, 'vnet')}`,
    idOf: subnetId,
    extra: (call, id) => {
      const [zone = '', network = '', mask = ''] = id.split(/-(?=[0-9a-f:.]+-\d+$)|-(?=\d+$)/i)
      const place = { vnet: param(call, 'vnet'), zone, network, mask, cidr: `${network}/${mask}` }
      return { type: 'subnet', id, ...place, 'dhcp-range': [] }
    },
  },
]

export const sdnRoutes: Routes = Object.assign(
  {
    'GET /cluster/sdn': () => ['vnets', 'zones', 'controllers', 'ipams', 'dns', 'fabrics'].map((id) => ({ id })),
    'PUT /cluster/sdn': apply,
  } satisfies Routes,
  ...KINDS.map(
    (kind): Routes => ({
      [`GET ${kind.at}`]: (call) => list(call, kind),
      [`POST ${kind.at}`]: (call) => add(call, kind),
      [`GET ${kind.at}/{${kind.key}}`]: (call) => {
        const id = param(call, kind.key)
        requireSight(call, kind)
        const things = shelf(call.world, kind.shelf(call))
        const thing = things.get(id)
        const row = thing === undefined ? undefined : rowOf(call, kind, id, thing, digestOf([...things]))
        if (row === undefined) throw unknown(kind, id)
        return row
      },
      [`PUT ${kind.at}/{${kind.key}}`]: (call) => change(call, kind),
      [`DELETE ${kind.at}/{${kind.key}}`]: (call) => remove(call, kind),
    }),
  ),
)

/** A subnet is called after its zone and its network: `z1-10.5.0.0-24`. */
function subnetId(call: Call): string {
  return `${textOf(needVnet(call).zone)}-${param(call, 'subnet').replace('/', '-')}`
}

function needVnet(call: Call): Thing {
  const id = param(call, 'vnet')
  const vnet = shelf(call.world, 'sdn/vnets').get(id)
  if (vnet === undefined || vnet.gone === true) throw failed(`sdn vnet '${id}' does not exist`)
  return vnet
}

/** Requires the right on the network, which covers its subnets. */
function requireWrite(call: Call, kind: Kind): void {
  if (kind.word !== 'vnet' && kind.word !== 'subnet') return
  requireRight(call, `/sdn/zones/${textOf(needVnet(call).zone)}/${param(call, 'vnet')}`, 'SDN.Allocate')
}

const SEES = ['SDN.Audit', 'SDN.Allocate']

export function sees(call: Call, path: string): boolean {
  return SEES.some((privilege) => may(call.world, call.who, path, privilege))
}

function requireSight(call: Call, kind: Kind): void {
  if (kind.word !== 'vnet' && kind.word !== 'subnet') return
  const path = `/sdn/zones/${textOf(needVnet(call).zone)}/${param(call, 'vnet')}`
  if (!sees(call, path)) throw forbidden(`${path}, ${SEES.join('|')}`)
}

/** A list has only what its reader may see. */
function isListed(call: Call, kind: Kind, id: string, thing: Thing): boolean {
  if (kind.word === 'zone' && !sees(call, `/sdn/zones/${id}`)) return false
  if (kind.word === 'vnet' && !sees(call, `/sdn/zones/${textOf(thing.zone)}/${id}`)) return false
  if (kind.word === 'controller' && !sees(call, `${kind.at.slice('/cluster'.length)}/${id}`)) return false
  return call.params.type === undefined || thing.type === undefined || thing.type === call.params.type
}

/** Kept beside the fields: what is in effect, and that the thing is to go. */
const HIDDEN = new Set(['applied', 'gone'])

export function visible(thing: Thing): Thing {
  return Object.fromEntries(Object.entries(thing).filter(([key]) => !HIDDEN.has(key)))
}

function shown(call: Call, kind: Kind, id: string, thing: Thing): Thing {
  return { ...kind.extra?.(call, id), ...visible(thing), ...ranges(kind, thing), [kind.key]: id }
}

/** Ranges are told apart where they are in effect or to be written; what is still to come shows them as text. */
function ranges(kind: Kind, thing: Thing): Thing {
  const texts = kind.word === 'subnet' ? listOf(thing['dhcp-range']) : []
  if (texts.length === 0) return {}
  return { 'dhcp-range': texts.map((text) => Object.fromEntries(parseProperties(text).named)) }
}

function list(call: Call, kind: Kind): Thing[] {
  const things = shelf(call.world, kind.shelf(call))
  const digest = digestOf([...things])
  const rows: Thing[] = []
  if (kind.word === 'subnet') requireSight(call, kind)
  for (const [id, thing] of [...things].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!isListed(call, kind, id, thing)) continue
    const row = rowOf(call, kind, id, thing, digest)
    if (row !== undefined) rows.push(row)
  }
  return rows
}

/** Returns a thing as written, as applied, or its pending part, as the call asks. */
function rowOf(call: Call, kind: Kind, id: string, thing: Thing, digest: string): Thing | undefined {
  const applied = thing.applied as Thing | undefined
  if (flag(call, 'pending'))
    return applied === undefined
      ? { ...newRow(call, kind, id, thing), digest: null }
      : { ...shown(call, kind, id, applied), digest: null, ...pending(thing, applied) }
  if (flag(call, 'running'))
    return applied === undefined ? undefined : { ...shown(call, kind, id, applied), digest: null }
  return thing.gone === true ? undefined : { ...shown(call, kind, id, thing), digest }
}

/** All of a thing that was never in effect is still to come, apart from what it is and what it belongs to. */
function newRow(call: Call, kind: Kind, id: string, thing: Thing): Thing {
  const { type, vnet, ...rest } = shown(call, kind, id, thing)
  const later = Object.entries(visible(thing)).filter(([key]) => key !== 'type' && key !== 'vnet')
  const known = Object.entries(rest).filter(([key]) => visible(thing)[key] === undefined)
  return {
    ...Object.fromEntries(known),
    ...(kind.word === 'subnet' ? { 'dhcp-range': [] } : {}),
    ...defined({ type, vnet }),
    [kind.key]: id,
    state: 'new',
    pending: Object.fromEntries(later),
  }
}

export function pending(thing: Thing, applied: Thing | undefined): Thing {
  if (applied === undefined) return { state: 'new', pending: {} }
  if (thing.gone === true) return { state: 'deleted', pending: {} }
  const now = visible(thing)
  const names = [...new Set([...Object.keys(now), ...Object.keys(applied)])].filter((key) => now[key] !== applied[key])
  if (names.length === 0) return {}
  return { state: 'changed', pending: Object.fromEntries(names.map((key) => [key, now[key] ?? 'deleted'])) }
}

function need(call: Call, kind: Kind, id: string, before: string): Thing {
  const thing = shelf(call.world, kind.shelf(call)).get(id)
  if (thing === undefined || thing.gone === true) throw unknown(kind, id, before)
  return thing
}

function unknown(kind: Kind, id: string, before = ''): Error {
  const named = kind.word === 'vnet' || kind.word === 'subnet' ? `${kind.word} ` : ''
  return failed(`${before}sdn ${named}'${id}' does not exist`)
}

/** A controller's node is a setting, not the place that the call goes to. */
function sectionOf(call: Call, kind: Kind): Thing {
  const node = kind.word === 'controller' ? call.params.node : undefined
  return { ...fields(call, kind.key, 'vnet', 'lock-token'), ...defined({ node }) }
}

/** What a call gives of a section: a subnet names its network in the path. */
function givenFor(call: Call, kind: Kind): Thing {
  const given = sectionOf(call, kind)
  return kind.word === 'subnet' ? { ...given, vnet: param(call, 'vnet') } : given
}

function typeOf(kind: Kind, thing: Thing): string {
  return kind.word === 'vnet' || kind.word === 'subnet' ? kind.word : textOf(thing.type)
}

/** What goes together with the rest of the network. */
function check(call: Call, kind: Kind, id: string, thing: Thing, given: Thing, old: Thing | undefined, before: string) {
  if (kind.word === 'zone') checkZone(call, id, thing, given, before)
  else if (kind.word === 'controller') checkController(call, id, thing, before)
  else if (kind.word === 'vnet') checkVnet(call, id, thing, old, before)
  else checkSubnet(call, id, thing, before)
}

function add(call: Call, kind: Kind): null {
  const before = `create sdn ${kind.word} object failed: `
  if (kind.word === 'subnet') requireWrite(call, kind)
  const things = shelf(call.world, kind.shelf(call))
  const id = kind.idOf?.(call) ?? param(call, kind.key)
  const given = givenFor(call, kind)
  // Networks are looked at under the lock, all others before it is taken.
  const early = kind.word !== 'vnet' && kind.word !== 'subnet'
  if (early) checkSection(kind.word, textOf(given.type), given, true, '')
  refuseWithoutLock(call, before)
  if (!early) checkSection(kind.word, typeOf(kind, given), given, true, before)
  const old = things.get(id)
  if (old !== undefined && old.gone !== true)
    throw failed(`${before}sdn ${kind.word} object ID '${id}' already defined`)
  const made = sectionOf(call, kind)
  check(call, kind, id, made, given, undefined, before)
  things.set(id, old === undefined ? made : { ...made, applied: old.applied })
  return null
}

function change(call: Call, kind: Kind): null {
  const before = `update sdn ${kind.word} object failed: `
  const id = param(call, kind.key)
  requireWrite(call, kind)
  refuseWithoutLock(call, before)
  const things = shelf(call.world, kind.shelf(call))
  const stale = () => refuseStale(call, digestOf([...things]), failed(`${before}${STALE}`))
  if (kind.word !== 'subnet') stale()
  const thing = need(call, kind, id, before)
  stale()
  const given = givenFor(call, kind)
  const type = typeOf(kind, thing)
  checkSection(kind.word, type, given, false, before)
  if (!refuseSectionDeletions(call, kind.word, type, before))
    refuseDeletions(call, `${kind.at}/{${kind.key}}`, false, before)
  const changed: Thing = { ...thing, ...sectionOf(call, kind) }
  for (const name of deletions(call)) delete changed[name]
  if (kind.word === 'zone') refuseNewIpam(call, id, thing, changed, before)
  check(call, kind, id, changed, given, thing, before)
  things.set(id, changed)
  return null
}

/** What is in effect stays in effect until the next time that changes are applied. */
function remove(call: Call, kind: Kind): null {
  const before = `delete sdn ${kind.word} object failed: `
  const id = param(call, kind.key)
  requireWrite(call, kind)
  refuseWithoutLock(call, before)
  const things = shelf(call.world, kind.shelf(call))
  const found = things.get(id)
  if (kind.word === 'subnet' && (found === undefined || found.gone === true)) return null
  const thing = need(call, kind, id, before)
  if (kind.word === 'zone') refuseUsedZone(call, id, before)
  else if (kind.word === 'controller') refuseUsedController(call, id, thing, before)
  else if (kind.word === 'vnet') refuseVnetWithSubnets(call, id, before)
  if (thing.applied === undefined) things.delete(id)
  else things.set(id, { ...thing, gone: true })
  return null
}

function apply(call: Call): string {
  const { world } = call
  const [host] = world.hosts.values()
  if (host === undefined) throw failed('there is no node')
  return startTask(world, host, 'reloadnetworkall', '', call.who.id, async (work) => {
    await work.pass(world.timing.shortTaskMs)
    for (const [name, things] of world.shelves) {
      if (!name.startsWith('sdn/')) continue
      for (const [id, thing] of things) {
        if (thing.gone === true) things.delete(id)
        else things.set(id, { ...visible(thing), applied: visible(thing) })
      }
    }
    releaseSdnLock(call)
  })
}

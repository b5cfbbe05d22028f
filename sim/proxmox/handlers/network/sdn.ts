import { startTask } from '../../../world/tasks.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { deletions, refuseDeletions } from '../collection.ts'
import { digestOf, fields, shelf, type Thing, textOf } from '../shelf.ts'
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
  { at: '/cluster/sdn/ipams', key: 'ipam', word: 'ipam', shelf: plain('ipams') },
  { at: '/cluster/sdn/dns', key: 'dns', word: 'dns', shelf: plain('dns') },
  {
    at: '/cluster/sdn/vnets/{vnet}/subnets',
    key: 'subnet',
    word: 'subnet',
    shelf: (call) => `sdn/subnets/${param(call, 'vnet')}`,
    idOf: subnetId,
    extra: (call, id) => {
      const [zone = '', network = '', mask = ''] = id.split(/-(?=[0-9a-f:.]+-\d+$)|-(?=\d+$)/i)
      return { type: 'subnet', vnet: param(call, 'vnet'), zone, network, mask, cidr: `${network}/${mask}` }
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
        return {
          ...shown(call, kind, id, need(call, kind, id)),
          digest: digestOf([...shelf(call.world, kind.shelf(call))]),
        }
      },
      [`PUT ${kind.at}/{${kind.key}}`]: (call) => change(call, kind),
      [`DELETE ${kind.at}/{${kind.key}}`]: (call) => remove(call, kind),
    }),
  ),
)

/** A subnet is called after its zone and its network: `z1-10.5.0.0-24`. */
function subnetId(call: Call): string {
  const zone = shelf(call.world, 'sdn/vnets').get(param(call, 'vnet'))?.zone
  if (zone === undefined) throw failed(`vnet '${param(call, 'vnet')}' does not exist`)
  return `${textOf(zone)}-${param(call, 'subnet').replace('/', '-')}`
}

/** Kept beside the fields: what is in effect, and that the thing is to go. */
const HIDDEN = new Set(['applied', 'gone'])

function visible(thing: Thing): Thing {
  return Object.fromEntries(Object.entries(thing).filter(([key]) => !HIDDEN.has(key)))
}

function shown(call: Call, kind: Kind, id: string, thing: Thing): Thing {
  return { ...kind.extra?.(call, id), ...visible(thing), [kind.key]: id }
}

function list(call: Call, kind: Kind): Thing[] {
  const things = shelf(call.world, kind.shelf(call))
  const digest = digestOf([...things])
  const rows: Thing[] = []
  for (const [id, thing] of things) {
    const applied = thing.applied as Thing | undefined
    if (flag(call, 'running')) {
      if (applied !== undefined) rows.push(shown(call, kind, id, applied))
    } else if (!flag(call, 'pending')) {
      if (thing.gone !== true) rows.push({ ...shown(call, kind, id, thing), digest })
    } else rows.push({ ...shown(call, kind, id, applied ?? thing), digest: null, ...pending(thing, applied) })
  }
  return rows
}

function pending(thing: Thing, applied: Thing | undefined): Thing {
  if (applied === undefined) return { state: 'new', pending: {} }
  if (thing.gone === true) return { state: 'deleted', pending: {} }
  const now = visible(thing)
  const names = [...new Set([...Object.keys(now), ...Object.keys(applied)])].filter((key) => now[key] !== applied[key])
  if (names.length === 0) return { pending: {} }
  return { state: 'changed', pending: Object.fromEntries(names.map((key) => [key, now[key] ?? 'deleted'])) }
}

function need(call: Call, kind: Kind, id: string): Thing {
  const thing = shelf(call.world, kind.shelf(call)).get(id)
  if (thing === undefined || thing.gone === true) throw failed(`sdn '${id}' does not exist`)
  return thing
}

function add(call: Call, kind: Kind): null {
  const things = shelf(call.world, kind.shelf(call))
  const id = kind.idOf?.(call) ?? param(call, kind.key)
  const old = things.get(id)
  if (old !== undefined && old.gone !== true)
    throw failed(`create sdn ${kind.word} object failed: sdn ${kind.word} object ID '${id}' already defined`)
  const made = fields(call, kind.key, 'vnet', 'lock-token')
  if (kind.word === 'vnet') {
    const zone = shelf(call.world, 'sdn/zones').get(param(call, 'zone'))
    if (zone === undefined || zone.gone === true) throw failed(`zone '${param(call, 'zone')}' does not exist`)
  }
  things.set(id, old === undefined ? made : { ...made, applied: old.applied })
  return null
}

function change(call: Call, kind: Kind): null {
  const id = param(call, kind.key)
  const thing = need(call, kind, id)
  const changed: Thing = { ...thing, ...fields(call, kind.key, 'vnet', 'lock-token') }
  refuseDeletions(call, `${kind.at}/{${kind.key}}`, false, `update sdn ${kind.word} object failed: `)
  for (const name of deletions(call)) delete changed[name]
  shelf(call.world, kind.shelf(call)).set(id, changed)
  return null
}

/** What is in effect stays in effect until the next time that changes are applied. */
function remove(call: Call, kind: Kind): null {
  const id = param(call, kind.key)
  const thing = need(call, kind, id)
  const things = shelf(call.world, kind.shelf(call))
  const users = (word: string, field: string) =>
    [...shelf(call.world, `sdn/${word}`)].find(([, other]) => other.gone !== true && other[field] === id)?.[0]
  if (kind.word === 'zone' && users('vnets', 'zone') !== undefined)
    throw failed(`delete sdn zone object failed: zone ${id} is used by vnet ${users('vnets', 'zone')}`)
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

import { may } from '../../../world/access.ts'
import { badParameter, failed, forbidden } from '../../api-error.ts'
import { Answer, type Call, param, type Routes } from '../../call.ts'
import { findOperation } from '../../validate/index.ts'
import { deletions, refuseStale } from '../collection.ts'
import { digestOf, EMPTY_DIGEST, fields, shelf, type Thing, textOf } from '../shelf.ts'
import { firewallMacroRoutes } from './macros.ts'
import { firewallNameRoutes, refs } from './names.ts'
import { place } from './place.ts'
import { firewallRuleRoutes } from './rules.ts'

/** Rules and options hang on the datacentre, on a node and on a guest alike; names for addresses not on a node. */
const NODE = '/nodes/{node}/firewall'
const GUESTS = ['/nodes/{node}/qemu/{vmid}/firewall', '/nodes/{node}/lxc/{vmid}/firewall']
const CLUSTER = '/cluster/firewall'
const VNET = '/cluster/sdn/vnets/{vnet}/firewall'

export const firewallRoutes: Routes = Object.assign(
  {},
  ...[CLUSTER, NODE, ...GUESTS].map((at): Routes => ({ ...optionRoutes(at), ...firewallRuleRoutes(at) })),
  ofVnets({ ...optionRoutes(VNET), ...firewallRuleRoutes(VNET) }),
  ...[CLUSTER, ...GUESTS].map((at): Routes => ({ ...firewallNameRoutes(at), [`GET ${at}/refs`]: refs })),
  ...[NODE, ...GUESTS].map((at): Routes => ({ [`GET ${at}/log`]: noLog })),
  firewallMacroRoutes,
  index(CLUSTER, ['groups', 'rules', 'options', 'aliases', 'ipset', 'macros', 'refs']),
  index(NODE, ['rules', 'options', 'log']),
  ...GUESTS.map((at) => index(at, ['rules', 'aliases', 'ipset', 'refs', 'options'])),
)

/** A network of the datacentre has a firewall as long as it is there. Who may ask is a matter of its zone. */
function ofVnets(routes: Routes): Routes {
  const asked = (call: Call) => {
    const id = param(call, 'vnet')
    // One that is only written down is none yet.
    const vnet = shelf(call.world, 'sdn/vnets').get(id)?.applied as Thing | undefined
    if (vnet === undefined)
      throw failed('invalid vnet specified at /usr/share/perl5/PVE/API2/Firewall/Helpers.pm line 54.')
    const path = `/sdn/zones/${textOf(vnet.zone)}/${id}`
    const rights = call.method === 'GET' ? ['SDN.Audit', 'SDN.Allocate'] : ['SDN.Allocate']
    if (!rights.some((right) => may(call.world, call.who, path, right))) throw forbidden(`${path}, ${rights.join('|')}`)
  }
  return Object.fromEntries(
    Object.entries(routes).map(([key, handler]) => [
      key,
      (call: Call) => {
        asked(call)
        return handler(call)
      },
    ]),
  )
}

function index(at: string, names: readonly string[]): Routes {
  return { [`GET ${at}`]: () => names.map((name) => ({ name })) }
}

/** The simulator writes no firewall log: a request for a time gets no lines. */
function noLog({ params }: Call): Answer {
  if (params.since !== undefined || params.until !== undefined) return new Answer([], { total: 0 })
  return new Answer([{ n: 1, t: 'unable to open file - No such file or directory' }], { total: 1 })
}

const NO_OPTION = /^(node|vmid|vnet|delete|digest)$/

function optionRoutes(at: string): Routes {
  return {
    [`GET ${at}/options`]: (call) => ({ ...optionsOf(call), digest: digest(call) }),
    [`PUT ${at}/options`]: (call) => {
      refuseStale(call, digest(call))
      const kept = { ...optionsOf(call) }
      const known = findOperation('PUT', `${at}/options`)?.operation.parameters
      for (const name of deletions(call)) {
        if (known?.has(name) !== true || NO_OPTION.test(name)) throw badParameter('delete', `no such option '${name}'`)
        delete kept[name]
      }
      // What is set and deleted by the same call is set.
      shelf(call.world, place(call)).set('options', { ...kept, ...fields(call, 'vnet'), ...since(call, at) })
      return null
    },
  }
}

/** Stores the current time as `enable` of the datacentre's firewall if the call gives more than 1. */
function since({ params, world }: Call, at: string): Thing {
  return at === CLUSTER && Number(params.enable ?? 0) > 1 ? { enable: Math.floor(world.clock.now() / 1000) } : {}
}

function optionsOf(call: Call): Thing {
  return shelf(call.world, place(call)).get('options') ?? {}
}

function digest(call: Call): string {
  const options = optionsOf(call)
  return Object.keys(options).length === 0 ? EMPTY_DIGEST : digestOf(options)
}

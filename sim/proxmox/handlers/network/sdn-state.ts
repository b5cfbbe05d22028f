import { hexDigits } from '../../../world/chance.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

/** The zone that every host has: its own bridges. */
const LOCAL = 'localnetwork'

/** What of the network of the cluster is in effect on a host, and who may change it now. */
export const sdnStateRoutes: Routes = {
  'GET /nodes/{node}/sdn/zones': (call) => [
    { zone: LOCAL, status: 'available' },
    ...[...shelf(call.world, 'sdn/zones')].map(([zone, thing]) => ({
      zone,
      status: thing.applied === undefined ? 'pending' : 'available',
    })),
  ],
  'GET /nodes/{node}/sdn/zones/{zone}/content': content,
  'GET /nodes/{node}/sdn/zones/{zone}/bridges': (call) =>
    bridges(call).map((name) => ({ name, vlan_filtering: '0', ports: [] })),
  'GET /nodes/{node}/sdn/zones/{zone}/ip-vrf': (call) => {
    const zone = running(call, 'zones', param(call, 'zone'))
    if (zone === undefined) throw badParameter('zone', 'zone does not exist')
    if (zone.type !== 'evpn') throw badParameter('zone', 'zone is not an EVPN zone')
    refuseElsewhere(call, zone, 'zone does not exist on node')
    return []
  },
  'GET /nodes/{node}/sdn/vnets/{vnet}/mac-vrf': (call) => {
    const id = param(call, 'vnet')
    const vnet = running(call, 'vnets', id)
    if (vnet === undefined) throw badParameter('vnet', 'vnet does not exist')
    const name = textOf(vnet.zone)
    const zone = running(call, 'zones', name)
    if (zone === undefined) throw badParameter('zone', `zone ${name} does not exist`)
    if (zone.type !== 'evpn') throw badParameter('zone', `zone ${name} is not an EVPN zone.`)
    refuseElsewhere(call, zone, `zone ${name} of vnet ${id} does not exist on node`)
    return []
  },
  'GET /nodes/{node}/sdn/fabrics/{fabric}': () => ['neighbors', 'routes', 'interfaces'].map((subdir) => ({ subdir })),
  // No router runs: it knows of nobody and nothing.
  ...Object.fromEntries(
    ['neighbors', 'routes', 'interfaces'].map((what) => [
      `GET /nodes/{node}/sdn/fabrics/{fabric}/${what}`,
      (call: Call) => {
        if (running(call, 'fabrics', param(call, 'fabric')) === undefined)
          throw failed(`fabric '${param(call, 'fabric')}' does not exist in configuration`)
        return []
      },
    ]),
  ),
  'POST /cluster/sdn/lock': (call) => {
    const held = shelf(call.world, 'sdn-lock')
    if (held.has('token')) throw failed('SDN configuration has already been locked')
    const token = hexDigits(call.world.random, 40)
    held.set('token', { token, pending: flag(call, 'allow-pending') })
    return token
  },
  'DELETE /cluster/sdn/lock': (call) => {
    const held = shelf(call.world, 'sdn-lock')
    const token = held.get('token')?.token
    if (token !== undefined && !flag(call, 'force') && token !== call.params['lock-token'])
      throw failed('invalid lock token provided')
    held.delete('token')
    return null
  },
  'POST /cluster/sdn/rollback': (call) => {
    for (const [name, things] of call.world.shelves) if (name.startsWith('sdn/')) takeBack(things)
    releaseSdnLock(call)
    return null
  },
}

function running(call: Call, kind: string, id: string): Thing | undefined {
  return shelf(call.world, `sdn/${kind}`).get(id)?.applied as Thing | undefined
}

function refuseElsewhere(call: Call, zone: Thing, before: string): void {
  const nodes = splitList(textOf(zone.nodes))
  if (nodes.length > 0 && !nodes.includes(hostOf(call).name))
    throw badParameter('zone', `${before} ${hostOf(call).name}`)
}

/** Whoever applies or takes back what is pending gives the lock back with it, unless they say otherwise. */
export function releaseSdnLock(call: Call): void {
  const held = shelf(call.world, 'sdn-lock')
  if (call.params['release-lock'] !== '0' && held.get('token')?.token === call.params['lock-token'])
    held.delete('token')
}

function takeBack(things: Map<string, Thing>): void {
  for (const [id, { applied }] of things) {
    if (applied === undefined) things.delete(id)
    else things.set(id, { ...(applied as Thing), applied })
  }
}

function content(call: Call): unknown[] {
  const zone = param(call, 'zone')
  if (zone === LOCAL) return bridges(call).map((vnet) => ({ vnet, status: 'available' }))
  if (!shelf(call.world, 'sdn/zones').has(zone)) throw failed(`can't find any sdn zone with name '${zone}'`)
  return [...shelf(call.world, 'sdn/vnets')]
    .filter(([, thing]) => thing.zone === zone)
    .map(([vnet, thing]) => ({ vnet, status: thing.applied === undefined ? 'pending' : 'available' }))
}

function bridges(call: Call): readonly string[] {
  return [...hostOf(call).interfaces].filter(([, { type }]) => type === 'bridge').map(([name]) => name)
}

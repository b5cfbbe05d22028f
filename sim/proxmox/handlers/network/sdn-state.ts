import { uuid } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, flag, hostOf, param, type Routes } from '../../call.ts'
import { splitList } from '../../validate/formats/format.ts'
import { requireRight } from '../guest/option-rights.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'
import { refuseWithoutLock } from './sdn-check.ts'

/** What of the network of the cluster is in effect on a host, and who may change it now. */
export const sdnStateRoutes: Routes = {
  'GET /nodes/{node}/sdn/zones': (call) =>
    [...shelf(call.world, 'sdn/zones').keys()]
      .filter((zone) => isHere(call, running(call, 'zones', zone)))
      .sort()
      .map((zone) => ({ zone, status: 'available' })),
  'GET /nodes/{node}/sdn/zones/{zone}/content': content,
  'GET /nodes/{node}/sdn/zones/{zone}/bridges': (call) =>
    [...hostOf(call).interfaces]
      .filter(([, { type }]) => type === 'bridge')
      .map(([name, { bridge_vlan_aware: aware, bridge_ports: ports }]) => ({
        name,
        vlan_filtering: Number(aware ?? 0),
        ports: splitList(textOf(ports)).map((port) => ({ name: port })),
      })),
  'GET /nodes/{node}/sdn/zones/{zone}/ip-vrf': (call) => {
    const zone = running(call, 'zones', param(call, 'zone'))
    if (zone === undefined) throw badParameter('zone', 'zone does not exist')
    if (zone.type !== 'evpn') throw badParameter('zone', 'zone is not an EVPN zone')
    refuseElsewhere(call, zone, 'zone does not exist on node')
    return []
  },
  'GET /nodes/{node}/sdn/vnets/{vnet}': (call) => {
    const id = param(call, 'vnet')
    const vnet = shelf(call.world, 'sdn/vnets').get(id)
    if (vnet === undefined || vnet.gone === true) throw failed(`sdn vnet '${id}' does not exist`)
    requireRight(call, `/sdn/zones/${textOf(vnet.zone)}/${id}`, 'SDN.Audit')
    return [{ subdir: 'mac-vrf' }]
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
    const before = 'could not acquire lock for SDN config: '
    refuseWithoutLock(call, before)
    if (!flag(call, 'allow-pending') && hasPending(call.world))
      throw failed(`${before}configuration has pending changes at /usr/share/perl5/PVE/API2/Network/SDN.pm line 150.`)
    const token = uuid(call.world.random)
    held.set('token', { token, pending: flag(call, 'allow-pending') })
    return token
  },
  'DELETE /cluster/sdn/lock': (call) => {
    const held = shelf(call.world, 'sdn-lock')
    if (!flag(call, 'force')) refuseWithoutLock(call, 'could not release lock: ')
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

/** Something of the cluster's network that was never applied differs from what is in effect. */
function hasPending(world: World): boolean {
  return [...world.shelves].some(
    ([name, things]) =>
      /^sdn\/(?:zones|vnets|controllers|subnets\/)/.test(name) &&
      [...things.values()].some(({ applied, ...now }) => JSON.stringify(applied) !== JSON.stringify(now)),
  )
}

function isHere(call: Call, zone: Thing | undefined): boolean {
  const nodes = splitList(textOf(zone?.nodes))
  return zone !== undefined && (nodes.length === 0 || nodes.includes(hostOf(call).name))
}

function refuseElsewhere(call: Call, zone: Thing, before: string): void {
  if (!isHere(call, zone)) throw badParameter('zone', `${before} ${hostOf(call).name}`)
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
  if (!isHere(call, running(call, 'zones', zone))) return []
  return [...shelf(call.world, 'sdn/vnets').keys()]
    .filter((vnet) => running(call, 'vnets', vnet)?.zone === zone)
    .map((vnet) => ({ vnet, status: 'available', statusmsg: null }))
}

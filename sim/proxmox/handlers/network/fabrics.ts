import { BlockList, isIP } from 'node:net'
import { may } from '../../../world/access.ts'
import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, flag, param, type Routes } from '../../call.ts'
import { deletions, refuseStale, STALE } from '../collection.ts'
import { digestOf, fields, shelf, type Thing, textOf } from '../shelf.ts'
import { pending, sees, visible } from './sdn.ts'
import { refuseWithoutLock } from './sdn-check.ts'

/** Routed networks between the hosts: a fabric, and what each of its nodes adds to it. */

const FABRICS = 'sdn/fabrics'
const nodesShelf = (fabric: string) => `sdn/fabric-nodes/${fabric}`

const FABRIC = '/cluster/sdn/fabrics/fabric'
const NODE = '/cluster/sdn/fabrics/node'

export const fabricRoutes: Routes = {
  'GET /cluster/sdn/fabrics/all': (call) => ({ fabrics: fabrics(call), nodes: allNodes(call) }),
  [`GET ${FABRIC}`]: fabrics,
  [`POST ${FABRIC}`]: addFabric,
  [`GET ${FABRIC}/{id}`]: (call) => {
    const id = param(call, 'id')
    return { ...visible(needFabric(call.world, id, '')), id, digest: digest(call.world) }
  },
  [`PUT ${FABRIC}/{id}`]: changeFabric,
  [`DELETE ${FABRIC}/{id}`]: removeFabric,
  [`GET ${NODE}`]: allNodes,
  [`GET ${NODE}/{fabric_id}`]: (call) => nodes(call, param(call, 'fabric_id')),
  [`POST ${NODE}/{fabric_id}`]: addNode,
  [`GET ${NODE}/{fabric_id}/{node_id}`]: (call) => {
    const [fabric, node] = [param(call, 'fabric_id'), param(call, 'node_id')]
    needFabric(call.world, fabric, '')
    return nodeShown(needNode(call.world, fabric, node, ''), fabric, node, { digest: digest(call.world) })
  },
  [`PUT ${NODE}/{fabric_id}/{node_id}`]: changeNode,
  [`DELETE ${NODE}/{fabric_id}/{node_id}`]: removeNode,
}

function there(world: World, name: string): readonly (readonly [string, Thing])[] {
  return [...shelf(world, name)].filter(([, thing]) => thing.gone !== true)
}

/** One file holds them all. */
function digest(world: World): string {
  const all = [...shelf(world, FABRICS)].map(([id, fabric]) => [id, fabric, [...shelf(world, nodesShelf(id))]])
  return digestOf(all)
}

/** As it is written down, as it is in effect, or both beside each other. */
function asked(call: Call, thing: Thing): Thing | undefined {
  const applied = thing.applied as Thing | undefined
  if (flag(call, 'running')) return applied
  if (flag(call, 'pending')) return { ...visible(applied ?? thing), ...pending(thing, applied) }
  return thing.gone === true ? undefined : visible(thing)
}

function fabrics(call: Call): Thing[] {
  return [...shelf(call.world, FABRICS)].flatMap(([id, thing]) => {
    const shown = asked(call, thing)
    if (shown === undefined || !sees(call, `/sdn/fabrics/${id}`)) return []
    return [{ ...shown, id, ...(flag(call, 'running') ? {} : { digest: digest(call.world) }) }]
  })
}

function allNodes(call: Call): Thing[] {
  return [...shelf(call.world, FABRICS).keys()].flatMap((fabric) => nodes(call, fabric))
}

function nodes(call: Call, fabric: string): Thing[] {
  return [...shelf(call.world, nodesShelf(fabric))].flatMap(([node, thing]) => {
    const shown = asked(call, thing)
    const mayRead = ['Sys.Audit', 'Sys.Modify'].some((right) => may(call.world, call.who, `/nodes/${node}`, right))
    if (shown === undefined || !mayRead) return []
    return [nodeShown(shown, fabric, node, flag(call, 'running') ? {} : { digest: digest(call.world) })]
  })
}

function nodeShown(thing: Thing, fabric: string, node: string, more: Thing): Thing {
  return { ...visible(thing), fabric_id: fabric, node_id: node, ...more }
}

function needFabric(world: World, id: string, before: string): Thing {
  const fabric = shelf(world, FABRICS).get(id)
  if (fabric === undefined || fabric.gone === true)
    throw failed(`${before}fabric '${id}' does not exist in configuration`)
  return fabric
}

function needNode(world: World, fabric: string, node: string, before: string): Thing {
  const thing = shelf(world, nodesShelf(fabric)).get(node)
  if (thing === undefined || thing.gone === true)
    throw failed(`${before}node '${node}' does not exist in fabric '${fabric}'`)
  return thing
}

function begin(call: Call, before: string): void {
  refuseWithoutLock(call, before)
  refuseStale(call, digest(call.world), failed(`${before}${STALE}`))
}

function put(world: World, name: string, id: string, thing: Thing): null {
  const applied = shelf(world, name).get(id)?.applied
  shelf(world, name).set(id, applied === undefined ? thing : { ...thing, applied })
  return null
}

function take(world: World, name: string, id: string): null {
  const thing = shelf(world, name).get(id)
  if (thing?.applied === undefined) shelf(world, name).delete(id)
  else shelf(world, name).set(id, { ...thing, gone: true })
  return null
}

function changed(call: Call, thing: Thing, ...not: readonly string[]): Thing {
  const next: Thing = { ...thing, ...fields(call, 'lock-token', ...not) }
  for (const name of deletions(call)) delete next[name]
  return next
}

function addFabric(call: Call): null {
  const before = 'adding fabric failed: '
  begin(call, before)
  const id = param(call, 'id')
  if (there(call.world, FABRICS).some(([one]) => one === id))
    throw failed(`${before}fabric '${id}' already exists in config`)
  const made = fields(call, 'lock-token', 'id')
  checkFabric(call.world, id, made, before)
  return put(call.world, FABRICS, id, made)
}

function changeFabric(call: Call): null {
  const before = 'updating fabric failed: '
  begin(call, before)
  const id = param(call, 'id')
  const next = changed(call, needFabric(call.world, id, before), 'id')
  checkFabric(call.world, id, next, before)
  return put(call.world, FABRICS, id, next)
}

function checkFabric(world: World, id: string, fabric: Thing, before: string): void {
  const others = there(world, FABRICS).filter(([one]) => one !== id)
  const sameArea = (other: Thing) => other.protocol === 'ospf' && textOf(other.area) === textOf(fabric.area)
  if (fabric.protocol === 'ospf' && others.some(([, other]) => sameArea(other)))
    throw failed(`${before}duplicate OSPF area`)
  for (const [node, thing] of there(world, nodesShelf(id))) checkNode(world, id, fabric, node, thing, before)
}

function removeFabric(call: Call): null {
  const { world } = call
  const before = 'deleting fabric failed: '
  begin(call, before)
  const id = param(call, 'id')
  const module = '/usr/share/perl5/PVE/API2/Network/SDN/Fabrics/Fabric.pm'
  const used = (kind: string, type: string) =>
    there(world, kind).find(([, thing]) => thing.type === type && thing.fabric === id)?.[0]
  const controller = used('sdn/controllers', 'evpn')
  if (controller !== undefined)
    throw failed(`${before}this fabric is still used in the EVPN controller "${controller}" at ${module} line 287.`)
  const zone = used('sdn/zones', 'vxlan')
  if (zone !== undefined)
    throw failed(`${before}this fabric is still used in the VXLAN zone "${zone}" at ${module} line 296.`)
  needFabric(world, id, before)
  for (const [node] of there(world, nodesShelf(id))) take(world, nodesShelf(id), node)
  return take(world, FABRICS, id)
}

/** What every change of a node begins with: the lock, and the fabric that it is in. */
function nodeCall(call: Call, before: string) {
  begin(call, before)
  const { world } = call
  const [id, node] = [param(call, 'fabric_id'), param(call, 'node_id')]
  return { world, id, node, fabric: needFabric(world, id, before) }
}

function addNode(call: Call): null {
  const before = 'adding node failed: '
  const { world, id, node, fabric } = nodeCall(call, before)
  const made = fields(call, 'lock-token', 'fabric_id', 'node_id')
  if (made.protocol !== undefined && made.protocol !== fabric.protocol)
    throw failed(`${before}node has a different protocol than the referenced fabric`)
  if (there(world, nodesShelf(id)).some(([one]) => one === node))
    throw failed(`${before}node '${node}' already exists in config for fabric ${id}`)
  checkNode(world, id, fabric, node, made, before)
  return put(world, nodesShelf(id), node, made)
}

function changeNode(call: Call): null {
  const before = 'updating node failed: '
  const { world, id, node, fabric } = nodeCall(call, before)
  const next = changed(call, needNode(world, id, node, before), 'fabric_id', 'node_id')
  checkNode(world, id, fabric, node, next, before)
  return put(world, nodesShelf(id), node, next)
}

function removeNode(call: Call): null {
  const before = 'deleting node failed: '
  const { world, id, node } = nodeCall(call, before)
  needNode(world, id, node, before)
  return take(world, nodesShelf(id), node)
}

/** Where a fabric has a prefix, each of its nodes has an address in it that no other node has. */
function checkNode(world: World, id: string, fabric: Thing, node: string, thing: Thing, before: string): void {
  if (fabric.protocol !== 'openfabric' && fabric.protocol !== 'ospf') return
  const others = there(world, nodesShelf(id)).filter(([one]) => one !== node)
  for (const [key, prefixKey] of [
    ['ip', 'ip_prefix'],
    ['ip6', 'ip6_prefix'],
  ] as const) {
    const [ip, prefix] = [textOf(thing[key]), textOf(fabric[prefixKey])]
    if (ip === '' && prefix === '') continue
    if (prefix === '')
      throw failed(`${before}fabric '${id}' does not have an IP prefix configured for the node IP ${ip}`)
    if (ip === '')
      throw failed(`${before}node '${node}' does not have an IP configured for this fabric prefix ${prefix}`)
    if (others.some(([, other]) => other[key] === ip))
      throw failed(`${before}fabric ${id} contains nodes with duplicated IPs`)
    if (!isIn(ip, prefix)) throw failed(`${before}node IP ${ip} is outside the IP prefix ${prefix} of the fabric`)
  }
}

function isIn(ip: string, prefix: string): boolean {
  const [network = '', mask = ''] = prefix.split('/')
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  const within = new BlockList()
  within.addSubnet(network, Number(mask), family)
  return isIP(ip) !== 0 && within.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4')
}

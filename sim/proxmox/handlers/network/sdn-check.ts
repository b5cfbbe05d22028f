import { BlockList, isIP } from 'node:net'
import { parseProperties } from '../../../world/properties.ts'
import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, param } from '../../call.ts'
import { deletions } from '../collection.ts'
import { listOf, shelf, type Thing, textOf } from '../shelf.ts'

/** What the sections of the cluster's network may say, and what does not go together. */

const NAMING = ['dns', 'reversedns', 'dnszone', 'ipam']

/** Options of each sort; those with a mark are required. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  zone: {
    simple: ['nodes', 'mtu', 'dhcp', ...NAMING],
    vlan: ['nodes', 'bridge!', 'bridge-disable-mac-learning', 'mtu', ...NAMING],
    qinq: ['nodes', 'tag!', 'bridge!', 'bridge-disable-mac-learning', 'mtu', 'vlan-protocol', ...NAMING],
    vxlan: ['nodes', 'peers', 'vxlan-port', 'mtu', 'fabric', ...NAMING],
    evpn: [
      'nodes',
      'vrf-vxlan!',
      'controller!',
      'exitnodes',
      'exitnodes-local-routing',
      'exitnodes-primary',
      'advertise-subnets',
      'disable-arp-nd-suppression',
      'bridge-disable-mac-learning',
      'rt-import',
      'vxlan-port',
      'mtu',
      'mac',
      ...NAMING,
    ],
    faucet: ['nodes', 'dp-id!', 'controller!', ...NAMING],
  },
  controller: {
    evpn: ['asn!', 'peers', 'fabric'],
    bgp: ['node!', 'asn!', 'peers!', 'bgp-multipath-as-path-relax', 'ebgp', 'ebgp-multihop', 'loopback'],
    isis: ['isis-domain!', 'isis-net!', 'isis-ifaces!', 'node!', 'loopback'],
  },
  vnet: { vnet: ['zone!', 'tag', 'alias', 'vlanaware', 'isolate-ports'] },
  subnet: {
    subnet: ['vnet!', 'gateway', 'snat', 'dnszoneprefix', 'dhcp-range', 'dhcp-dns-server'],
  },
}

/** Returns undefined for an unknown type. */
function optionsOf(word: string, type: string) {
  const listed = OPTIONS[word]?.[type]
  return listed?.map((name) => ({ name: name.replace('!', ''), required: name.endsWith('!') }))
}

/** A new section has all that its sort needs, and no section has what its sort does not know. */
export function checkSection(word: string, type: string, given: Thing, isNew: boolean, before: string): void {
  const options = optionsOf(word, type)
  if (options === undefined) return
  for (const name of Object.keys(given))
    if (name !== 'type' && !options.some((option) => option.name === name))
      throw failed(`${before}unexpected property '${name}'`)
  if (!isNew) return
  for (const { name, required } of options)
    if (required && given[name] === undefined) throw failed(`${before}missing value for required option '${name}'`)
}

/** Says whether the options of this sort are known here. */
export function refuseSectionDeletions(call: Call, word: string, type: string, before: string): boolean {
  const options = optionsOf(word, type)
  if (options === undefined) return false
  for (const name of deletions(call)) {
    const option = options.find((one) => one.name === name)
    if (option === undefined) throw failed(`${before}no such option '${name}'`)
    if (option.required) throw failed(`${before}unable to delete required option '${name}'`)
    if (call.params[name] !== undefined)
      throw failed(`${before}cannot set and delete property '${name}' at the same time!`)
  }
  return true
}

/** Under the lock a refused parameter is no 400: its text follows that of the operation. */
function refused(before: string, errors: Readonly<Record<string, string>>) {
  const lines = Object.entries(errors).map(([name, text]) => `\n${name}: ${text}`)
  return failed(`${before}400 Parameter verification failed.${lines.join('')}`)
}

/** A death without a line break says where it happened. */
function died(before: string, text: string, module: string, line: number) {
  return failed(`${before}${text} at /usr/share/perl5/PVE/${module}.pm line ${line}.`)
}

export function refuseWithoutLock(call: Call, before: string): void {
  const token = shelf(call.world, 'sdn-lock').get('token')?.token
  if (token !== undefined && token !== call.params['lock-token'])
    throw died(before, 'invalid lock token provided!', 'Network/SDN', 291)
}

function there(world: World, kind: string): readonly (readonly [string, Thing])[] {
  return [...shelf(world, `sdn/${kind}`)].filter(([, thing]) => thing.gone !== true)
}

export function checkZone({ world }: Call, id: string, zone: Thing, given: Thing, before: string): void {
  const named = (kind: string, name: unknown) => there(world, kind).some(([one]) => one === name)
  const { dns, reversedns, dnszone, ipam } = given
  if (dns !== undefined && !named('dns', dns)) throw refused(before, { dns: `${textOf(dns)} don't exist` })
  if (reversedns !== undefined && !named('dns', reversedns))
    throw refused(before, { reversedns: `${textOf(reversedns)} don't exist` })
  if (dnszone !== undefined && dns === undefined) throw refused(before, { dnszone: 'missing dns server' })
  // The one that Proxmox brings along is in no file.
  if (ipam !== undefined && ipam !== 'pve' && !named('ipams', ipam))
    throw refused(before, { ipam: `${textOf(ipam)} not existing` })
  if (zone.type === 'vxlan' && (zone.peers === undefined) === (zone.fabric === undefined)) {
    const text = 'must have exactly one of peers / fabric defined'
    throw refused(before, { peers: text, fabric: text })
  }
  if (zone.type === 'evpn') checkEvpnZone(world, id, zone, before)
}

function checkEvpnZone(world: World, id: string, zone: Thing, before: string): void {
  const module = 'Network/SDN/Zones/EvpnPlugin'
  const name = textOf(zone.controller)
  const controller = there(world, 'controllers').find(([one]) => one === name)?.[1]
  if (controller === undefined) throw died(before, `controller ${name} don't exist`, module, 354)
  if (controller.type !== 'evpn') throw died(before, `${name} is not a evpn controller type`, module, 356)
  const same = (other: Thing) =>
    other['vrf-vxlan'] !== undefined && textOf(other['vrf-vxlan']) === textOf(zone['vrf-vxlan'])
  const taken = there(world, 'zones').find(([one, other]) => one !== id && same(other))?.[0]
  if (taken !== undefined)
    throw died(before, `vrf-vxlan ${textOf(zone['vrf-vxlan'])} is already declared in ${taken}`, module, 366)
}

/** Subnets know their network by the address manager of the zone: it cannot be another one while there are any. */
export function refuseNewIpam({ world }: Call, id: string, old: Thing, changed: Thing, before: string): void {
  if (textOf(old.ipam) === textOf(changed.ipam)) return
  const hasSubnets = there(world, 'vnets').some(([vnet, { zone }]) => zone === id && subnetsOf(world, vnet) > 0)
  if (hasSubnets) throw refused(before, { ipam: "can't change ipam if a subnet is already defined in this zone" })
}

export function refuseUsedZone({ world }: Call, id: string, before: string): void {
  const user = there(world, 'vnets').find(([, { zone }]) => zone === id)?.[0]
  if (user !== undefined) throw died(before, `zone ${id} is used by vnet ${user}`, 'Network/SDN/Zones/Plugin', 148)
}

export function checkController({ world }: Call, id: string, controller: Thing, before: string): void {
  if (controller.type !== 'evpn') return
  const module = 'Network/SDN/Controllers/EvpnPlugin'
  if (there(world, 'controllers').some(([one, { type }]) => one !== id && type === 'evpn'))
    throw died(before, 'only 1 global evpn controller can be defined', module, 491)
  if ((controller.peers === undefined) === (controller.fabric === undefined))
    throw died(before, 'must have exactly one of peers / fabric defined', module, 496)
}

export function refuseUsedController({ world }: Call, id: string, thing: Thing, before: string): void {
  const user = there(world, 'zones').find(([, { controller }]) => controller === id)?.[0]
  if (user === undefined || thing.type === 'isis') return
  const [module, line] = thing.type === 'bgp' ? (['BgpPlugin', 166] as const) : (['EvpnPlugin', 475] as const)
  throw died(before, `controller ${id} is used by ${user}`, `Network/SDN/Controllers/${module}`, line)
}

function subnetsOf(world: World, vnet: string): number {
  return there(world, `subnets/${vnet}`).length
}

export function checkVnet({ world }: Call, id: string, vnet: Thing, old: Thing | undefined, before: string): void {
  if (old !== undefined && old.zone !== vnet.zone && subnetsOf(world, id) > 0)
    throw refused(before, { zone: "can't change zone if subnets exist" })
  const zones = new Map(there(world, 'zones'))
  const zone = zones.get(textOf(vnet.zone))
  if (zone === undefined)
    throw died(before, 'cannot lookup undefined type!', 'API2/Network/SDN/Vnets', old === undefined ? 326 : 402)
  const tag = vnet.tag === undefined ? undefined : Number(vnet.tag)
  const others = there(world, 'vnets').filter(([one]) => one !== id)
  const wrong = (text: string) => refused(before, { tag: text })
  const beside = others.filter(([, other]) => other.zone === vnet.zone)
  const sameTag = ([, other]: readonly [string, Thing]) => other.tag !== undefined && Number(other.tag) === tag
  switch (zone.type) {
    case 'simple':
      if (tag !== undefined) throw wrong('vlan tag is not allowed on simple zone')
      break
    case 'vlan': {
      if (tag === undefined) throw wrong('missing vlan tag')
      if (tag > 4096) throw wrong('vlan tag max value is 4096')
      const taken = beside.find(sameTag)?.[0]
      if (taken !== undefined) throw wrong(`tag ${tag} already exist in vnet ${taken}`)
      break
    }
    case 'qinq': {
      if (tag !== undefined && tag > 4096) throw wrong('VLAN tag maximal value is 4096')
      const untagged = ([, other]: readonly [string, Thing]) => other.tag === undefined
      const taken = beside.find(tag === undefined ? untagged : sameTag)?.[0]
      const where = `exist${tag === undefined ? 's' : ''} in zone ${textOf(vnet.zone)} vnet ${taken}`
      if (taken !== undefined) throw wrong(`${tag === undefined ? 'tag-less vnet' : `tag ${tag}`} already ${where}`)
      break
    }
    default: {
      if (tag === undefined) throw wrong('missing vxlan tag')
      if (tag > 16_777_216) throw wrong('vxlan tag max value is 16777216')
      if (zone.type === 'evpn' && isOn(vnet.vlanaware))
        throw refused(before, { 'vlan-aware': "vlan-aware option can't be enabled with evpn" })
      const overlays = others.filter(([, other]) =>
        /^(?:vxlan|evpn)$/.test(textOf(zones.get(textOf(other.zone))?.type)),
      )
      const taken = overlays.find(sameTag)
      // The real text ends in a space.
      if (taken !== undefined)
        throw wrong(`vxlan tag ${tag} already exist in vnet ${taken[0]} in zone ${textOf(taken[1].zone)} `)
    }
  }
  if (isOn(vnet.vlanaware) && subnetsOf(world, id) > 0)
    throw refused(before, { vlanaware: 'vlanaware vnet is not compatible with subnets' })
}

function isOn(value: unknown): boolean {
  return textOf(value) === '1'
}

export function refuseVnetWithSubnets({ world }: Call, id: string, before: string): void {
  if (subnetsOf(world, id) > 0) throw refused(before, { vnet: "Can't delete vnet if subnets exists" })
}

export function checkSubnet(call: Call, id: string, subnet: Thing, before: string): void {
  const vnet = shelf(call.world, 'sdn/vnets').get(param(call, 'vnet'))
  if (isOn(vnet?.vlanaware)) throw refused(before, { vnet: "you can't add a subnet on a vlanaware vnet" })
  const [, network = '', mask = ''] = /^[^-]+-(.+)-(\d+)$/.exec(id) ?? []
  const cidr = `${network}/${mask}`
  const matcher = new BlockList()
  matcher.addSubnet(network, Number(mask), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  const gateway = textOf(subnet.gateway)
  const alone = isIP(gateway) === 4 && mask === '32'
  if (gateway !== '' && !isIn(matcher, gateway) && !alone)
    throw refused(before, { gateway: `${gateway} is not in subnet ${cidr}` })
  checkRanges(listOf(subnet['dhcp-range']), matcher, cidr, before)
}

function isIn(matcher: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && matcher.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

function checkRanges(texts: readonly string[], matcher: BlockList, cidr: string, before: string): void {
  const wrong = (text: string) => refused(before, { 'dhcp-range': text })
  const taken: { readonly start: string; readonly end: string; readonly range: BlockList }[] = []
  for (const text of texts) {
    const { named } = parseProperties(text)
    const start = named.get('start-address') ?? ''
    const end = named.get('end-address') ?? ''
    const range = rangeOf(start, end)
    if (range === undefined) throw wrong(`start-address ${start} must be smaller than end-address ${end}`)
    if (!isIn(matcher, start)) throw wrong(`start-address ${start} is not in subnet ${cidr}`)
    if (!isIn(matcher, end)) throw wrong(`end-address ${end} is not in subnet ${cidr}`)
    const overlaps = taken.some((one) => isIn(one.range, start) || isIn(one.range, end) || isIn(range, one.start))
    if (overlaps) throw wrong('dhcp ranges must not overlap')
    taken.push({ start, end, range })
  }
}

function rangeOf(start: string, end: string): BlockList | undefined {
  const range = new BlockList()
  try {
    range.addRange(start, end, isIP(start) === 6 ? 'ipv6' : 'ipv4')
    return range
  } catch {
    return undefined
  }
}

import { BlockList, isIP } from 'node:net'
import { may } from '../../../world/access.ts'
import { failed } from '../../api-error.ts'
import { type Call, param, type Routes } from '../../call.ts'
import { shelf, type Thing, textOf } from '../shelf.ts'

const AT = '/cluster/sdn/vnets/{vnet}/ips'

/** Addresses of virtual networks that somebody was given: the list that Proxmox itself keeps of them. */
export const sdnAddressRoutes: Routes = {
  [`POST ${AT}`]: (call) => {
    add(call, subnetOf(call, param(call, 'ip')), param(call, 'ip'), call.params.mac)
    return null
  },
  [`PUT ${AT}`]: (call) => {
    const { mac, vmid } = call.params
    const before = ofMac(call, mac)
    if (before !== undefined) remove(call, subnetOf(call, before), before)
    else throw failed("can't find any subnet for ip ")
    try {
      add(call, subnetOf(call, param(call, 'ip')), param(call, 'ip'), mac, vmid)
    } catch (error) {
      add(call, subnetOf(call, before), before, mac, vmid)
      throw error
    }
    return null
  },
  [`DELETE ${AT}`]: (call) => {
    remove(call, subnetOf(call, param(call, 'ip')), param(call, 'ip'))
    return null
  },
  'GET /cluster/sdn/ipams/{ipam}/status': (call) => {
    if (param(call, 'ipam') !== 'pve') throw failed('Currently only PVE IPAM is supported!')
    return [...kept(call)].flatMap(([ip, { zone, vnet, ...entry }]) => {
      const running = zoneOf(call, textOf(zone))
      const path = `/sdn/zones/${textOf(zone)}/${textOf(vnet)}`
      const sees = ['SDN.Audit', 'SDN.Allocate'].some((privilege) => may(call.world, call.who, path, privilege))
      return running?.ipam === 'pve' && textOf(running.dhcp) !== '' && sees ? [{ ...entry, ip, zone, vnet }] : []
    })
  },
}

interface Subnet {
  readonly cidr: string
  readonly zone: string
  /** Who keeps the list of its addresses. */
  readonly ipam: string
}

function kept({ world }: Call): Map<string, Thing> {
  return shelf(world, 'ipam-addresses')
}

function zoneOf(call: Call, name: string): Thing | undefined {
  return shelf(call.world, 'sdn/zones').get(name)?.applied as Thing | undefined
}

/** The subnet in effect that an address is in. */
function subnetOf(call: Call, ip: string): Subnet {
  const vnet = param(call, 'vnet')
  for (const [id, { applied }] of shelf(call.world, `sdn/subnets/${vnet}`)) {
    const [, zone = '', network = '', mask = ''] = /^(.*?)-([0-9a-f:.]+)-(\d+)$/i.exec(id) ?? []
    if (applied === undefined || !isIn(ip, network, Number(mask))) continue
    return { cidr: `${network}/${mask}`, zone, ipam: textOf(zoneOf(call, zone)?.ipam) }
  }
  throw failed(`can't find any subnet for ip ${ip} at /usr/share/perl5/PVE/Network/SDN/Subnets.pm line 115.`)
}

function isIn(ip: string, network: string, mask: number): boolean {
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(ip) !== isIP(network)) return false
  const list = new BlockList()
  list.addSubnet(network, mask, family)
  return list.check(ip, family)
}

function ofMac(call: Call, mac: string | undefined): string | undefined {
  const six = isIP(param(call, 'ip')) === 6
  const own = [...kept(call)].find(
    ([ip, entry]) => entry.mac === mac && entry.vnet === param(call, 'vnet') && (isIP(ip) === 6) === six,
  )
  return own?.[0]
}

/** A zone that nobody keeps a list for gives out nothing, and says nothing. */
function add(call: Call, { ipam, cidr, zone }: Subnet, ip: string, mac: string | undefined, vmid?: string): void {
  if (ipam === '') return
  if (kept(call).has(ip)) throw failed(`IP '${ip}' already exist`)
  kept(call).set(ip, {
    zone,
    vnet: param(call, 'vnet'),
    subnet: cidr,
    ...(mac === undefined ? {} : { mac }),
    ...(vmid === undefined ? {} : { vmid: Number(vmid) }),
  })
}

function remove(call: Call, { ipam }: Subnet, ip: string): void {
  if (ipam !== '' && !kept(call).delete(ip)) throw failed(`IP '${ip}' does not exist in IPAM DB`)
}

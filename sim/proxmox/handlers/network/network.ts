import { may } from '../../../world/access.ts'
import { startTask } from '../../../world/tasks.ts'
import type { Host } from '../../../world/types.ts'
import { badParameter, failed } from '../../api-error.ts'
import { Answer, type Call, hostOf, param, type Routes } from '../../call.ts'
import { deletions } from '../collection.ts'
import { fields, shelf, type Thing, textOf } from '../shelf.ts'
import { checkAddress6 } from './address.ts'
import { checkInterfaces, portParameter, portsOf, words } from './check.ts'
import { throughFile } from './file.ts'
import { attachOvsPorts } from './ovs.ts'

const AT = '/nodes/{node}/network'

export const networkRoutes: Routes = {
  [`GET ${AT}`]: list,
  [`POST ${AT}`]: create,
  [`PUT ${AT}`]: reload,
  [`DELETE ${AT}`]: (call) => {
    hostOf(call).newInterfaces = undefined
    return null
  },
  [`GET ${AT}/{iface}`]: (call) => {
    const found = entryOf(hostOf(call), param(call, 'iface'))
    if (found === undefined) throw badParameter('iface', 'interface does not exist')
    return found
  },
  [`PUT ${AT}/{iface}`]: update,
  [`DELETE ${AT}/{iface}`]: (call) => {
    const host = hostOf(call)
    const iface = param(call, 'iface')
    if (entryOf(host, iface) === undefined) throw badParameter('iface', 'interface does not exist')
    const rest = new Map(written(host))
    rest.delete(iface)
    write(host, rest)
    // A file without it is read as if it were there.
    if (iface === 'lo') host.newInterfaces?.set('lo', UNWRITTEN_LOOPBACK)
    return null
  },
}

const UNWRITTEN_LOOPBACK = {
  type: 'loopback',
  method: 'loopback',
  method6: 'manual',
  families: ['inet'],
  autostart: 1,
  priority: 1,
}

/** In every file, and in no list. */
const LOOPBACK = { ...UNWRITTEN_LOOPBACK, active: 1, priority: 2 }

/** What is in the file, loaded or not. */
function written(host: Host): Map<string, Record<string, unknown>> {
  return host.newInterfaces ?? host.interfaces
}

function entryOf(host: Host, iface: string): Readonly<Record<string, unknown>> | undefined {
  return written(host).get(iface) ?? (iface === 'lo' ? LOOPBACK : undefined)
}

/** Writes changes to a second file, which a later call applies. Invalid combinations are not written. */
function write(host: Host, all: Map<string, Record<string, unknown>>): void {
  const attached = attachOvsPorts(all)
  checkInterfaces(attached)
  host.newInterfaces = throughFile(attached, (iface) => iface === 'lo' || host.interfaces.get(iface)?.active === 1)
}

function list(call: Call): unknown {
  const host = hostOf(call)
  const { type } = call.params
  const rows = [...written(host)]
    .filter(([iface]) => iface !== 'lo')
    .map(([iface, entry]): Record<string, unknown> => ({ iface, ...entry }))
    .filter((row) => !/^(?:bridge|OVSBridge)$/.test(textOf(row.type)) || usesBridge(call, String(row.iface)))
    .filter((row) => isWanted(textOf(row.type), type))
  const all = /^(?:any_bridge|include_sdn|vnet)$/.test(type ?? '') ? [...rows, ...vnetsOn(call, host)] : rows
  if (host.newInterfaces === undefined) return all
  return new Answer(all, { changes: '--- /etc/network/interfaces\n+++ /etc/network/interfaces.new\n' })
}

function isWanted(type: string, filter: string | undefined): boolean {
  if (filter === undefined || filter === 'include_sdn' || filter === type) return true
  return /^any(?:_local)?_bridge$/.test(filter) && (type === 'bridge' || type === 'OVSBridge')
}

/** The virtual networks that are in effect on a host, of those that one may use or see. */
function vnetsOn(call: Call, { name }: Host): Record<string, unknown>[] {
  const zones = shelf(call.world, 'sdn/zones')
  return [...shelf(call.world, 'sdn/vnets')].flatMap(([iface, { applied }]) => {
    const vnet = applied as Thing | undefined
    const zone = zones.get(textOf(vnet?.zone))?.applied as Thing | undefined
    if (vnet === undefined || zone === undefined || !usesBridge(call, iface, textOf(vnet.zone))) return []
    if (textOf(zone.nodes) !== '' && !words(zone.nodes).includes(name)) return []
    const alias = textOf(vnet.alias)
    return [
      {
        iface,
        type: 'vnet',
        active: '1',
        ipam: textOf(zone.ipam) === '' ? 0 : 1,
        vlanaware: Number(vnet.vlanaware ?? 0),
        comments: alias === '' ? null : alias,
      },
    ]
  })
}

/** Bridges are shown to those who may use or see them; cards to everybody. */
function usesBridge(call: Call, iface: string, zone = 'localnetwork'): boolean {
  const path = `/sdn/zones/${zone}/${iface}`
  return may(call.world, call.who, path, 'SDN.Use') || may(call.world, call.who, path, 'SDN.Audit')
}

function create(call: Call): null {
  const host = hostOf(call)
  const iface = param(call, 'iface')
  if (entryOf(host, iface) !== undefined) throw badParameter('iface', 'interface already exists')
  const given = fields(call, 'iface')
  refuseTaken(host, iface, given)
  const entry = placed(given)
  checkAddress6(entry.address6, entry.netmask6)
  if (textOf(entry.type).startsWith('OVS'))
    throw failed("Open VSwitch is not installed (need package 'openvswitch-switch')")
  if (textOf(entry.bridge_vids) !== '') entry.bridge_vids = vids(entry)
  write(host, new Map([...written(host), [iface, { ...entry, ...families(entry) }]]))
  return null
}

/** What is not sent stays, also an address; but only what is sent makes an interface static, or one of IPv6. */
function update(call: Call): null {
  const host = hostOf(call)
  const iface = param(call, 'iface')
  const before = entryOf(host, iface)
  if (before === undefined) throw badParameter('iface', 'interface does not exist')
  const kept: Record<string, unknown> = { ...before }
  for (const name of deletions(call)) {
    delete kept[name]
    const six = /^cidr(6?)$/.exec(name)?.[1]
    if (six !== undefined) for (const part of ['address', 'netmask']) delete kept[`${part}${six}`]
  }
  const entry = placed(fields(call, 'iface'))
  refuseTaken(host, iface, entry)
  checkAddress6(entry.address6, entry.netmask6)
  if (textOf(entry.bridge_vids) !== '') vids(entry)
  // An address that is sent takes the place of the one in the file, whole.
  for (const six of ['', '6']) if (textOf(entry[`address${six}`]) !== '') delete kept[`cidr${six}`]
  write(host, new Map([...written(host), [iface, { ...kept, ...entry, ...families(entry) }]]))
  return null
}

/** `cidr` in two parts. */
function placed(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entry = { ...given }
  for (const six of ['', '6']) {
    const cidr = textOf(entry[`cidr${six}`])
    if (cidr === '') continue
    for (const name of [`address${six}`, `netmask${six}`])
      if (textOf(entry[name]) !== '') throw badParameter(name, `${name} conflicts with cidr${six}`)
    const [address, netmask] = cidr.split('/')
    entry[`address${six}`] = address
    entry[`netmask${six}`] = netmask
    delete entry[`cidr${six}`]
  }
  return entry
}

function families(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const [four, six] = [textOf(entry.address) !== '', textOf(entry.address6) !== '']
  const sent = [...(four ? ['inet'] : []), ...(six ? ['inet6'] : [])]
  return {
    families: sent.length === 0 ? ['inet'] : sent,
    method: four ? 'static' : 'manual',
    method6: six ? 'static' : 'manual',
  }
}

function vids(entry: Readonly<Record<string, unknown>>): string {
  const all = words(entry.bridge_vids)
  if (all.length === 0) throw badParameter('bridge_vids', 'VLAN list items are empty')
  return all.join(' ')
}

function refuseTaken(host: Host, iface: string, entry: Readonly<Record<string, unknown>>): void {
  const others = [...written(host)].filter(([name]) => name !== iface)
  for (const [name, title] of [
    ['gateway', 'Default gateway'],
    ['gateway6', 'Default ipv6 gateway'],
  ] as const) {
    const taken = textOf(entry[name]) === '' ? undefined : others.find(([, other]) => other[name] !== undefined)
    if (taken !== undefined) throw badParameter(name, `${title} already exists on interface '${taken[0]}'.`)
  }
  const wanted = portsOf(entry)
  for (const [name, other] of others) {
    const port = portsOf(other).find((one) => wanted.includes(one))
    if (port !== undefined) throw badParameter(portParameter(entry), `${port} is already used on interface '${name}'.`)
  }
}

/** The written file is taken at once; bringing the cards into that state is the task. */
function reload(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  if (host.newInterfaces !== undefined) {
    const wanted = host.newInterfaces
    host.interfaces.clear()
    for (const [iface, entry] of wanted) host.interfaces.set(iface, { ...entry, active: 1 })
    host.newInterfaces = undefined
  }
  return startTask(world, host, 'srvreload', 'networking', call.who.id, (work) => work.pass(world.timing.shortTaskMs))
}

import { may } from '../../world/access.ts'
import { startTask } from '../../world/tasks.ts'
import type { Host } from '../../world/types.ts'
import { badParameter, failed } from '../api-error.ts'
import { Answer, type Call, hostOf, param, type Routes } from '../call.ts'
import { deletions } from './collection.ts'
import { checkInterfaces, portParameter, portsOf } from './network-check.ts'
import { fields, textOf } from './shelf.ts'

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
    const found = written(hostOf(call)).get(param(call, 'iface'))
    if (found === undefined) throw badParameter('iface', 'interface does not exist')
    return found
  },
  [`PUT ${AT}/{iface}`]: update,
  [`DELETE ${AT}/{iface}`]: (call) => {
    const host = hostOf(call)
    const iface = param(call, 'iface')
    if (!written(host).has(iface)) throw badParameter('iface', 'interface does not exist')
    const rest = new Map(written(host))
    rest.delete(iface)
    write(host, rest)
    return null
  },
}

/** What is in the file, loaded or not. */
function written(host: Host): Map<string, Record<string, unknown>> {
  return host.newInterfaces ?? host.interfaces
}

/** Changes go to a second file until somebody loads it. What does not fit together is not written at all. */
function write(host: Host, all: Map<string, Record<string, unknown>>): void {
  checkInterfaces(all)
  host.newInterfaces = all
}

function list(call: Call): unknown {
  const host = hostOf(call)
  const { type } = call.params
  const rows = [...written(host)]
    .map(([iface, entry]): Record<string, unknown> => ({ iface, ...entry }))
    .filter((row) => row.type !== 'bridge' || usesBridge(call, String(row.iface)))
    .filter((row) => type === undefined || row.type === type || (/bridge/.test(type) && row.type === 'bridge'))
  if (host.newInterfaces === undefined) return rows
  return new Answer(rows, { changes: '--- /etc/network/interfaces\n+++ /etc/network/interfaces.new\n' })
}

/** Bridges are shown to those who may use or see them; cards to everybody. */
function usesBridge(call: Call, iface: string): boolean {
  const path = `/sdn/zones/localnetwork/${iface}`
  return may(call.world, call.who, path, 'SDN.Use') || may(call.world, call.who, path, 'SDN.Audit')
}

function create(call: Call): null {
  const host = hostOf(call)
  const iface = param(call, 'iface')
  if (written(host).has(iface)) throw badParameter('iface', 'interface already exists')
  const entry = fields(call, 'iface')
  refuseConflicts(host, iface, entry)
  if (textOf(entry.type).startsWith('OVS'))
    throw failed("Open VSwitch is not installed (need package 'openvswitch-switch')")
  const all = new Map(written(host))
  all.set(iface, asRead(iface, entry, all.size + 3))
  write(host, all)
  return null
}

/** What is not sent stays as it is, but for addresses: they are there only as long as they are sent. */
function update(call: Call): null {
  const host = hostOf(call)
  const iface = param(call, 'iface')
  const before = written(host).get(iface)
  if (before === undefined) throw badParameter('iface', 'interface does not exist')
  const entry = fields(call, 'iface')
  refuseConflicts(host, iface, entry)
  const kept: Record<string, unknown> = { ...before }
  for (const name of [...ADDRESSES, ...deletions(call)]) delete kept[name]
  // VLANs belong to a bridge that knows of them.
  if (deletions(call).includes('bridge_vlan_aware')) delete kept.bridge_vids
  const all = new Map(written(host))
  all.set(iface, asRead(iface, { ...kept, ...entry }, Number(before.priority ?? all.size + 3)))
  write(host, all)
  return null
}

const ADDRESSES = ['address', 'netmask', 'cidr', 'gateway', 'address6', 'netmask6', 'cidr6', 'gateway6']

function refuseConflicts(host: Host, iface: string, entry: Record<string, unknown>): void {
  const others = [...written(host)].filter(([name]) => name !== iface)
  for (const [name, title] of [
    ['gateway', 'Default gateway'],
    ['gateway6', 'Default ipv6 gateway'],
  ] as const) {
    const taken = entry[name] === undefined ? undefined : others.find(([, other]) => other[name] !== undefined)
    if (taken !== undefined) throw badParameter(name, `${title} already exists on interface '${taken[0]}'.`)
  }
  const wanted = portsOf(entry)
  for (const [name, other] of others) {
    const port = portsOf(other).find((one) => wanted.includes(one))
    if (port !== undefined) throw badParameter(portParameter(entry), `${port} is already used on interface '${name}'.`)
  }
  for (const six of ['', '6']) {
    if (entry[`cidr${six}`] === undefined) continue
    for (const name of [`address${six}`, `netmask${six}`])
      if (entry[name] !== undefined) throw badParameter(name, `${name} conflicts with cidr${six}`)
  }
}

/** An entry as it comes back from the file. */
function asRead(iface: string, given: Record<string, unknown>, priority: number): Record<string, unknown> {
  const entry = { ...given }
  const placed = (six: '' | '6') => {
    const [address, netmask] = textOf(entry[`cidr${six}`]).split('/')
    if (address !== undefined && address !== '' && netmask !== undefined) {
      entry[`address${six}`] = address
      entry[`netmask${six}`] = six === '' ? netmask : Number(netmask)
    } else if (entry[`address${six}`] !== undefined && entry[`netmask${six}`] !== undefined)
      entry[`cidr${six}`] = `${textOf(entry[`address${six}`])}/${textOf(entry[`netmask${six}`])}`
    return entry[`address${six}`] !== undefined
  }
  const [four, six] = [placed(''), placed('6')]
  // Whatever is sent for it, the file says yes.
  if (entry.bridge_vlan_aware !== undefined) entry.bridge_vlan_aware = 1
  // A name can say both card and number; then the file says neither, and reading it says both.
  const [, card, number] = /^(?:(\S+)\.|vlan)(\d+)$/.exec(iface) ?? []
  if (entry.type === 'vlan' && card !== undefined) entry['vlan-raw-device'] = card
  if (entry.type === 'vlan') entry['vlan-id'] = number ?? textOf(entry['vlan-id'])
  return {
    priority,
    ...(entry.type === 'bridge' ? { bridge_ports: '', bridge_stp: 'off', bridge_fd: '0' } : {}),
    ...(entry.bridge_vlan_aware === undefined ? {} : { bridge_vids: '2-4094' }),
    ...entry,
    method: four ? 'static' : 'manual',
    method6: six ? 'static' : 'manual',
    families: four && six ? ['inet', 'inet6'] : six ? ['inet6'] : ['inet'],
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

import { may } from '../../world/access.ts'
import { startTask } from '../../world/tasks.ts'
import type { Host } from '../../world/types.ts'
import { badParameter } from '../api-error.ts'
import { Answer, type Call, hostOf, param, type Routes } from '../call.ts'
import { fields } from './shelf.ts'

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
  [`PUT ${AT}/{iface}`]: (call) => {
    const host = hostOf(call)
    if (!written(host).has(param(call, 'iface'))) throw badParameter('iface', 'interface does not exist')
    change(host).set(param(call, 'iface'), completed(host, call))
    return null
  },
  [`DELETE ${AT}/{iface}`]: (call) => {
    const host = hostOf(call)
    if (!written(host).has(param(call, 'iface'))) throw badParameter('iface', 'interface does not exist')
    change(host).delete(param(call, 'iface'))
    return null
  },
}

/** What is in the file, loaded or not. */
function written(host: Host): Map<string, Record<string, unknown>> {
  return host.newInterfaces ?? host.interfaces
}

/** Changes go to a second file until somebody loads it. */
function change(host: Host): Map<string, Record<string, unknown>> {
  host.newInterfaces ??= new Map(host.interfaces)
  return host.newInterfaces
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
  change(host).set(iface, completed(host, call))
  return null
}

function completed(host: Host, call: Call): Record<string, unknown> {
  const entry = fields(call, 'iface')
  const [address, netmask] = (call.params.cidr ?? '').split('/')
  const bridge = entry.type === 'bridge' ? { bridge_ports: '', bridge_stp: 'off', bridge_fd: '0' } : {}
  // Whatever is sent for it, the file says yes.
  if (entry.bridge_vlan_aware !== undefined) entry.bridge_vlan_aware = 1
  const aware = entry.bridge_vlan_aware === undefined ? {} : { bridge_vids: '2-4094' }
  return {
    method: entry.cidr === undefined ? 'manual' : 'static',
    method6: 'manual',
    families: ['inet'],
    priority: written(host).size + 3,
    ...bridge,
    ...aware,
    ...(netmask === undefined ? {} : { address, netmask }),
    ...entry,
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

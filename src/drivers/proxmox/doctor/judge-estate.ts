import type { Resource, Survey } from '../../../model/resource.ts'
import { type Check, check } from '../../port.ts'
import { isRecord, nameOf, recordsOf } from '../foreign.ts'
import { proxmoxRules as rules } from '../rules.ts'
import { type HeldPrivileges, heldAt } from './held.ts'

/** Judges the declared hosts and storages by the rules that stop a creation. */
export function judgePlaces(resources: readonly Resource[], survey: Survey): readonly Check[] {
  const obstacles = new Map<string, { allow: string; keys: string[] }>()
  const stopped = new Set<string>()
  for (const resource of resources) {
    for (const { message, allow } of rules.obstacles(resource, survey)) {
      stopped.add(resource.key)
      const known = obstacles.get(message)
      if (known === undefined) obstacles.set(message, { allow, keys: [resource.key] })
      else known.keys.push(resource.key)
    }
  }
  const checks = [...obstacles].map(([message, { allow, keys }]): Check => {
    const host = /^(?:host|there is no host) /.test(message)
    return check('wrong', host ? 'hosts' : 'storages', host ? 'host-missing' : 'storage-unfit', message, {
      details: [`for ${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}`],
      fix: [allow],
    })
  })
  const hosts = hostsOf(resources)
  const fine = checks.length === 0 && hosts.length > 0
  return fine
    ? [
        check('ok', 'hosts', 'hosts', `declared hosts are there: ${hosts.join(', ')}`),
        check('ok', 'storages', 'storages', 'declared storages are active and hold what is declared'),
      ]
    : checks
}

/** Returns every declared host, in order. */
export function hostsOf(resources: readonly Resource[]): readonly string[] {
  return [...new Set(resources.map((resource) => rules.hostOf(resource)).filter((host) => host !== ''))].sort()
}

/** Bridges by host, as declared. */
export function bridgesOf(resources: readonly Resource[]): ReadonlyMap<string, ReadonlySet<string>> {
  const wanted = new Map<string, Set<string>>()
  for (const { desired } of resources) {
    const guest = desired.type === 'vm' ? desired.vm : desired.type === 'container' ? desired.container : undefined
    for (const { bridge } of guest?.nics ?? [])
      if (guest !== undefined) wanted.set(guest.host, (wanted.get(guest.host) ?? new Set()).add(bridge))
  }
  return wanted
}

/** SDN networks with their zones, from `/cluster/sdn/vnets`. */
export function readZones(answer: unknown): ReadonlyMap<string, string> {
  const zones = new Map<string, string>()
  for (const entry of recordsOf(answer)) {
    const [vnet, zone] = [nameOf(entry.vnet), nameOf(entry.zone)]
    if (vnet !== undefined && zone !== undefined) zones.set(vnet, zone)
  }
  return zones
}

/**
 * Checks that the bridges exist: Proxmox creates a guest on a missing bridge, and only the start fails. It shows a
 * bridge only to users who may use it, so a hidden one without permission may well exist.
 */
export function judgeBridges(
  wanted: ReadonlyMap<string, ReadonlySet<string>>,
  networks: ReadonlyMap<string, unknown>,
  zones: ReadonlyMap<string, string>,
  held: HeldPrivileges,
): readonly Check[] {
  const checks: Check[] = []
  let seen = 0
  for (const [host, bridges] of wanted) {
    const answer = networks.get(host)
    if (!Array.isArray(answer)) continue
    const there = answer.filter(isRecord).flatMap((entry) => {
      const name = nameOf(entry.iface)
      return name !== undefined && /bridge/i.test(String(entry.type)) ? [name] : []
    })
    for (const bridge of bridges) {
      seen++
      if (there.includes(bridge) || zones.has(bridge)) continue
      const path = `/sdn/zones/localnetwork/${bridge}`
      const allowed = [...heldAt(held, path).keys()].some((privilege) => /^SDN\.(?:Use|Audit)$/.test(privilege))
      const missing = `there is no bridge ${bridge} on ${host}; it has ${there.sort().join(', ') || 'none'}`
      const unseen = `bridge ${bridge} on ${host} cannot be seen without SDN.Use on ${path}`
      const fix = `pvesh create /nodes/${host}/network --iface ${bridge} --type bridge && pvesh set /nodes/${host}/network`
      checks.push(
        allowed
          ? check('wrong', 'networks', 'bridge-missing', missing, { fix: [fix] })
          : check('warning', 'networks', 'bridge-unseen', unseen),
      )
    }
  }
  if (checks.length > 0 || seen === 0) return checks
  const names = [...new Set([...wanted.values()].flatMap((bridges) => [...bridges]))].sort()
  return [check('ok', 'networks', 'networks', `declared bridges are there: ${names.join(', ')}`)]
}

import { isIP } from 'node:net'
import type { Estate } from '../../model/estate.ts'
import type { Plan, PlanEntry } from '../../model/plan.ts'
import { type AddressUse, type Desired, guestIn, type ObservedResource, type Resource } from '../../model/resource.ts'
import type { Tree } from '../../model/vm.ts'
import type { World } from './world.ts'

/** Returns the fixed addresses that a guest declares. Addresses from DHCP are not known yet. */
export function fixedAddresses(desired: Desired): readonly string[] {
  if (desired.type === 'vm') {
    const { cloudInit, seed } = desired.vm
    const given = (cloudInit?.addresses ?? []).flatMap(({ v4, v6 }) => [v4, v6])
    return distinct([...given, ...inNetworkConfig(seed?.document.networkConfig)])
  }
  if (desired.type !== 'container') return []
  return distinct(desired.container.nics.flatMap(({ v4, v6 }) => [v4, v6]))
}

/** Returns machines that are about to be created or recreated with a fixed address. */
export function newWithAddress(plan: Plan, estate: Estate): readonly Resource[] {
  const making = new Set(plan.entries.filter(({ action }) => isMaking(action)).map(({ key }) => key))
  return estate.resources.filter(({ key, desired }) => making.has(key) && fixedAddresses(desired).length > 0)
}

/** Returns which guest has which address, by its configuration and its agent. */
export function addressesInUse(worlds: Iterable<World>): ReadonlyMap<string, ObservedResource> {
  const used = new Map<string, ObservedResource>()
  for (const world of worlds)
    for (const observed of world.guests.values())
      for (const address of addressesOf(observed)) if (!used.has(address)) used.set(address, observed)
  return used
}

/**
 * Refuses to create a machine with an address that is in use: both holders would become unreachable, with no visible
 * cause. Pure.
 */
export function refuseTakenAddresses(
  plan: Plan,
  estate: Estate,
  worlds: Iterable<World>,
  near: readonly AddressUse[] = [],
): Plan {
  const making = newWithAddress(plan, estate)
  if (making.length === 0) return plan
  const used = addressesInUse(worlds)
  const places = ownAddresses(estate)
  const made = new Set(making.map(({ key }) => key))
  const again = new Set(plan.entries.flatMap(({ key, action }) => (doingIn(action)?.do === 'replace' ? [key] : [])))
  const declared = new Map<string, string[]>()
  for (const { key, desired } of estate.resources)
    for (const address of fixedAddresses(desired)) declared.set(address, [...(declared.get(address) ?? []), key])
  const refused = new Map<string, PlanEntry['action']>()
  for (const { key, uid, desired, connection } of making) {
    for (const address of fixedAddresses(desired)) {
      const there = used.get(address)
      const other = (declared.get(address) ?? []).find((one) => one !== key && (!made.has(one) || one < key))
      const isOwn = there?.mark?.uid === uid && (again.has(key) || isStoppedElsewhere(there, connection))
      // A replaced machine answers until it is gone.
      const answers = isOwn && again.has(key) ? undefined : answering(address, desired, near)
      const who =
        there === undefined || isOwn ? (placeOf(places.get(address), key) ?? other ?? answers) : describe(there)
      if (who === undefined) continue
      refused.set(key, {
        do: 'refuse',
        guard: 'address-in-use',
        reason: `${address} is in use by ${who}`,
        allow: 'declare another address, or take that one away from it first',
      })
      break
    }
  }
  if (refused.size === 0) return plan
  return { ...plan, entries: plan.entries.map((one) => ({ ...one, action: refused.get(one.key) ?? one.action })) }
}

/** Reports whether it is the same machine at its former place, where it stays shut down until the new one is Ready. */
function isStoppedElsewhere({ connection, power, close }: ObservedResource, here: string): boolean {
  return connection !== here && (close?.power ?? power) === 'stopped'
}

/** Returns who uses the address on the network. A recreated machine keeps its cards, so its own lease is ignored. */
function answering(address: string, desired: Desired, near: readonly AddressUse[]): string | undefined {
  const guest = guestIn(desired)
  const cards = new Set((guest?.nics ?? []).flatMap(({ mac }) => mac?.toLowerCase() ?? []))
  return near.find((one) => one.address === address && !cards.has(one.hardware ?? ''))?.by
}

function isMaking(action: PlanEntry['action']): boolean {
  const doing = doingIn(action)
  return doing?.do === 'create' || doing?.do === 'replace'
}

function doingIn(action: PlanEntry['action']) {
  return action.do === 'wait' ? action.next : action
}

function describe({ type, externalId, name, host, power }: ObservedResource): string {
  const called = name === undefined ? '' : ` (${name})`
  const off = power === 'stopped' ? ', which is stopped' : ''
  return `${type === 'container' ? 'container' : 'VM'} ${externalId}${called} on ${host}${off}`
}

interface OwnPlace {
  readonly who: string
  /** Machines that themselves answer at that address: servers of a cluster whose API has no separate address. */
  readonly servers: readonly string[]
}

function placeOf(place: OwnPlace | undefined, key: string): string | undefined {
  return place?.servers.includes(key) === true ? undefined : place?.who
}

/** Returns the estate's own addresses: hypervisors, hosts, the APIs of clusters. */
function ownAddresses({ connections, clusters = [] }: Estate): ReadonlyMap<string, OwnPlace> {
  const found = new Map<string, OwnPlace>()
  for (const { name, endpoint, ssh, hosts, cluster } of connections) {
    const hostname = URL.canParse(endpoint) ? new URL(endpoint).hostname.replace(/^\[|\]$/g, '') : ''
    const servers = (cluster?.spec.servers ?? []).flatMap(({ machine }) => ('key' in machine ? [machine.key] : []))
    if (isIP(hostname) !== 0) found.set(hostname, { who: `the connection ${name}`, servers })
    for (const target of [...(ssh === undefined ? [] : [ssh]), ...Object.values(hosts ?? {})])
      if (isIP(target.address) !== 0) found.set(target.address, { who: `a host of ${name}`, servers: [] })
  }
  for (const { key, spec } of clusters) {
    const endpoint: unknown = spec.endpoint
    const vip = typeof endpoint === 'object' && endpoint !== null && 'vip' in endpoint ? endpoint.vip : undefined
    if (typeof vip === 'string') found.set(vip, { who: `the API of ${key}`, servers: [] })
  }
  return found
}

const CONFIG = /^(?:ipconfig|net)\d+$/

/** Returns the addresses in a guest's configuration, then those that its agent reports. */
export function addressesOf(observed: ObservedResource): readonly string[] {
  return distinct([...configuredAddresses(observed), ...(observed.close?.addresses ?? [])])
}

/** Returns the addresses that the hypervisor assigns to a guest, regardless of the system inside. */
export function configuredAddresses({ close }: ObservedResource): readonly string[] {
  const configured = Object.entries(close?.config ?? {}).flatMap(([name, value]) =>
    CONFIG.test(name) && typeof value === 'string' ? inOptions(value) : [],
  )
  return distinct(configured)
}

/** `ip=192.168.4.20/24,gw=192.168.4.1` */
function inOptions(text: string): readonly string[] {
  return text.split(',').flatMap((part) => (/^ip6?=/.test(part) ? [part.slice(part.indexOf('=') + 1)] : []))
}

/** Collects all `addresses` in cloud-init's network configuration, which nests them by network card. */
function inNetworkConfig(tree: Tree | undefined): readonly string[] {
  if (tree === undefined || tree === null || typeof tree !== 'object') return []
  if (Array.isArray(tree)) return tree.flatMap((one: Tree) => inNetworkConfig(one))
  return Object.entries(tree).flatMap(([name, value]) => {
    if (name === 'nameservers' || name === 'routes') return []
    if (name === 'addresses' && Array.isArray(value))
      return value.filter((one: Tree): one is string => typeof one === 'string')
    return inNetworkConfig(value)
  })
}

/** Returns the distinct addresses without their prefix; other values (`dhcp`, `auto`) are dropped. */
function distinct(given: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(given.flatMap((one) => (one === undefined ? [] : [one.split('/')[0] ?? ''])))].filter(
    (address) => isIP(address) !== 0,
  )
}

import type { Guest, World } from '../../../world/types.ts'
import type { Call } from '../../call.ts'
import { haId } from '../guest/guest-rows.ts'
import { type Thing, textOf } from '../shelf.ts'
import { haEntry } from './resources.ts'
import { resourcesOf } from './rule-checks.ts'

interface Blocking {
  readonly sid: string
  readonly cause: 'resource-affinity'
}

/** What the manager would take along with a guest, and whom it meets on which host that must not be beside it. */
interface Motion {
  readonly dependent: readonly string[]
  readonly blocking: ReadonlyMap<string, readonly Blocking[]>
}

/** Where a guest could go as far as the manager is concerned, under the names that each sort of guest has for it. */
export function destinations(call: Call, guest: Guest, allowed: string, not: string): Record<string, unknown> {
  const motion = motionOf(call.world, guest)
  const others = [...call.world.hosts.keys()].filter((name) => name !== guest.node)
  const kept = others.filter((name) => motion?.blocking.has(name) === true)
  return {
    [allowed]: others.filter((name) => !kept.includes(name)),
    [not]: Object.fromEntries(kept.map((name) => [name, { 'blocking-ha-resources': motion?.blocking.get(name) }])),
    ...(motion === undefined ? {} : { 'dependent-ha-resources': motion.dependent }),
  }
}

/** Undefined: the manager does not look after it. What the manager is to ignore counts on neither side. */
function motionOf(world: World, guest: Guest): Motion | undefined {
  const entry = haEntry(world, guest)
  if (entry === undefined) return undefined
  if (isIgnored(entry)) return { dependent: [], blocking: new Map() }
  const keeps = world.shelves.get('ha/resources') ?? new Map<string, Thing>()
  const others = (affinity: string) => {
    const found = withAffinity(world, affinity, haId(guest))
    return [...found].filter((sid) => keeps.has(sid) && !isIgnored(keeps.get(sid))).sort()
  }
  const blocking = new Map<string, Blocking[]>()
  for (const sid of others('negative')) {
    const node = world.guests.get(Number(sid.slice(sid.indexOf(':') + 1)))?.node
    for (const host of world.hosts.values())
      if (host.power === 'on' && (node === undefined || node === host.name))
        blocking.set(host.name, [...(blocking.get(host.name) ?? []), { sid, cause: 'resource-affinity' }])
  }
  return { dependent: others('positive'), blocking }
}

function withAffinity(world: World, affinity: string, own: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const rule of world.shelves.get('ha/rules')?.values() ?? []) {
    if (rule.type !== 'resource-affinity' || rule.affinity !== affinity || rule.disable !== undefined) continue
    const named = resourcesOf(rule)
    if (named.includes(own)) for (const sid of named) if (sid !== own) found.add(sid)
  }
  return found
}

function isIgnored(entry: Thing | undefined): boolean {
  return textOf(entry?.state) === 'ignored'
}

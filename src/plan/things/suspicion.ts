import { visibilityOf } from '../../model/hypervisors.ts'
import type { Resource } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import { identify } from './identify.ts'
import type { Ledger, World } from './world.ts'

/** Why croft should not believe a connection's survey. */
export interface Suspicion {
  readonly message: string
  readonly allow: string
  /** It is about which system this is, and not about what is missing there. */
  readonly system?: 'other' | 'unknown'
}

/**
 * A lost permission looks exactly like an empty datacentre, so absence alone is no proof. A guest counts as gone only
 * if the system itself calls its id free and most of the previous things still exist.
 */
export function suspect(
  resources: readonly Resource[],
  rulesOf: (resource: Resource) => Rules | undefined,
  world: World,
  ledger: Ledger,
): Suspicion | undefined {
  if (world.survey === undefined) return undefined
  const visibility = visibilityOf(world.connection.driver)
  let known = 0
  const absent: string[] = []
  const hidden: string[] = []
  for (const resource of resources) {
    const rules = resource.connection === world.connection.name ? rulesOf(resource) : undefined
    if (rules === undefined || !rules.keeps(resource) || rules.listOf(resource) !== undefined) continue
    const record = ledger.records.get(resource.key)
    const seenBefore = record?.seenMs !== undefined && record.externalId !== undefined
    if (seenBefore) known++
    const identity = identify(resource, rules, world, ledger)
    if (identity.is !== 'absent') continue
    if (seenBefore) absent.push(resource.key)
    const id = rules.declaredId(resource) ?? record?.externalId
    if (id !== undefined && world.probes.get(id) === 'taken') hidden.push(`${resource.key} (id ${id})`)
  }
  if (hidden.length > 0) {
    return {
      message: `${list(hidden)} cannot be seen on ${world.connection.name}, yet its id is taken: the token sees less than is there`,
      allow: `${visibility}, or free the id`,
    }
  }
  const unknown = ledger.fresh
    ? [...world.probes].find(([id, state]) => state === 'taken' && !world.guests.has(id))
    : undefined
  if (unknown !== undefined) {
    return {
      message: `id ${unknown[0]} on ${world.connection.name} is taken by something that the token cannot see, and with a new store it may be ours`,
      allow: visibility,
    }
  }
  if (absent.length > Math.max(1, Math.floor(known / 2))) {
    return {
      message: `${absent.length} of ${known} machines that were on ${world.connection.name} are gone at once: ${list(absent)}`,
      allow: `${visibility}, and check that the endpoint is the right one; if they are really gone, say so in Git with an Approval that lists ${world.connection.name} under absence`,
    }
  }
  return undefined
}

function list(names: readonly string[]): string {
  return names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`
}

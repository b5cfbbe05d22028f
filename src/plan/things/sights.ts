import type { Estate } from '../../model/estate.ts'
import type { IdRange } from '../../model/grant.ts'
import type { ResourceKey } from '../../model/key.ts'
import type { Rules } from '../../model/rules.ts'
import { allocateIds } from './allocate.ts'
import { type Identity, identify } from './identify.ts'
import { renames } from './renames.ts'
import type { Ledger, World } from './world.ts'

export interface SightInput {
  readonly estate: Estate
  /** By connection name. */
  readonly worlds: ReadonlyMap<string, World>
  readonly ledger: Ledger
  /** The pure rules of each driver, by driver name. */
  readonly rules: ReadonlyMap<string, Rules>
}

export interface Sight {
  readonly identity: Identity
  readonly allocatedId: string | undefined
}

/** Which thing each resource is, and under which id it would be made if it is not there. */
export function sightings(input: SightInput): ReadonlyMap<ResourceKey, Sight> {
  const renamed = renames(input.estate, input.worlds, input.ledger)
  const sights = new Map<ResourceKey, Sight>()
  const wanting = new Map<string, ResourceKey[]>()
  const declared = new Map<string, Set<string>>()
  const ranges = new Map<ResourceKey, IdRange>()
  for (const resource of input.estate.resources) {
    if (resource.bounds?.ids !== undefined) ranges.set(resource.key, resource.bounds.ids)
    const world = input.worlds.get(resource.connection)
    const rules = input.rules.get(resource.driver)
    if (world === undefined || rules === undefined) continue
    if (!rules.keeps(resource)) {
      sights.set(resource.key, { identity: { is: 'unknown' }, allocatedId: undefined })
      continue
    }
    const id = rules.declaredId(resource)
    const rename = renamed.get(resource.key)
    const identity: Identity =
      rename === undefined
        ? identify(resource, rules, world, input.ledger)
        : { is: 'adoptable', sighting: rename.sighting }
    sights.set(resource.key, { identity, allocatedId: undefined })
    if (id !== undefined) setOf(declared, resource.connection).add(id)
    if (identity.is === 'absent' && id === undefined && rules.choosesId(resource)) {
      const keys = wanting.get(resource.connection)
      if (keys === undefined) wanting.set(resource.connection, [resource.key])
      else keys.push(resource.key)
    }
  }
  for (const [connection, keys] of wanting) {
    const world = input.worlds.get(connection)
    if (world === undefined) continue
    const ids = allocateIds(keys, setOf(declared, connection), world, input.ledger, (key) => ranges.get(key))
    for (const [key, id] of ids) sights.set(key, { identity: { is: 'absent' }, allocatedId: id })
  }
  return sights
}

function setOf(sets: Map<string, Set<string>>, name: string): Set<string> {
  const found = sets.get(name)
  if (found !== undefined) return found
  const made = new Set<string>()
  sets.set(name, made)
  return made
}

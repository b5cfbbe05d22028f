import type { Need, PrivilegeSet } from './need.ts'

/** Privileges by path: the access list that exactly meets all needs. */
export type Grants = ReadonlyMap<string, ReadonlySet<string>>

/** A role with its paths. */
export interface GrantedRole {
  readonly id: string
  readonly privileges: readonly string[]
  readonly paths: readonly string[]
}

/**
 * Returns the fewest privileges that meet the needs. Guests without a pool get them on `/vms`: an entry for a single
 * guest is deleted with the guest, and the next one of that number could not be created.
 */
export function grantsOf(needs: readonly Need[]): Grants {
  const grants = new Map<string, Set<string>>()
  const add = (one: PrivilegeSet) => {
    const path = grants.has(one.path) ? one.path : placeOf(one)
    const held = grants.get(path) ?? new Set()
    for (const privilege of one.privileges) held.add(privilege)
    grants.set(path, held)
  }
  // Needs with a single way come first, since they may meet others. Needs with two possible places come last.
  const movable = ({ ways }: Need) => ways.some(({ place }) => place !== undefined)
  const ordered = needs.toSorted((a, b) => Number(movable(a)) - Number(movable(b)) || a.ways.length - b.ways.length)
  for (const { ways } of ordered) {
    const [least] = ways
    if (least !== undefined && !ways.some((one) => isMet(one, grants))) add(least)
  }
  return inherited(grants)
}

/** Returns one role per set of privileges, named after the first place that gets it. */
export function rolesOf(grants: Grants, prefix: string): readonly GrantedRole[] {
  const bySet = new Map<string, { privileges: readonly string[]; paths: string[] }>()
  for (const [path, held] of [...grants].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const privileges = [...held].sort()
    const known = bySet.get(privileges.join(' '))
    if (known === undefined) bySet.set(privileges.join(' '), { privileges, paths: [path] })
    else known.paths.push(path)
  }
  const taken = new Map<string, number>()
  return [...bySet.values()].map((role) => {
    const name = `${prefix}-${role.paths[0]?.split('/')[1] || 'root'}`
    const count = (taken.get(name) ?? 0) + 1
    taken.set(name, count)
    return { ...role, id: count === 1 ? name : `${name}-${count}` }
  })
}

/** Rights at `/` apply to that path alone: otherwise they would apply everywhere. */
export function propagates(path: string): boolean {
  return path !== '/'
}

/** Returns the path for a right. */
export function placeOf({ path, place }: PrivilegeSet): string {
  return place ?? (path.startsWith('/vms/') ? '/vms' : path)
}

function isMet(one: PrivilegeSet, grants: Grants): boolean {
  const held = grants.get(one.path) ?? grants.get(placeOf(one))
  return held !== undefined && one.privileges.every((privilege) => held.has(privilege))
}

/** Rights on a deeper path replace inherited ones, so deeper entries must repeat them. */
function inherited(grants: ReadonlyMap<string, Set<string>>): Grants {
  const result = new Map<string, ReadonlySet<string>>()
  for (const [path, held] of grants) {
    const all = new Set(held)
    for (const [above, more] of grants) {
      if (propagates(above) && path.startsWith(`${above}/`)) for (const privilege of more) all.add(privilege)
    }
    result.set(path, all)
  }
  return result
}

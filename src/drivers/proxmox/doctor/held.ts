import { isRecord } from '../foreign.ts'
import type { Grants } from './grants.ts'
import type { Need, PrivilegeSet } from './need.ts'

/** Privileges by path, each with whether it applies below. */
export type HeldPrivileges = ReadonlyMap<string, ReadonlyMap<string, boolean>>

/** Parses an answer of `/access/permissions`: `{"/vms": {"VM.Audit": 1}}`, where 0 means "here and not below". */
export function readHeld(...answers: readonly unknown[]): HeldPrivileges {
  const held = new Map<string, Map<string, boolean>>()
  for (const answer of answers) {
    if (!isRecord(answer)) continue
    for (const [path, privileges] of Object.entries(answer)) {
      if (!isRecord(privileges)) continue
      held.set(path, new Map(Object.entries(privileges).map(([name, below]) => [name, Number(below) === 1])))
    }
  }
  return held
}

/** Returns the rights at a path: its own, or else inherited from the nearest parent. */
export function heldAt(held: HeldPrivileges, path: string): ReadonlyMap<string, boolean> {
  const own = held.get(path)
  if (own !== undefined) return own
  for (let at = parentOf(path); at !== undefined; at = parentOf(at)) {
    const above = held.get(at)
    if (above !== undefined) return new Map([...above].filter(([, below]) => below))
  }
  return new Map()
}

export interface Missing {
  readonly need: Need
  /** The way with the fewest privileges, and the missing ones. */
  readonly way: PrivilegeSet
  readonly privileges: readonly string[]
}

/** Returns unmet needs, without those that only root can meet: no privilege helps there. */
export function missingOf(needs: readonly Need[], held: HeldPrivileges): readonly Missing[] {
  return needs.flatMap((need) => {
    const [least] = need.ways
    if (least === undefined || need.ways.some((one) => absentOf(one, held).length === 0)) return []
    return [{ need, way: least, privileges: absentOf(least, held) }]
  })
}

export interface Surplus {
  readonly path: string
  readonly privileges: readonly string[]
}

/** Returns unneeded privileges by path, without paths that only inherit. */
export function surplusOf(grants: Grants, held: HeldPrivileges): readonly Surplus[] {
  const found: Surplus[] = []
  for (const path of [...held.keys()].sort()) {
    const needed = neededAround(path, grants)
    const privileges = [...(held.get(path)?.keys() ?? [])]
      .filter((privilege) => matters(privilege, path) && !needed.has(privilege))
      .sort()
    const above = found.filter((other) => other.path === '/' || path.startsWith(`${other.path}/`))
    const fresh = privileges.filter((privilege) => !above.some((other) => other.privileges.includes(privilege)))
    if (fresh.length > 0) found.push({ path, privileges: fresh })
  }
  return found
}

/** The places where a privilege of this family matters. A right on a storage says nothing about a host. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  VM: ['/vms', '/pool'],
  Datastore: ['/storage', '/pool'],
  Pool: ['/pool'],
  SDN: ['/sdn'],
  Mapping: ['/mapping'],
  Sys: ['/nodes', '/access'],
  User: ['/access'],
  Group: ['/access'],
  Realm: ['/access'],
}

function matters(privilege: string, path: string): boolean {
  const places = PLACES[privilege.split('.', 1)[0] ?? '']
  return path === '/' || places === undefined || places.some((place) => path === place || isBelow(path, place))
}

/** Returns the privileges needed at a path, above it or below it; a guest also has those of its pool. */
function neededAround(path: string, grants: Grants): ReadonlySet<string> {
  const needed = new Set<string>()
  const guest = path.startsWith('/vms/')
  for (const [place, privileges] of grants) {
    // Rights on the root apply there alone.
    const related = place === path || isBelow(place, path) || (place !== '/' && isBelow(path, place))
    if (related || (guest && place.startsWith('/pool/'))) for (const privilege of privileges) needed.add(privilege)
  }
  return needed
}

function isBelow(path: string, above: string): boolean {
  return above === '/' ? path !== '/' : path.startsWith(`${above}/`)
}

function absentOf({ path, privileges, below }: PrivilegeSet, held: HeldPrivileges): readonly string[] {
  const here = heldAt(held, path)
  return privileges.filter((privilege) => here.get(privilege) === undefined || (below && here.get(privilege) === false))
}

function parentOf(path: string): string | undefined {
  if (path === '/') return undefined
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

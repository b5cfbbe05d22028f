import type { FieldProblem } from '../kinds/kind.ts'
import { nearest } from '../lib/nearest.ts'
import type { Declaration, ResourceKey } from '../model/declaration.ts'
import type { Resource } from '../model/resource.ts'

/** The possible dependencies, and the implicit needs of each thing. */
export interface Dependable {
  readonly declarations: readonly Declaration[]
  /** Declarations that were refused: their dependents wait until they are corrected. */
  readonly unreadable: readonly ResourceKey[]
  /** The resources that each declaration expands into. */
  readonly thingsOf: ReadonlyMap<ResourceKey, readonly ResourceKey[]>
  /** The machines of each cluster. A dependency on a cluster needs all of them. */
  readonly clusters: ReadonlyMap<ResourceKey, readonly ResourceKey[]>
}

/** Returns the place in the manifest that declares a dependency. */
type PlaceOf = (declaration: Declaration, index: number) => FieldProblem['path']

export interface DependencyProblem {
  readonly declaration: Declaration
  readonly problem: FieldProblem
}

/** Returns problems for unknown names and cycles. A dependency in a cycle is ignored. */
export function dependencyProblems(
  resources: readonly Pick<Resource, 'key' | 'needs'>[],
  among: Dependable,
  placeOf: PlaceOf,
): readonly DependencyProblem[] {
  const ordered = among.declarations.filter(({ policy }) => policy.after !== undefined)
  if (ordered.length === 0) return []
  const known = new Set([...among.declarations.map(({ key }) => key), ...among.unreadable])
  const edges = edgesOf(resources, among)
  return ordered.flatMap((declaration) =>
    (declaration.policy.after ?? []).flatMap((key, index): readonly DependencyProblem[] => {
      const path = placeOf(declaration, index)
      if (!known.has(key))
        return [{ declaration, problem: { code: 'unknown-dependency', path, ...unknown(key, known) } }]
      const way = wayBack(key, declaration.key, edges)
      if (way === undefined) return []
      const message = `${[declaration.key, ...way].join(' waits for ')}: a dependency cycle`
      return [{ declaration, problem: { code: 'dependency-circle', path, message, hint: 'take one of them out' } }]
    }),
  )
}

/** Adds the declared dependencies to the resources' needs. */
export function withDependencies(
  resources: readonly Resource[],
  afterOf: ReadonlyMap<ResourceKey, readonly ResourceKey[]>,
  { thingsOf, clusters, unreadable }: Pick<Dependable, 'thingsOf' | 'clusters' | 'unreadable'>,
): readonly Resource[] {
  const whole = new Set([...clusters.keys(), ...unreadable])
  return resources.map((resource) => {
    const after = afterOf.get(resource.key) ?? []
    if (after.length === 0) return resource
    const things = after.flatMap((key) => (whole.has(key) ? [key] : (thingsOf.get(key) ?? [])))
    const more = [...new Set(things)].filter((key) => key !== resource.key && !resource.needs.includes(key))
    return { ...resource, needs: [...resource.needs, ...more], policy: { ...resource.policy, after } }
  })
}

function unknown(key: ResourceKey, known: ReadonlySet<ResourceKey>): Pick<FieldProblem, 'message' | 'hint'> {
  const message = `nothing declares ${key}`
  const kind = key.slice(0, key.indexOf('/') + 1)
  const meant = nearest(
    key,
    [...known].filter((one) => one.startsWith(kind)),
  )
  return meant === undefined ? { message } : { message, hint: `did you mean ${meant}?` }
}

/** Returns which declaration waits for which, explicitly or implicitly. */
function edgesOf(
  resources: readonly Pick<Resource, 'key' | 'needs'>[],
  { declarations, thingsOf, clusters }: Dependable,
): ReadonlyMap<ResourceKey, ReadonlySet<ResourceKey>> {
  const edges = new Map<ResourceKey, Set<ResourceKey>>(
    declarations.map(({ key, policy }) => [key, new Set(policy.after ?? [])]),
  )
  const owners = new Map([...thingsOf].flatMap(([owner, things]) => things.map((thing) => [thing, owner] as const)))
  for (const { key, needs } of resources) {
    const owner = owners.get(key) ?? key
    for (const need of needs) {
      const on = owners.get(need) ?? need
      if (on !== owner) edges.get(owner)?.add(on)
    }
  }
  for (const [key, machines] of clusters)
    for (const machine of machines) {
      const on = owners.get(machine) ?? machine
      if (on !== key) edges.get(key)?.add(on)
    }
  return edges
}

/** Returns the shortest path along the edges, with both ends. */
function wayBack(
  from: ResourceKey,
  to: ResourceKey,
  edges: ReadonlyMap<ResourceKey, ReadonlySet<ResourceKey>>,
): readonly ResourceKey[] | undefined {
  const before = new Map<ResourceKey, ResourceKey | undefined>([[from, undefined]])
  const queue = [from]
  for (const key of queue) {
    if (key === to) {
      const way: ResourceKey[] = []
      for (let at: ResourceKey | undefined = key; at !== undefined; at = before.get(at)) way.unshift(at)
      return way
    }
    for (const next of edges.get(key) ?? []) {
      if (before.has(next)) continue
      before.set(next, key)
      queue.push(next)
    }
  }
  return undefined
}

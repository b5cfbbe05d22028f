import type { Kind } from '../kinds/kind.ts'
import type { ClusterSpec, NodeSpec } from '../model/cluster.ts'
import { ownerOf, type ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Plan } from '../model/plan.ts'
import { resolveKey } from './select.ts'
import { CliError } from './verb.ts'

/**
 * Returns the targets with their dependencies: the machines of a cluster, the objects of an add-on, the image of a
 * machine. Undefined without `--target`: everything.
 */
export function targetsIn(
  estate: Estate,
  plan: Plan,
  kinds: readonly Kind[],
  named: readonly string[],
): ReadonlySet<ResourceKey> | undefined {
  if (named.length === 0) return undefined
  const clusters = new Map((estate.clusters ?? []).map((cluster) => [cluster.key, cluster]))
  const powers = (estate.powers ?? []).map(({ key }) => key)
  const keys = [...estate.resources.map(({ key }) => key), ...plan.entries.map(({ key }) => key)]
  const known = [...new Set([...keys, ...keys.map(ownerOf), ...clusters.keys(), ...powers])]
  const chosen = new Set<ResourceKey>()
  const add = (key: ResourceKey) => {
    if (chosen.has(key)) return
    chosen.add(key)
    for (const node of nodesOf(clusters.get(key)?.spec)) if ('key' in node.machine) add(node.machine.key)
    for (const other of keys) if (ownerOf(other) === key) add(other)
    for (const { needs } of estate.resources.filter((resource) => resource.key === key))
      for (const need of needs) add(need)
  }
  for (const name of named) {
    const key = resolveKey(kinds, known, name, undefined)
    if (!known.includes(key))
      throw new CliError(`--target ${name}: nothing here is called that. Run croft get to see what there is.`)
    add(key)
  }
  return chosen
}

/** Every node of a cluster. */
function nodesOf(spec: ClusterSpec | undefined): readonly NodeSpec[] {
  return spec === undefined ? [] : [...spec.servers, ...spec.agents]
}

/** The part of a plan that is about these. */
export function narrowed(plan: Plan, only: ReadonlySet<ResourceKey> | undefined): Plan {
  if (only === undefined) return plan
  return {
    ...plan,
    entries: plan.entries.filter(({ key }) => only.has(key)),
    clusters: (plan.clusters ?? []).filter(({ declaration }) => only.has(declaration.key)),
    powers: (plan.powers ?? []).filter(({ declaration }) => only.has(declaration.key)),
  }
}

import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import type { Resource } from '../../model/resource.ts'
import { claimantOf } from '../../plan/things/left-key.ts'
import { CliError, UsageError } from '../verb.ts'

/** The things that `croft leave` releases. */
export interface LeaveScope {
  /** As a person writes it: `Cluster/home`, `everything`. */
  readonly what: string
  readonly clusters: readonly ClusterDeclaration[]
  readonly resources: readonly Resource[]
  /** Reports whether a mark with this owner is in scope, even if Git no longer declares the owner. */
  covers(owner: ResourceKey): boolean
}

/** Returns the scope of all declarations and all marks. */
export function wholeEstate(estate: Estate): LeaveScope {
  return { what: 'everything', clusters: estate.clusters ?? [], resources: estate.resources, covers: () => true }
}

/** Returns the scope of one thing and all made from its declaration; of a cluster also machines and objects. */
export function scopeOf(estate: Estate, key: ResourceKey): LeaveScope {
  const cluster = (estate.clusters ?? []).find((one) => one.key === key)
  if (cluster !== undefined) return clusterScope(estate, cluster)
  if (key.startsWith('Cluster/'))
    throw new CliError(
      `${key} is not declared, so the ways to its nodes are not known. Put its declaration back, then run croft leave ${key} again.`,
    )
  const member = (estate.clusters ?? []).find((one) => machinesOf(one).has(key))
  if (member !== undefined)
    throw new UsageError(
      `${key} is a node of ${member.key} and cannot be left alone. Run croft leave ${member.key} to leave the whole cluster.`,
    )
  const covers = (owner: ResourceKey) => claimantOf(owner) === key || ownerOf(owner) === key
  return { what: key, clusters: [], resources: estate.resources.filter((one) => covers(one.key)), covers }
}

function clusterScope({ resources }: Estate, cluster: ClusterDeclaration): LeaveScope {
  const machines = machinesOf(cluster)
  const isMeant = ({ key, desired }: Resource) =>
    machines.has(key) ||
    ownerOf(key) === cluster.key ||
    (desired.type === 'object' && desired.object.cluster === cluster.name)
  const chosen = resources.filter(isMeant)
  const keys = new Set(chosen.map(({ key }) => key))
  return {
    what: cluster.key,
    clusters: [cluster],
    resources: chosen,
    covers: (owner) => keys.has(owner) || machines.has(owner) || ownerOf(owner) === cluster.key,
  }
}

/** Machines that croft made for the nodes of a cluster. */
export function machinesOf({ spec }: Pick<ClusterDeclaration, 'spec'>): ReadonlySet<ResourceKey> {
  return new Set([...spec.servers, ...spec.agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : [])))
}

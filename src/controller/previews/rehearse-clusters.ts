import type { ResourceKey } from '../../model/declaration.ts'
import { type ClusterDeclaration, changedEstate, type Estate } from '../../model/estate.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { Survey } from '../../model/resource.ts'

/** Returns the versions of formed clusters with machines only: a twin has no boxes. */
function runningVersions({ clusters = [] }: Estate, looks: readonly ClusterPlan[]): ReadonlyMap<string, string> {
  const versions = new Map<string, string>()
  for (const { declaration, observed } of looks) {
    const declared = clusters.find(({ key }) => key === declaration.key)
    if (declared === undefined || observed.api !== 'yes' || !ofMachines(declared)) continue
    const running = observed.nodes.flatMap(({ kube }) => (typeof kube === 'object' ? [kube.version] : []))
    const [lowest] = running.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    if (lowest !== undefined) versions.set(declaration.key, lowest)
  }
  return versions
}

/**
 * Returns the estate that a twin starts from: the formed clusters in their present version. Undefined if there are
 * none. `keys` are theirs; their records do not apply in the twin. Pure.
 */
export function firstAct(
  estate: Estate,
  looks: readonly ClusterPlan[],
): { readonly estate?: Estate; readonly keys: ReadonlySet<ResourceKey> } {
  const versions = runningVersions(estate, looks)
  const standing = (one: Estate) =>
    (one.clusters ?? []).flatMap((cluster) => {
      const version = versions.get(cluster.key)
      return version === undefined ? [] : [withoutChecksums({ ...cluster, spec: { ...cluster.spec, version } })]
    })
  const keys = new Set(standing(estate).flatMap((one) => [one.key, ...machinesOf(one)]))
  if (keys.size === 0) return { keys }
  // Keep only these and mark the estate incomplete, so that others do not count as removed, even later.
  const stands = (one: Estate): Estate => ({
    ...one,
    clusters: standing(one),
    resources: one.resources.filter(({ key, desired }) => keys.has(key) || desired.type === 'file'),
    incomplete: true,
  })
  return { estate: changedEstate(estate, stands), keys }
}

/** The estate as it is rehearsed. The programs of the twin are not those of the world, nor are their checksums. Pure. */
export function secondAct(estate: Estate): Estate {
  return changedEstate(estate, (one) =>
    one.clusters === undefined ? one : { ...one, clusters: one.clusters.filter(ofMachines).map(withoutChecksums) },
  )
}

/** A survey without the machines that are nodes of clusters which stand: the twin makes them itself. Pure. */
export function withoutNodes(survey: Survey, estate: Estate, looks: readonly ClusterPlan[]): Survey {
  const { keys } = firstAct(estate, looks)
  const uids = new Set(estate.resources.flatMap(({ key, uid }) => (keys.has(key) ? [uid] : [])))
  return { ...survey, resources: survey.resources.filter(({ mark }) => mark === undefined || !uids.has(mark.uid)) }
}

function machinesOf({ spec }: ClusterDeclaration): readonly ResourceKey[] {
  return [...spec.servers, ...spec.agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : []))
}

function ofMachines(cluster: ClusterDeclaration): boolean {
  return machinesOf(cluster).length === cluster.spec.servers.length + cluster.spec.agents.length
}

function withoutChecksums(cluster: ClusterDeclaration): ClusterDeclaration {
  const { checksums: _, ...rest } = cluster
  return rest
}

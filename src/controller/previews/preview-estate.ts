import { isDeepStrictEqual } from 'node:util'
import type { Estate } from '../../model/estate.ts'

/**
 * Returns the estate of a pull request without new or changed ways to the world: everyone may open a pull request, and
 * a plan uses our tokens. A new or changed connection, cluster with boxes, or Power is not planned before it is merged;
 * its name is in `left`. Pure.
 */
export function withKnownWays(
  wanted: Estate,
  inForce: Estate,
): { readonly estate: Estate; readonly left: readonly string[] } {
  const clusters = wanted.clusters ?? []
  const strangeClusters = clusters.filter((cluster) => {
    const before = inForce.clusters?.find(({ name }) => name === cluster.name)
    // A cluster that is wholly new is made on connections that are judged for themselves.
    return !isDeepStrictEqual([[...cluster.hosts], cluster.proxy], [[...(before?.hosts ?? [])], before?.proxy])
  })
  const strange = new Set(strangeClusters.map(({ name }) => `cluster/${name}`))
  const connections = wanted.connections.filter((connection) => {
    if (strange.has(connection.name)) return false
    // A cluster's API name follows from its declaration, and its server must present the cluster's CA.
    if (connection.cluster !== undefined) return true
    return inForce.connections.some((one) => sameWay(one, connection))
  })
  const known = new Set(connections.map(({ name }) => name))
  const powers = (wanted.powers ?? []).filter((power) => {
    const before = inForce.powers?.find(({ name }) => name === power.name)
    return isDeepStrictEqual(withoutPlace(power), before === undefined ? undefined : withoutPlace(before))
  })
  const { powers: _powers, clusters: _clusters, ...rest } = wanted
  const keptClusters = clusters.filter((cluster) => !strangeClusters.includes(cluster))
  return {
    estate: {
      ...rest,
      connections,
      resources: wanted.resources.filter(({ connection }) => known.has(connection)),
      ...(keptClusters.length === 0 ? {} : { clusters: keptClusters }),
      ...(powers.length === 0 ? {} : { powers }),
      // Skipped connections are not removed ones.
      incomplete: wanted.incomplete || connections.length < wanted.connections.length,
    },
    left: [
      ...wanted.connections.filter(({ name }) => !known.has(name) && !strange.has(name)).map(({ name }) => name),
      ...strangeClusters.map(({ key }) => key),
      ...(wanted.powers ?? []).filter((power) => !powers.includes(power)).map(({ key }) => key),
    ],
  }
}

/** Written elsewhere in the file, or at another commit, it is the same. */
function sameWay<T extends { readonly origin: unknown }>(a: T, b: T): boolean {
  return isDeepStrictEqual(withoutPlace(a), withoutPlace(b))
}

function withoutPlace<T extends { readonly origin: unknown }>({ origin: _, ...rest }: T): Omit<T, 'origin'> {
  return rest
}

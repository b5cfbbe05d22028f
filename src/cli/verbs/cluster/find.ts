import type { ClusterDeclaration, Estate } from '../../../model/estate.ts'
import { stateOf } from '../../load.ts'

import type { Runtime } from '../../runtime.ts'
import { type ExitCode, type Options, UsageError } from '../../verb.ts'
import { loadForOperation } from '../machine/find.ts'

export interface FoundCluster {
  readonly cluster: ClusterDeclaration
  readonly estate: Estate
  readonly directory: string
  /** Its database. */
  readonly state: string
  /** What was said after the name of the cluster. */
  readonly words: readonly string[]
}

export type ClusterCommand = (runtime: Runtime, found: FoundCluster, options: Options) => Promise<ExitCode>

/** The cluster that a person means: by its name, by one of its nodes, or the only one there is. */
export async function findCluster(runtime: Runtime, words: readonly string[], options: Options): Promise<FoundCluster> {
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const clusters = estate.clusters ?? []
  const [first, ...rest] = words
  const named = clusters.find(({ name }) => name === first)
  const owner = clusters.find(({ spec }) => [...spec.servers, ...spec.agents].some(({ name }) => name === first))
  const cluster = named ?? owner ?? (clusters.length === 1 ? clusters[0] : undefined)
  if (cluster === undefined) {
    const known = clusters.map(({ name }) => name).join(', ')
    throw new UsageError(
      known === ''
        ? 'No cluster is declared here. Name the directory with --dir.'
        : `Name the cluster. Declared clusters: ${known}.`,
    )
  }
  const state = stateOf(runtime, real, options)
  return { cluster, estate, directory: real, state, words: named === undefined ? words : rest }
}

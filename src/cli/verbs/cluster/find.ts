import type { ClusterDeclaration, Estate } from '../../../model/estate.ts'
import { stateOf } from '../../load.ts'

import type { Runtime } from '../../runtime.ts'
import { type ExitCode, type Options, UsageError } from '../../verb.ts'
import { loadForOperation } from '../machine/find.ts'

export interface FoundCluster {
  readonly cluster: ClusterDeclaration
  readonly estate: Estate
  readonly directory: string
  /** The cluster's database. */
  readonly state: string
  /** The words after the cluster's name. */
  readonly words: readonly string[]
}

export type ClusterCommand = (runtime: Runtime, found: FoundCluster, options: Options) => Promise<ExitCode>

/** The cluster that a person means; `most` is how many words may come after its name. */
export async function findCluster(
  runtime: Runtime,
  words: readonly string[],
  options: Options,
  most = 0,
): Promise<FoundCluster> {
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const meant = meantCluster(estate.clusters ?? [], words, most)
  if ('problem' in meant) throw new UsageError(meant.problem)
  return { ...meant, estate, directory: real, state: stateOf(runtime, real, options) }
}

/**
 * Returns the cluster by its name, by one of its nodes, or the only one. A surplus word counts as an unknown name: a
 * command meant for another cluster must not run on this one. Pure.
 */
export function meantCluster<Cluster extends Pick<ClusterDeclaration, 'name' | 'spec'>>(
  clusters: readonly Cluster[],
  words: readonly string[],
  most: number,
): { readonly cluster: Cluster; readonly words: readonly string[] } | { readonly problem: string } {
  const [first, ...rest] = words
  const known = clusters.map(({ name }) => name).join(', ')
  if (known === '') return { problem: 'No cluster is declared here. Name the directory with --dir.' }
  const named = clusters.find(({ name }) => name === first)
  const owner = clusters.find(({ spec }) => [...spec.servers, ...spec.agents].some(({ name }) => name === first))
  const cluster = named ?? owner ?? (clusters.length === 1 ? clusters[0] : undefined)
  if (cluster === undefined)
    return {
      problem: `${first === undefined ? '' : `There is no cluster ${first}. `}Name the cluster. Declared clusters: ${known}.`,
    }
  // A node can have the name of its cluster, or be the command's argument.
  const after = named !== undefined || (owner !== undefined && words.length > most) ? rest : words
  if (after.length <= most) return { cluster, words: after }
  return {
    problem:
      named === undefined && owner === undefined
        ? `There is no cluster ${first}. Declared clusters: ${known}.`
        : `${after[most]} is one word too many after ${first}. Leave it out.`,
  }
}

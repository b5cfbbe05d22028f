import { closing } from '../../closing.ts'
import { openCluster } from '../../clusters/opened.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { clean } from '../../render/clean.ts'
import { openState } from '../../state.ts'
import { noteOperation } from '../machine/journal.ts'
import type { ClusterVerb } from './find.ts'

/** Reads CA and token back from a server that runs, where the record of a cluster was lost. */
export const recover: ClusterVerb = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const server = (options.from as string | undefined) ?? words[0]
  const servers = cluster.spec.servers.map(({ name }) => name)
  if (server === undefined || !servers.includes(server)) {
    throw new UsageError(`Name a server that runs with --from: ${servers.join(', ')}.`)
  }
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  // Only the ways into its nodes: a whole look would need the record that is missing.
  const surroundings = await opened.it.surroundings()
  const problem = await opened.it.operator.recover(server, surroundings, runtime.signal)
  if (problem !== undefined)
    throw new CliError(`${cluster.name} was not recovered: ${clean(problem)}. Try another server.`)
  await noteOperation(runtime, store.it, cluster.key, 'recover', 'done', `from ${server}`)
  runtime.out.write(`${cluster.key}: CA and token were read from ${server} and are kept again\n`)
  return EXIT.ok
}

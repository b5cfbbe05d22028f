import { closing } from '../../closing.ts'
import { openCluster } from '../../clusters/opened.ts'
import { CliError, EXIT } from '../../exit.ts'
import { openState } from '../../state.ts'
import { noteOperation } from '../machine/journal.ts'
import type { ClusterVerb } from './find.ts'

/** Prints what makes the cluster itself, encrypted, so that it can lie in Git and outlive this computer. */
export const escrow: ClusterVerb = async (runtime, { cluster, estate, directory, state }) => {
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const sealed = await opened.it.sealed()
  if (sealed === undefined) {
    throw new CliError(
      `There is nothing to keep of ${cluster.name} yet: its CA and token are made by the first croft apply.`,
    )
  }
  await noteOperation(runtime, store.it, cluster.key, 'escrow', 'done', 'printed, encrypted')
  runtime.out.write(sealed)
  runtime.err.write(
    `Keep it in the estate as escrow/${cluster.name}.cluster.age, and the age key where this computer is not.\n`,
  )
  return EXIT.ok
}

import { randomBytes } from 'node:crypto'
import { createKubernetesClient } from '../kubernetes/client.ts'
import { createGateKeeper } from '../operator/move/gate.ts'
import { MoveRefused, moveEstate } from '../operator/move/move.ts'
import { clusterIdentity } from '../operator/move/shards.ts'
import type { MoveStep } from '../operator/move/standing.ts'
import { estateUidOf } from '../plan/link.ts'
import { readMoveMark, removeMoveMark, writeMoveMark } from '../state/move-mark.ts'
import { holdAlone, realDirectory } from '../state/state-file.ts'
import { openNamedCluster, textOption } from './clusters/named-cluster.ts'
import { closing, loadOrStop, stateOf } from './load.ts'
import type { Runtime } from './runtime.ts'
import { CliError, EXIT, type Verb } from './verb.ts'

const DOING: Readonly<Record<MoveStep, string>> = {
  note: 'Noting next to the database that it is about to move',
  announce: 'Telling the replicas of the operator to do nothing',
  close: 'Closing the stores in the cluster',
  'copy-in': 'Copying records, effects in flight and the vault into the cluster',
  fence: 'Noting next to the database that it has moved',
  activate: 'Telling the replicas that the estate is theirs',
  open: 'Opening the stores in the cluster',
  leave: 'Telling the replicas to let go',
  'copy-out': 'Copying records, effects in flight and the vault into the database',
  retire: 'Telling the replicas that the estate is elsewhere',
  unfence: 'Opening the database',
}

/** `croft move-in` and `croft move-out`: who keeps an estate, its database or the operator in a cluster. */
export function moving(wanted: 'in' | 'out'): Verb {
  return async (runtime, [directory = '.'], options) => {
    const loaded = await loadOrStop(runtime, directory)
    const real = realDirectory(runtime, directory)
    const file = stateOf(runtime, real, options)
    const access = await openNamedCluster(runtime, textOption(options.kubeconfig), textOption(options.kubeContext))
    await using wire = closing(access.wire)
    const client = createKubernetesClient(wire.it)
    const home = textOption(options.namespace) ?? 'croft-system'
    const { there, here, open, openDatabase } = await storesOf(runtime, { client, home, directory: real, state: file })
    await using _alone = closing(await holdAlone(runtime, file, 'Stop it before its estate moves.'))
    await using database = closing(await openDatabase(file))
    try {
      await moveEstate(wanted, {
        client,
        home,
        signal: runtime.signal,
        cluster: await clusterIdentity(client),
        gate: createGateKeeper(client, home),
        mark: {
          read: () => readMoveMark(file),
          write: (mark) => writeMoveMark(file, mark),
          remove: () => removeMoveMark(file),
        },
        database: database.it,
        vaults: { here, there },
        declared: {
          estateUid: estateUidOf(loaded.declarations),
          keys: new Set(loaded.declarations.map(({ key }) => key)),
          clusters: (loaded.estate.clusters ?? []).map(({ name }) => name),
        },
        openStore: open,
        newId: () => randomBytes(8).toString('hex'),
        tell: (step) => runtime.err.write(`${DOING[step]}.\n`),
      })
    } catch (error) {
      throw explained(error, runtime, file, wanted)
    }
    runtime.out.write(
      wanted === 'in'
        ? `croft operator in the namespace ${home} keeps this estate now. From here on change its objects; croft move-out brings it back.\n`
        : `${file} keeps this estate again: croft apply and croft run work on it. The operator in ${home} does nothing any more.\n`,
    )
    return EXIT.ok
  }
}

async function storesOf(
  runtime: Runtime,
  place: {
    readonly client: ReturnType<typeof createKubernetesClient>
    readonly home: string
    readonly directory: string
    readonly state: string
  },
) {
  const { client, home: namespace, directory, state } = place
  const { openKubernetesStore, openKubernetesVault, openClusters, openMovedStore, random } = runtime
  if (
    openKubernetesStore === undefined ||
    openKubernetesVault === undefined ||
    openClusters === undefined ||
    openMovedStore === undefined
  )
    throw new CliError('This croft has no store for clusters.')
  return {
    openDatabase: openMovedStore,
    there: await openKubernetesVault({ client, namespace }),
    here: (await openClusters({ directory, state })).deps.vault,
    open: (one: { readonly name: string; readonly mover: string }) =>
      openKubernetesStore({ client, namespace, random, ...one }),
  }
}

/** Adds to an error who owns the estate now, and which command continues or reverts the move. */
function explained(error: unknown, runtime: Runtime, file: string, wanted: 'in' | 'out'): unknown {
  if (runtime.signal.aborted || !(error instanceof Error)) return error
  const mark = readMoveMark(file)
  const counts = mark === undefined || mark.phase === 'preparing'
  const owner = counts ? `The database ${file} still counts` : 'Nobody but the cluster may work on it'
  const back =
    mark === undefined
      ? ''
      : wanted === 'in'
        ? ' Run croft move-in again to go on, or croft move-out to turn back.'
        : ' Run croft move-out again to go on, or croft move-in to turn back.'
  const why = error instanceof MoveRefused ? error.message : `the move stopped: ${error.message}`
  return new CliError(`${why.charAt(0).toUpperCase()}${why.slice(1)}. ${owner}.${back}`)
}

import { readBackups } from '../../../engine/clusters/backups.ts'
import { BACKUP_MOUNT } from '../../../k3s/backup-flags.ts'
import { tokenHash } from '../../../k3s/token.ts'
import { type ClusterSpec, passwordsOf } from '../../../model/cluster.ts'
import type { ClusterSnapshot, ObservedCluster } from '../../../model/observed-cluster.ts'
import { validApprovals } from '../../../plan/approvals.ts'
import { planRestore } from '../../../plan/clusters/restore.ts'
import { openState } from '../../../state/state-file.ts'
import { openCluster } from '../../clusters/opened.ts'
import { closing } from '../../load.ts'
import { CliError, UsageError } from '../../verb.ts'
import type { ClusterCommand } from './find.ts'
import { operate } from './operate.ts'
import { type SnapshotFile, snapshotFiles, tokenHashIn } from './snapshots.ts'

/** Restores a cluster from a snapshot, by the documented way for several servers. */
export const restore: ClusterCommand = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const [wanted] = words
  if (wanted === undefined) throw new UsageError(`Name the snapshot; croft cluster backup ${cluster.name} lists them.`)
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { observed, surroundings } = await opened.it.look()
  const secrets = await opened.it.secrets()
  const kept = secrets === undefined ? [] : passwordsOf(secrets).map((one) => tokenHash(one.reveal()))
  const files = await snapshotFiles(surroundings, runtime.signal)
  const asked = options.server as string | undefined
  const remembered = await readBackups(store.it, cluster.name)
  const file =
    files.find(
      ({ name, path, server }) => (name === wanted || path === wanted) && (asked === undefined || asked === server),
    ) ?? sharedFile(cluster.spec, observed, remembered, wanted, asked)
  if (file === undefined) {
    throw new CliError(
      `No server that answers has ${wanted}${asked === undefined ? '' : ` (asked: ${asked})`}. Run croft cluster backup ${cluster.name} to see what there is.`,
    )
  }
  const known = observed.snapshots === 'unknown' ? remembered : [...observed.snapshots, ...remembered]
  const noted = known.find(({ name, tokenHash: hash }) => name === file.name && hash !== undefined)?.tokenHash
  const hash = (await tokenHashIn(surroundings, file, runtime.signal)) ?? noted
  const operation = planRestore(cluster.spec, observed, kept, {
    snapshot: file.name,
    path: file.path,
    server: file.server,
    presentToken: options.presentToken === true,
    keepNothing: options.snapshot === false,
    policy: cluster.policy,
    approved: validApprovals(estate, runtime.clock.now()).some(({ restores }) => restores?.includes(cluster.key)),
    ...(hash === undefined ? {} : { tokenHash: hash }),
  })
  return await operate(runtime, store.it, opened.it, operation, options)
}

/**
 * Returns a backup on a network share if no server is left to list it: any server mounts the share when it gets its
 * configuration.
 */
function sharedFile(
  spec: ClusterSpec,
  observed: ObservedCluster,
  remembered: readonly ClusterSnapshot[],
  wanted: string,
  asked: string | undefined,
): SnapshotFile | undefined {
  const name = wanted.slice(wanted.lastIndexOf('/') + 1)
  if (spec.backup === undefined || !('nfs' in spec.backup.to)) return undefined
  if (asked === undefined && !remembered.some((one) => one.name === name)) return undefined
  const reached = (one: string) => observed.nodes.some((node) => node.name === one && node.k3s !== 'unknown')
  const server = asked ?? spec.servers.find((node) => reached(node.name))?.name
  return server === undefined ? undefined : { name, path: `${BACKUP_MOUNT}/${name}`, server }
}

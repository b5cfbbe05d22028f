import { validApprovals } from '../../../plan/approvals.ts'
import { chosenBackup, type ListedBackup } from '../../../plan/clusters/backup-list.ts'
import { planRestore } from '../../../plan/clusters/restore.ts'
import { openState } from '../../../state/state-file.ts'
import { type OpenedCluster, openCluster } from '../../clusters/opened.ts'
import { closing } from '../../load.ts'
import { clean } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, UsageError } from '../../verb.ts'
import type { ClusterCommand } from './find.ts'
import { operate } from './operate.ts'
import { listedBackups } from './snapshots.ts'

/** Restores a cluster from a snapshot, wherever it lies, by the documented way for several servers. */
export const restore: ClusterCommand = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const [wanted] = words
  if (wanted === undefined)
    throw new UsageError(`Name the snapshot; croft cluster snapshots ${cluster.name} lists them.`)
  const asked = options.server as string | undefined
  const servers = cluster.spec.servers.map(({ name }) => name)
  if (asked !== undefined && !servers.includes(asked))
    throw new UsageError(`${asked} is not a server of ${cluster.name}. Its servers are ${servers.join(', ')}.`)
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const look = await opened.it.look()
  const { observed } = look
  const { rows, unread, kept } = await listedBackups(runtime, store.it, opened.it, look)
  const reached = (name: string) => observed.nodes.some((node) => node.name === name && node.k3s !== 'unknown')
  const found =
    chosenBackup(cluster.spec, rows, wanted, asked, reached) ??
    (await unlistedFile(runtime, opened.it, look, wanted, asked))
  if (found === undefined) {
    const told = [
      `Nothing that answers has ${wanted}${asked === undefined ? '' : ` for ${asked}`}.`,
      ...unread.map((one) => `Not listed: ${clean(one)}.`),
      `Run croft cluster snapshots ${cluster.name} to see what there is.`,
    ]
    throw new CliError(told.join(' '))
  }
  const read = found.path.startsWith('/') ? tokenIn(runtime, opened.it, look, found) : undefined
  const hash = (await read) ?? found.tokenHash
  const operation = planRestore(cluster.spec, observed, kept, {
    snapshot: found.name,
    path: found.path,
    server: found.server,
    presentToken: options.presentToken === true,
    keepNothing: options.snapshot === false,
    policy: cluster.policy,
    approved: validApprovals(estate, runtime.clock.now()).some(({ restores }) => restores?.includes(cluster.key)),
    ...(hash === undefined ? {} : { tokenHash: hash }),
    ...(found.release === undefined ? {} : { version: found.release }),
  })
  return await operate(runtime, store.it, opened.it, operation, options)
}

type AskedCluster = Awaited<ReturnType<OpenedCluster['look']>>
type Chosen = Pick<ListedBackup, 'name' | 'path' | 'tokenHash' | 'release'> & { readonly server: string }

function tokenIn(
  runtime: Runtime,
  { operator }: OpenedCluster,
  { surroundings }: AskedCluster,
  { server, path }: Pick<Chosen, 'server' | 'path'>,
): Promise<string | undefined> {
  return operator.tokenOf(server, path, surroundings, runtime.signal)
}

/** A file anywhere on the server that is named, such as one on a disk that was plugged in. It must say which token opens it. */
async function unlistedFile(
  runtime: Runtime,
  opened: OpenedCluster,
  look: AskedCluster,
  path: string,
  server: string | undefined,
): Promise<Chosen | undefined> {
  if (!path.startsWith('/') || server === undefined) return undefined
  const tokenHash = await tokenIn(runtime, opened, look, { server, path })
  return tokenHash === undefined ? undefined : { name: path.slice(path.lastIndexOf('/') + 1), path, server, tokenHash }
}

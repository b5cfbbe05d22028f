import type { NodeReach } from '../../../drivers/cluster-port.ts'
import type { ClusterOperation } from '../../../model/observed-cluster.ts'
import { judgeBackups, planDrill } from '../../../plan/clusters/backup.ts'
import type { OpenedCluster } from '../../clusters/opened.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, type Options } from '../../verb.ts'
import { hostNamed, targetOf } from '../host/find.ts'

/** A drill that can begin: its steps, and the cluster with the way into the throw-away machine. */
export interface PreparedDrill {
  readonly operation: ClusterOperation
  readonly opened: OpenedCluster
  close(): Promise<void>
}

/** Chooses the newest backup that can be used, and opens the way into the host that it is tried on. */
export async function prepareDrill(
  runtime: Runtime,
  opened: OpenedCluster,
  { observed, surroundings }: Awaited<ReturnType<OpenedCluster['look']>>,
  host: string,
  directory: string,
  options: Options,
): Promise<PreparedDrill> {
  const verdicts = observed.snapshots === 'unknown' ? [] : judgeBackups(observed.snapshots)
  const newest = verdicts.find(({ usable }) => usable === 'yes') ?? verdicts[0]
  const { snapshots } = await opened.operator.backups(surroundings, runtime.signal)
  const { node: server, location } = snapshots.find(({ name }) => name === newest?.name) ?? {}
  if (newest === undefined || server === undefined || location?.startsWith('file://') !== true)
    throw new CliError('There is no backup on a server to try. Take one with --now.')
  const { name, usable } = newest
  const operation = planDrill(opened.declaration.spec, { name, path: location.slice(7), server, usable }, host)
  if (operation.refusals.length > 0) return { operation, opened, close: () => Promise.resolve() }
  const way = await wayInto(runtime, host, directory, options)
  const withIt = async () => {
    const around = await opened.surroundings()
    return around.nodes.has(host) ? around : { ...around, nodes: new Map([...around.nodes, [host, way.reach]]) }
  }
  return { operation, opened: { ...opened, surroundings: withIt }, close: () => way.close() }
}

/** Opens a shell in the drill's machine. It is no node of the cluster, so use its Host. */
async function wayInto(
  runtime: Runtime,
  name: string,
  directory: string,
  options: Options,
): Promise<{ readonly reach: NodeReach; close(): Promise<void> }> {
  const target = targetOf(await hostNamed(runtime, name, options))
  const { deps } = await runtime.openDrivers({ directory })
  if (deps.openShell === undefined) throw new CliError('No shell can be opened here.')
  const shell = deps.openShell(target)
  return {
    reach: { machine: { exists: 'yes', power: 'unknown', ours: false }, lane: 'node-program', shell },
    close: () => shell.close(),
  }
}

import type { NodeReach } from '../../../drivers/cluster-port.ts'
import { judgeBackups, planBackup, planDrill } from '../../../plan/cluster/backup.ts'
import { closing } from '../../closing.ts'
import { openCluster } from '../../clusters/opened.ts'
import { CliError, EXIT } from '../../exit.ts'
import { writeJson } from '../../output.ts'
import type { Options } from '../../program.ts'
import { clean } from '../../render/clean.ts'
import type { Runtime } from '../../runtime.ts'
import { openState } from '../../state.ts'
import { hostNamed, targetOf } from '../host/find.ts'
import type { ClusterVerb } from './find.ts'
import { operate } from './operate.ts'
import { snapshotFiles } from './snapshots.ts'

/** Lists the backups and whether each could be restored; takes one now; or proves one on a throw-away machine. */
export const backup: ClusterVerb = async (runtime, { cluster, estate, directory, state }, options) => {
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { observed, surroundings } = await opened.it.look()
  if (options.now === true)
    return await operate(runtime, store.it, opened.it, planBackup(cluster.spec, observed), options)
  if (observed.snapshots === 'unknown') {
    throw new CliError(
      `The backups of ${cluster.name} cannot be seen: its API does not answer. Run croft plan to see why.`,
    )
  }
  const verdicts = judgeBackups(observed.snapshots)
  if (options.drill !== undefined) {
    const newest = verdicts.find(({ usable }) => usable === 'yes') ?? verdicts[0]
    const file = (await snapshotFiles(surroundings, runtime.signal)).find(({ name }) => name === newest?.name)
    if (newest === undefined || file === undefined)
      throw new CliError('There is no backup on a server to try. Take one with --now.')
    const host = options.drill as string
    const operation = planDrill(cluster.spec, { ...file, usable: newest.usable }, host)
    if (operation.refusals.length > 0) return await operate(runtime, store.it, opened.it, operation, options)
    await using way = closing(await wayInto(runtime, host, directory, options))
    const withIt = async () => {
      const around = await opened.it.surroundings()
      return around.nodes.has(host) ? around : { ...around, nodes: new Map([...around.nodes, [host, way.it.reach]]) }
    }
    return await operate(runtime, store.it, { ...opened.it, surroundings: withIt }, operation, options)
  }
  if (options.output === 'json') writeJson(runtime.out, { cluster: cluster.name, backups: verdicts })
  else {
    for (const { name, atMs, usable, reason } of verdicts) {
      const when = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')
      runtime.out.write(
        `${clean(name).padEnd(40)} ${when}  ${usable === 'yes' ? 'usable' : usable === 'no' ? 'UNUSABLE' : 'unknown'}: ${clean(reason)}\n`,
      )
    }
    if (verdicts.length === 0) runtime.out.write(`${cluster.name} has no backup.\n`)
  }
  return EXIT.ok
}

/** The throw-away machine is no node, so no look at the cluster leads there: its own Host does. */
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
    reach: { machine: { exists: 'yes', power: 'unknown', ours: false }, lane: 'ssh', shell },
    close: () => shell.close(),
  }
}

import { judgeBackups, planBackup } from '../../../plan/clusters/backup.ts'
import { openState } from '../../../state/state-file.ts'
import { openCluster } from '../../clusters/opened.ts'
import { closing } from '../../load.ts'
import { writeData } from '../../output.ts'
import { clean } from '../../render/text.ts'
import { CliError, EXIT } from '../../verb.ts'
import { textOf } from '../host/find.ts'
import { prepareDrill } from './drill.ts'
import type { ClusterCommand } from './find.ts'
import { operate } from './operate.ts'

/** Lists the backups and whether each could be restored; takes one now; or proves one on a throw-away machine. */
export const backup: ClusterCommand = async (runtime, { cluster, estate, directory, state }, options) => {
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const look = await opened.it.look()
  const { observed } = look
  if (options.now === true)
    return await operate(runtime, store.it, opened.it, planBackup(cluster.spec, observed), options)
  if (observed.snapshots === 'unknown') {
    throw new CliError(
      `The backups of ${cluster.name} cannot be seen: its API does not answer. Run croft plan to see why.`,
    )
  }
  const verdicts = judgeBackups(observed.snapshots)
  if (options.drill !== undefined) {
    await using drill = closing(await prepareDrill(runtime, opened.it, look, textOf(options.drill), directory, options))
    return await operate(runtime, store.it, drill.it.opened, drill.it.operation, options)
  }
  if (!(await writeData(runtime, options.output, { cluster: cluster.name, backups: verdicts }))) {
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

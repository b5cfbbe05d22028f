import { readBackups } from '../../../engine/clusters/backups.ts'
import { readDrills } from '../../../engine/clusters/drills.ts'
import { tokenHash } from '../../../k3s/token.ts'
import { passwordsOf } from '../../../model/cluster.ts'
import { type ListedBackup, listBackups } from '../../../plan/clusters/backup-list.ts'
import { openState } from '../../../state/state-file.ts'
import type { Store } from '../../../store/port.ts'
import { type OpenedCluster, openCluster } from '../../clusters/opened.ts'
import { closing } from '../../load.ts'
import { note, styleOf, writeData } from '../../output.ts'
import { showAge } from '../../render/duration.ts'
import { renderTable } from '../../render/table.ts'
import { clean } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { EXIT } from '../../verb.ts'
import type { ClusterCommand } from './find.ts'

/** Lists what a restore can start from, wherever it lies; also where the cluster or its hosts are gone. */
export const snapshots: ClusterCommand = async (runtime, { cluster, estate, directory, state }, options) => {
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { rows, unread } = await listedBackups(runtime, store.it, opened.it, await opened.it.look())
  const nowMs = runtime.clock.now()
  if (!(await writeData(runtime, options.output, { cluster: cluster.name, snapshots: rows, unread }))) {
    if (rows.length > 0) {
      const table = rows.map((row) => cells(row, nowMs))
      runtime.out.write(renderTable(COLUMNS, table, styleOf(runtime, runtime.out)))
    }
    for (const one of unread) note(runtime, `Not listed: ${one}`)
    const newest = rows.find(({ usable }) => usable === 'yes') ?? rows[0]
    runtime.out.write(
      newest === undefined
        ? `${cluster.name} has no snapshot that can be seen. While it runs, croft cluster backup ${cluster.name} --now takes one.\n`
        : `croft cluster restore ${cluster.name} ${clean(newest.name)} --plan shows what a restore of the newest would do.\n`,
    )
  }
  return rows.length === 0 && unread.length > 0 ? EXIT.failed : EXIT.ok
}

const COLUMNS = ['NAME', 'WHERE', 'AGE', 'SIZE', 'K3S', 'LAST DRILL', 'USABLE'].map((title) => ({ title }))

function cells({ name, where, atMs, bytes, release, drill, usable, reason }: ListedBackup, nowMs: number): string[] {
  const size = bytes === undefined ? '-' : `${(bytes / 2 ** 20).toFixed(1)}Mi`
  const tried = drill === undefined ? '-' : `${drill.proved ? 'restored' : 'FAILED'} ${showAge(nowMs - drill.atMs)} ago`
  return [name, where, showAge(nowMs - atMs), size, release ?? '-', tried, `${usable}: ${reason}`]
}

/** Everything that a restore can start from, and the hashes of the tokens that are kept. */
export async function listedBackups(
  runtime: Runtime,
  store: Store,
  opened: OpenedCluster,
  { observed, surroundings }: Awaited<ReturnType<OpenedCluster['look']>>,
): Promise<{ readonly rows: readonly ListedBackup[]; readonly unread: readonly string[]; readonly kept: string[] }> {
  const { name, spec } = opened.declaration
  const [secrets, remembered, stored, drills] = await Promise.all([
    opened.secrets(),
    readBackups(store, name),
    opened.operator.backups(surroundings, runtime.signal),
    readDrills(store, name),
  ])
  const kept = secrets === undefined ? [] : passwordsOf(secrets).map((one) => tokenHash(one.reveal()))
  const sources = { observed, remembered, stored: stored.snapshots, kept, drill: drills.result }
  return { rows: listBackups(spec, sources), unread: stored.unread, kept }
}

import { mayBeOldMs } from '../../k3s/schedule.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { Condition } from '../../model/record.ts'
import { backupTrouble, judgeBackups } from './backup.ts'
import type { DrillState } from './drill.ts'

/**
 * Returns whether a backup exists that could be restored, so that a missing one shows before it is needed. Returns
 * undefined if no backups are declared or nothing could be read: then the earlier condition stays.
 */
export function backupCondition(
  spec: ClusterSpec,
  observed: ObservedCluster,
  drills: DrillState,
  nowMs: number,
): Omit<Condition, 'sinceMs'> | undefined {
  const { backup } = spec
  if (backup === undefined || observed.snapshots === 'unknown') return undefined
  const is = (status: Condition['status'], reason: string, message: string) =>
    ({ type: 'BackedUp', status, reason, message }) as const
  const [newest] = judgeBackups(observed.snapshots)
  if (newest?.usable === 'no') return is('False', 'BackupUnusable', `${newest.name} is unusable: ${newest.reason}`)
  // One missed backup may be a restart at the wrong minute; two in a row are not.
  const trouble = backupTrouble(spec, observed, mayBeOldMs(backup.schedule, nowMs), nowMs)
  if (trouble !== undefined) return is('False', 'BackupMissing', trouble)
  if (drills.result?.proved === false) return is('False', 'DrillFailed', drills.result.message)
  if (newest === undefined) return is('Unknown', 'NoneYet', 'the first backup has not been taken yet')
  if (newest.usable === 'unknown') return is('Unknown', 'TokenUnknown', `${newest.name}: ${newest.reason}`)
  return is('True', 'Usable', drills.result?.message ?? `${newest.name} can be restored`)
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterSnapshot } from '../../model/observed-cluster.ts'
import { backupCondition } from './backup-condition.ts'
import type { DrillState } from './drill.ts'
import { clusterSpec, HOUR, NOW, observedCluster } from './testing/fixture.ts'

const BACKUP = { schedule: '0 */6 * * *', keep: 8, to: { nfs: 'nas:/backup' } } as const
const SPEC = clusterSpec('s1 s2 s3', { backup: BACKUP as never })

const taken = (agoMs: number, tokenKept: ClusterSnapshot['tokenKept']): ClusterSnapshot =>
  ({ name: `of-${agoMs / HOUR}`, atMs: NOW - agoMs, tokenKept }) as ClusterSnapshot

test('what the BackedUp condition of a cluster says', () => {
  const failed: DrillState = { result: { proved: false, message: 'it did not start' } as never }
  const proved: DrillState = { result: { proved: true, message: 'restored in 60 s' } as never }
  const table: readonly (readonly [
    what: string,
    snapshots: readonly ClusterSnapshot[] | 'unknown',
    drills: DrillState,
    expected: string | undefined,
  ])[] = [
    ['nobody could look', 'unknown', {}, undefined],
    ['a young one', [taken(HOUR, 'yes')], {}, 'True Usable'],
    ['a young one without its token', [taken(HOUR, 'no'), taken(2 * HOUR, 'yes')], {}, 'False BackupUnusable'],
    ['one that was missed', [taken(11 * HOUR, 'yes')], {}, 'True Usable'],
    ['two that were missed', [taken(13 * HOUR, 'yes')], {}, 'False BackupMissing'],
    ['a drill that failed', [taken(HOUR, 'yes')], failed, 'False DrillFailed'],
    ['a drill that proved it', [taken(HOUR, 'yes')], proved, 'True Usable'],
    ['one whose token nobody can judge', [taken(HOUR, 'unknown'), taken(2 * HOUR, 'yes')], {}, 'Unknown TokenUnknown'],
  ]
  for (const [what, snapshots, drills, expected] of table) {
    const observed = observedCluster('s1 s2 s3', {}, { snapshots })
    const found = backupCondition(SPEC, observed, drills, NOW)
    assert.equal(found === undefined ? undefined : `${found.status} ${found.reason}`, expected, what)
  }
  assert.equal(
    backupCondition(clusterSpec('s1 s2 s3'), observedCluster('s1 s2 s3', {}, { snapshots: [] }), {}, NOW),
    undefined,
  )
  const young = observedCluster('s1 s2 s3', {}, { snapshots: [] })
  const justFormed = { ...young, identity: { ...young.identity, recordedMs: NOW - HOUR } as never }
  assert.equal(backupCondition(SPEC, justFormed, {}, NOW)?.reason, 'NoneYet')
})

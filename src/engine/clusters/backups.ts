import type { ClusterPlan, ClusterSnapshot } from '../../model/observed-cluster.ts'
import { releaseWhenTaken } from '../../plan/clusters/backup-list.ts'
import type { Store } from '../../store/port.ts'

function backupsName(cluster: string): string {
  return `cluster-backups/${cluster}`
}

/** Reads the last observed backups: after the loss of the cluster only they show where its backups are. */
export async function readBackups(
  store: Pick<Store, 'getValue'>,
  cluster: string,
): Promise<readonly ClusterSnapshot[]> {
  const text = await store.getValue(backupsName(cluster))
  return text === undefined ? [] : (JSON.parse(text) as readonly ClusterSnapshot[])
}

/** Stores the backups when their list changes. Ignores an empty list: a new cluster has none either. */
export async function noteBackups(store: Store, epoch: number, { declaration, observed }: ClusterPlan): Promise<void> {
  const { snapshots } = observed
  if (snapshots === 'unknown' || snapshots.length === 0) return
  const text = await store.getValue(backupsName(declaration.name))
  const before = text === undefined ? [] : (JSON.parse(text) as readonly ClusterSnapshot[])
  const next = JSON.stringify(snapshots.map((one) => withRelease(withKnownToken(one, before), before, observed)))
  if (text === next) return
  await store.putValue(epoch, backupsName(declaration.name), next)
}

/** Noted while the K3s that took it still runs: later nothing tells. */
function withRelease(
  one: ClusterSnapshot,
  before: readonly ClusterSnapshot[],
  observed: ClusterPlan['observed'],
): ClusterSnapshot {
  const known = before.find(({ name, atMs }) => name === one.name && atMs === one.atMs)?.release
  const release = known ?? releaseWhenTaken(one, observed)
  return release === undefined ? one : { ...one, release }
}

/** A restored K3s lists its snapshots without their token's hash: the known hash of the same snapshot still applies. */
export function withKnownToken(one: ClusterSnapshot, before: readonly ClusterSnapshot[]): ClusterSnapshot {
  if (one.tokenHash !== undefined) return one
  const known = before.find(({ name, atMs }) => name === one.name && atMs === one.atMs)
  return known?.tokenHash === undefined ? one : { ...one, tokenHash: known.tokenHash, tokenKept: known.tokenKept }
}

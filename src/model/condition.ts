/** A standing answer about a resource. `sinceMs` moves only when `status` does, so that it never flaps. */
export interface Condition {
  /** BackedUp: of a cluster with a backup policy. Is there a backup that could be restored? */
  readonly type: 'Synced' | 'Ready' | 'Stalled' | 'BackedUp'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly sinceMs: number
}

/** Why a machine is not Ready whose first boot is over and went wrong. */
export const CLOUD_INIT_FAILED = 'CloudInitFailed'

/** Not Ready, and no waiting makes it so: a person must see to it. */
export function isFailed(conditions: readonly Pick<Condition, 'type' | 'status' | 'reason'>[]): boolean {
  return conditions.some(
    ({ type, status, reason }) => type === 'Ready' && status === 'False' && reason === CLOUD_INIT_FAILED,
  )
}

/** A standing answer about a resource. `sinceMs` moves only when `status` does, so that it never flaps. */
export interface Condition {
  /** BackedUp: of a cluster with a backup policy. Is there a backup that could be restored? */
  readonly type: 'Synced' | 'Ready' | 'Stalled' | 'BackedUp'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly sinceMs: number
}

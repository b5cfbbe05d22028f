/** A standing answer about a resource. `sinceMs` moves only when `status` does, so that it never flaps. */
export interface Condition {
  readonly type: 'Synced' | 'Ready' | 'Stalled'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly sinceMs: number
}

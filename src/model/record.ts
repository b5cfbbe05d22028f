import type { Condition } from './condition.ts'
import type { ResourceKey } from './key.ts'
import type { Policy } from './policy.ts'
import type { Desired } from './resource.ts'

/** The same failure, counted, so that it is reported once and not retried for ever. */
export interface FailureRun {
  /** waiting: nothing is wrong, somebody else is at work; never counts towards Stalled. */
  readonly kind: 'failing' | 'waiting'
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  readonly nextAttemptMs: number
}

/** The last effect that succeeded. Seen again at once for the same generation, it did not stay: no hot loop. */
export interface LastEffect {
  readonly signature: string
  readonly verb: string
  readonly atMs: number
}

/** What the store remembers of one resource. A cache: everything in it can be found again in Git and the world. */
export interface ResourceRecord {
  readonly key: ResourceKey
  readonly uid: string
  readonly connection: string
  readonly type: Desired['type'] | 'cluster'
  /** The list that shows it, for things that a survey does not show. */
  readonly list?: string
  /** We made it. A thing that was there before us is never deleted because Git no longer names it. */
  readonly made?: boolean
  readonly generation: string
  /** Who declared it last. Absent: nobody here ever did, or it was before records said so. */
  readonly declaredBy?: string
  readonly externalId?: string
  readonly host?: string
  readonly policy: Policy
  readonly conditions: readonly Condition[]
  readonly failure?: FailureRun
  readonly lastEffect?: LastEffect
  /** A failure that only a changed declaration clears: the generation that stalled. */
  readonly stalledGeneration?: string
  /** When a survey first showed the thing; what the mass-absence guard compares with. Gone when we removed it. */
  readonly seenMs?: number
  /** The generation that was last seen to be in force as declared: a difference from it since then is drift. */
  readonly syncedGeneration?: string
  /** The host that was declared then. A guest elsewhere was carried there by somebody, unless this has changed. */
  readonly declaredHost?: string
  /** Since when the world has drifted away from it. */
  readonly driftSinceMs?: number
  /** Who moved it, where the outside system keeps a list. */
  readonly driftBy?: { readonly user: string; readonly task: string; readonly atMs: number }
  /** Its deletion was held because of how many were to go: it waits for an approval of its own. */
  readonly awaitsApproval?: boolean
  readonly createdMs: number
  /** Short word for tables: Running, Creating, Booting… */
  readonly status: string
  readonly details?: Readonly<Record<string, string>>
}

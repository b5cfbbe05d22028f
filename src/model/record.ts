import type { Composed, Policy, ResourceKey } from './declaration.ts'
import type { Desired } from './resource.ts'
import type { Coordinated, Step } from './step.ts'
import type { SystemId } from './system-id.ts'

/** A lasting statement about a resource. `sinceMs` changes only with `status`, so that it never flaps. */
export interface Condition {
  /** BackedUp: for a cluster with a backup policy, whether a restorable backup exists. */
  readonly type: 'Synced' | 'Ready' | 'Stalled' | 'BackedUp'
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly sinceMs: number
}

/** The reason of a machine whose first boot failed. */
export const CLOUD_INIT_FAILED = 'CloudInitFailed'

/** Reports whether it is not Ready and waiting does not help: a person must act. */
export function isFailed(conditions: readonly Pick<Condition, 'type' | 'status' | 'reason'>[]): boolean {
  return conditions.some(
    ({ type, status, reason }) => type === 'Ready' && status === 'False' && reason === CLOUD_INIT_FAILED,
  )
}

/** A repeated failure with its count, so that it is reported once and not retried forever. */
export interface FailureRun {
  /** waiting: not an error, since other work is under way; never counts towards Stalled. */
  readonly kind: 'failing' | 'waiting'
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly firstMs: number
  readonly lastMs: number
  readonly nextAttemptMs: number
  /** Retried even after it was reported as stalled. */
  readonly transient?: true
}

/** The last successful effect. If the same generation needs it again at once, it did not last: prevents hot loops. */
export interface LastEffect {
  readonly signature: string
  readonly verb: string
  readonly atMs: number
}

/** A creation of croft whose guest was not seen whole yet. */
export interface CreationAttempt {
  readonly connection: string
  readonly externalId: string
  readonly sinceMs: number
}

/** The store's memory of one resource. A cache: all of it can be found again in Git and the world. */
export interface ResourceRecord {
  readonly key: ResourceKey
  readonly uid: string
  readonly connection: string
  readonly type: Desired['type'] | 'cluster'
  /** The list that contains it, for things outside the survey. */
  readonly list?: string
  /** croft created it. A thing that predates croft is never deleted because Git no longer declares it. */
  readonly made?: boolean
  /** Open until a survey shows the guest with our mark and without the lock of its creation. */
  readonly attempt?: CreationAttempt
  readonly generation: string
  /** Who declared it last. Absent: it was never declared here, or only before records had this field. */
  readonly declaredBy?: string
  /** The source that declared it last, if that has a grant. */
  readonly source?: string
  /** The instance that it belongs to, and that one's definition. If either is missing, its removal is not proven. */
  readonly composedBy?: Composed
  readonly externalId?: string
  /** The birth of the thing under `externalId` that croft made or adopted. Absent: not yet seen closely. */
  readonly birth?: string
  /** The system that the connection led to when the thing was made or first seen there. */
  readonly system?: SystemId
  readonly host?: string
  readonly policy: Policy
  readonly conditions: readonly Condition[]
  readonly failure?: FailureRun
  readonly lastEffect?: LastEffect
  /** A failure that only a changed declaration clears: the generation that stalled. */
  readonly stalledGeneration?: string
  /** When a survey first showed it, for the mass-absence guard. Cleared when croft deletes it. */
  readonly seenMs?: number
  /** The generation last observed as declared: a difference from it since then is drift. */
  readonly syncedGeneration?: string
  /** The host declared then. If this is unchanged and the guest is elsewhere, a person moved it. */
  readonly declaredHost?: string
  /** The fixed addresses that it was created with, or that were observed since. */
  readonly addresses?: readonly string[]
  /** When the world started to differ from it. */
  readonly driftSinceMs?: number
  /** Who changed it, if the outside system keeps a log. */
  readonly driftBy?: { readonly user: string; readonly task: string; readonly atMs: number }
  /** It was not declared, and no unread path could declare it. */
  readonly absent?: boolean
  /** The deletion limit held its deletion: it waits for an explicit approval. */
  readonly awaitsApproval?: boolean
  readonly createdMs: number
  /** Short status for tables: Running, Creating, Booting… */
  readonly status: string
  readonly details?: Readonly<Record<string, string>>
}

/** The next effect of croft, stored durably before croft performs it. */
export type Intention = ThingIntention | CoordinatedIntention

/** A step on a cluster, of a Power, or of an operation on a whole cluster. Its result is observed in the world. */
export interface CoordinatedIntention extends Begun {
  readonly step: Step<Coordinated>
}

interface Begun {
  readonly id: string
  readonly epoch: number
  readonly key: ResourceKey
  readonly atMs: number
  /** intended: the call may have been made. started: the system answered with a task. */
  readonly state: 'intended' | 'started'
  readonly taskId?: string
}

/**
 * One call about one thing. `externalId` is chosen before the call that uses it, so that an attempt without an answer
 * can be recognised in the world and repeated safely.
 */
export interface ThingIntention extends Begun {
  readonly uid: string
  readonly connection: string
  readonly externalId: string
  readonly host: string
  readonly step: Step
  readonly generation: string
}

/** An event with its cause. Written only on change. */
export interface CroftEvent {
  readonly seq: number
  readonly atMs: number
  readonly key?: ResourceKey
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The commit that requested it, if any. */
  readonly commit?: string
  /** Its cause: from the plan's reason to the call. Absent if the world changed by itself. */
  readonly cause?: EventCause
}

/** The causes of an effect: the commit that requested it, the plan's reason, and the call. */
export interface EventCause {
  /** Why the plan decided so: `memory.dedicatedMb differ`. */
  readonly plan?: string
  /** The call as it was made, without its parameters: `PUT /nodes/fun-bedbug/qemu/105/config`. */
  readonly call?: string
  /** Why a destruction was permitted: the former declaration, the commit that removed it, or an approval. */
  readonly proof?: string
  /** The world changed and Git did not: the action corrects that. */
  readonly drift?: true
  /** A person's order: `page:anna`. */
  readonly actor?: string
}

export type NewEvent = Omit<CroftEvent, 'seq'>

/** A request of a person, or of a program for them, and its result. Immutable. */
export interface AuditEntry {
  readonly seq: number
  readonly atMs: number
  /** `page:anna`, `token:ci`, `cli:root`, `git:Anna <anna@example.org>`. */
  readonly actor: string
  readonly from: 'page' | 'api' | 'cli' | 'git'
  /** `approve`, `suspend`, `commit`… */
  readonly what: string
  /** Its subject: a key, a commit. */
  readonly subject?: string
  readonly outcome: 'done' | 'refused'
  readonly message: string
}

export type NewAuditEntry = Omit<AuditEntry, 'seq'>

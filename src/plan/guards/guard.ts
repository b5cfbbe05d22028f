import type { Policy } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { Loss } from '../../model/loss.ts'
import type { Action, Births, Doing, PlanEntry } from '../../model/plan.ts'
import type { Membership } from '../clusters/membership.ts'
import type { Removal } from '../things/removals.ts'
import type { ObjectCounts } from '../things/source-share.ts'
import type { Suspicion } from '../things/suspicion.ts'

/** An entry with the facts that the guards need. */
export interface Guarded {
  readonly entry: PlanEntry
  readonly policy: Policy
  /** The deletion limit held it before, and no approval covers it yet. */
  readonly awaitsApproval?: boolean
  /** The guest under the recorded id has another birth than the record: it is another guest. */
  readonly births?: Births
}

/** Facts beyond the single action that a guard may use. */
export interface GuardContext {
  readonly estate: Estate
  /** Machines that are nodes of a cluster. */
  readonly members: ReadonlyMap<string, Membership>
  readonly suspicions: ReadonlyMap<string, Suspicion>
  /** Keys of all things to delete in this sync, also those that cannot be deleted now. */
  readonly deleting: readonly string[]
  /** Machines that this revision destroyed in earlier passes. */
  readonly destroyed?: readonly string[]
  /** Machines that are declared or about to be deleted, by source. */
  readonly machines: ReadonlyMap<string, number>
  /** The source that a key counts for. */
  sourceOf(key: string): string
  /** The same for objects, by source and connection: see `objectsOf`. */
  readonly objects?: ObjectCounts
  /** Declared things of ours that do not exist yet. */
  readonly unseen?: ReadonlySet<string>
  /** Existing things that are no longer declared. */
  readonly leaving?: readonly Removal[]
  readonly nowMs: number
}

/**
 * Returns the existing things, and data inside remaining things, that an action destroys. Leftovers of croft's own
 * attempts are neither listed nor counted.
 */
export function lossesOf({ steps }: Doing): readonly Loss[] {
  return steps.flatMap(({ verb, disruption, destroys }) => {
    const isLoss = verb === 'delete' || disruption === 'data-loss'
    return !isLoss || destroys === undefined || UNCOUNTED.has(destroys.because) ? [] : [destroys]
  })
}

const UNCOUNTED: ReadonlySet<Loss['because']> = new Set(['own-attempt', 'named'])

export function destroys(action: Doing): boolean {
  return lossesOf(action).length > 0
}

/** A pure rule that may hold or refuse an action. It gives the action back when it has no objection. */
export interface Guard {
  readonly name: string
  /** One line for the documentation. */
  readonly stops: string
  /** A person's consent lifts its hold; the others want a change in Git. */
  readonly approvable?: true
  judge(action: Action & Doing, guarded: Guarded, context: GuardContext): Action
  /** Returns why this cluster or Power must not change. Only guards that judge by policy alone have it. */
  objects?(subject: Subject): Objection | undefined
}

/** A resource with a policy. */
export interface Subject {
  readonly key: string
  readonly policy: Pick<Policy, 'manage' | 'paused' | 'pausedUntil'>
}

export interface Objection {
  readonly reason: string
  /** How to let it continue. */
  readonly allow: string
}

/** A guard that judges by policy alone: for things, clusters and Powers alike. */
export function policyGuard(name: string, stops: string, objects: (subject: Subject) => Objection | undefined): Guard {
  return {
    name,
    stops,
    objects,
    judge(action, { policy, entry: { key } }) {
      const objection = objects({ key, policy })
      return objection === undefined ? action : { do: 'hold', guard: name, held: action, ...objection }
    },
  }
}

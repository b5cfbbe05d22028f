import type { Action } from './action.ts'
import type { Change } from './change.ts'
import type { ClusterLook } from './cluster-look.ts'
import type { ResourceKey } from './key.ts'
import type { Origin } from './origin.ts'
import type { PowerLook } from './power-look.ts'
import type { Problem } from './problem.ts'
import type { Desired } from './resource.ts'
import type { HostSighting } from './survey.ts'

export interface PlanEntry {
  readonly key: ResourceKey
  readonly uid: string
  readonly connection: string
  readonly type: Desired['type']
  readonly action: Action
  /** The thing this is about, when there is one or its id is already chosen. */
  readonly externalId?: string
  readonly host?: string
  readonly origin?: Origin
  /** What a person should know although nothing is done about it. */
  readonly notes?: readonly string[]
  /** The world moved and Git did not: this very generation was in force before. */
  readonly drift?: true
  /** Asked for where a person looks, and never what is decided by. */
  readonly preview?: Preview
}

/** What the outside system itself says would come of a change, asked without making it. */
export interface Preview {
  /** Every field that would be another, also what the system fills in by itself; of a new thing all its fields. */
  readonly changes: readonly Change[]
  /** It would not take it, and why. */
  readonly refused?: string
  /** Where it is a chart: what would come out of its templates. */
  readonly chart?: ChartPreview
}

/** What a change of a chart would change, rendered where the plan is made. Values of Secrets are never in it. */
export interface ChartPreview {
  readonly objects: readonly ChartObjectPreview[]
  /** How many objects there would be in all. */
  readonly total: number
  /** How many get nothing but the labels that name the new version. */
  readonly relabelled: number
  /** Objects with fields that come out another way each time; those fields are not compared. */
  readonly unsteady: readonly string[]
  /** Why nothing of it can be shown. */
  readonly notRendered?: { readonly why: 'no-helm' | 'new-place' | 'failed'; readonly message: string }
}

export interface ChartObjectPreview {
  /** `Deployment.apps/podinfo/podinfo` */
  readonly id: string
  readonly becomes: 'added' | 'changed' | 'removed'
  /** Of a change, field by field; of a Secret none is named. */
  readonly changes: readonly Change[]
}

/** Something about a whole connection that stops or slows everything on it. */
export interface ConnectionNote {
  readonly connection: string
  readonly code: 'unreachable' | 'refused' | 'suspect' | 'incomplete'
  /** The driver's word for a refusal (`Unauthorized`), where there was one: the exit code depends on it. */
  readonly reason?: string
  readonly message: string
  readonly allow: string
}

/** All actions in the order they may be started, with reasons. Data: printed, compared, run, rehearsed. */
export interface Plan {
  readonly entries: readonly PlanEntry[]
  readonly notes: readonly ConnectionNote[]
  readonly problems: readonly Problem[]
  readonly clusters?: readonly ClusterLook[]
  readonly powers?: readonly PowerLook[]
  /** What each connection that could be seen has shown of its hosts. */
  readonly hosts?: readonly (HostSighting & { readonly connection: string })[]
}

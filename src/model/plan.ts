import type { Consent } from './consent.ts'
import type { Origin, Problem, ResourceKey } from './declaration.ts'
import type { Proof } from './estate.ts'
import type { ClusterPlan } from './observed-cluster.ts'
import type { PowerPlan } from './observed-power.ts'
import type { Change, Desired, ObservedHost } from './resource.ts'
import type { Step } from './step.ts'
import type { WaitingFor } from './waiting.ts'

/** Does something to the outside world. */
export type Doing =
  | { readonly do: 'create'; readonly externalId: string; readonly host: string; readonly steps: readonly Step[] }
  | {
      readonly do: 'update'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'adopt'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'replace'
      readonly externalId: string
      readonly changes: readonly Change[]
      readonly steps: readonly Step[]
    }
  | {
      readonly do: 'delete'
      readonly externalId: string
      readonly host: string
      readonly steps: readonly Step[]
      /** Why it may go. Without one a guard blocks it. */
      readonly proof?: Proof
    }

/** What must be looked at before the next action can be decided. */
export type MissingFact =
  | { readonly look: 'config' | 'power'; readonly externalId: string }
  /**
   * vanished: it existed, or its creation started, so a survey without it proves nothing. anew: an earlier answer is
   * too old, since croft creates it now.
   */
  | { readonly look: 'id'; readonly externalId: string; readonly vanished?: true; readonly anew?: true }
  /** remainsOf: the list is read for leftovers of an earlier creation of this id. */
  | { readonly look: 'list'; readonly list: string; readonly remainsOf?: string }

/** What to do next for one resource. Every action but `nothing` says why. */
export type Action =
  | { readonly do: 'nothing' }
  | {
      readonly do: 'wait'
      readonly reason: string
      readonly message: string
      readonly lookAgainMs: number
      readonly missing?: MissingFact
      /** What will be done when the wait is over: part of what a person agrees to. */
      readonly next?: Doing
    }
  | (Doing & { readonly reason: string })
  /** Take it off the books; the thing itself stays as it is. */
  | { readonly do: 'forget'; readonly reason: string; readonly externalId: string }
  /** A guard blocks it for now: `allow` says what would let it pass. */
  | {
      readonly do: 'hold'
      readonly guard: string
      readonly held: Doing
      readonly reason: string
      readonly allow: string
      /** What a person reads who may lift it; a consent covers this list or less. Absent: no consent lifts it. */
      readonly shows?: readonly string[]
    }
  /** Will not be done as declared; a person must change something. */
  | { readonly do: 'refuse'; readonly guard: string; readonly reason: string; readonly allow: string }

/** Does it do something to the outside world? */
export function isDoing(action: Action): action is Action & Doing {
  switch (action.do) {
    case 'create':
    case 'update':
    case 'adopt':
    case 'replace':
    case 'delete':
      return true
    default:
      return false
  }
}

/** What a plan does to one thing that runs. */
export interface Disruption {
  /** Key of a machine, a cluster or a Power. */
  readonly subject: string
  /** outage: it does not serve meanwhile. data-loss: something is gone for good. */
  readonly worst: 'none' | 'restart' | 'outage' | 'data-loss'
  readonly restarts: number
  readonly drains: number
  /** Votes of a cluster that are away at the same time. */
  readonly votesAway: number
  /** Expected, all together. */
  readonly minutesAway: number
  /** Expected until it is done, waits between nodes included. */
  readonly minutes: number
  /** Machines or nodes whose data is gone afterwards. */
  readonly lost: readonly string[]
  /** One line for a person. */
  readonly text: string
}

/** The effect of a plan on running workloads. */
export interface PlanDisruption {
  readonly worst: Disruption['worst']
  /** Nodes that lose their data and whose machines are neither deleted nor recreated. */
  readonly destroyed: number
  readonly items: readonly Disruption[]
}

export interface PlanEntry {
  readonly key: ResourceKey
  readonly uid: string
  readonly connection: string
  readonly type: Desired['type']
  /** Hash of everything that is declared of it; absent where nothing declares it. */
  readonly generation?: string
  readonly action: Action
  /** The thing this is about, when there is one or its id is already chosen. */
  readonly externalId?: string
  readonly host?: string
  readonly origin?: Origin
  /** What a person should know although nothing is done about it. */
  readonly notes?: readonly string[]
  /** The world changed and Git did not: this generation was applied before. */
  readonly drift?: true
  /** Consents without which a guard would hold the action. */
  readonly consents?: readonly Consent[]
  /** Read for display only, never for a decision. */
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
  readonly notRendered?: { readonly why: 'no-helm' | 'new-place' | 'held' | 'failed'; readonly message: string }
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
  /** The place of the declaration, if a person can correct the problem there. */
  readonly origin?: Origin
  readonly code: 'unreachable' | 'refused' | 'suspect' | 'incomplete'
  /** The driver's word for a refusal (`Unauthorized`), where there was one: the exit code depends on it. */
  readonly reason?: string
  readonly message: string
  readonly allow: string
}

/** The birth of the guest that croft knows under an id, and of the one that is there. */
export interface Births {
  readonly was?: string
  readonly is?: string
}

/** All actions in the order they may be started, with reasons. Data: printed, compared, run, rehearsed. */
export interface Plan {
  readonly entries: readonly PlanEntry[]
  readonly notes: readonly ConnectionNote[]
  readonly problems: readonly Problem[]
  readonly clusters?: readonly ClusterPlan[]
  readonly powers?: readonly PowerPlan[]
  /** What is neither made nor changed before the world has said a value that goes into it. */
  readonly waiting?: readonly WaitingFor[]
  /** What each connection that could be seen has shown of its hosts. */
  readonly hosts?: readonly (ObservedHost & { readonly connection: string })[]
}

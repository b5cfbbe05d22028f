import type { Consent } from './consent.ts'
import type { Origin, Problem, ResourceKey } from './declaration.ts'
import type { Proof } from './estate.ts'
import type { ClusterPlan } from './observed-cluster.ts'
import type { PowerPlan } from './observed-power.ts'
import type { Change, Desired, ObservedHost } from './resource.ts'
import type { Step } from './step.ts'
import type { WaitingFor } from './waiting.ts'

/** An effect on the outside world. */
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
      /** Why it may be deleted. Without a proof a guard blocks it. */
      readonly proof?: Proof
    }

/** A fact that must be read before the next action can be decided. */
export type MissingFact =
  | { readonly look: 'config' | 'power'; readonly externalId: string }
  /**
   * vanished: it existed, or its creation started, so a survey without it proves nothing. anew: an earlier answer is
   * too old, since croft creates it now.
   */
  | { readonly look: 'id'; readonly externalId: string; readonly vanished?: true; readonly anew?: true }
  /** remainsOf: the list is read for leftovers of an earlier creation of this id. */
  | { readonly look: 'list'; readonly list: string; readonly remainsOf?: string }

/** The next action for one resource. Every action but `nothing` has a reason. */
export type Action =
  | { readonly do: 'nothing' }
  | {
      readonly do: 'wait'
      readonly reason: string
      readonly message: string
      readonly lookAgainMs: number
      readonly missing?: MissingFact
      /** The action after the wait: part of what a person agrees to. */
      readonly next?: Doing
    }
  | (Doing & { readonly reason: string })
  /** Delete the record; the thing itself stays. */
  | { readonly do: 'forget'; readonly reason: string; readonly externalId: string }
  /** A guard blocks it for now: `allow` says how to lift that. */
  | {
      readonly do: 'hold'
      readonly guard: string
      readonly held: Doing
      readonly reason: string
      readonly allow: string
      /** The list that a person's consent covers; it also covers a shorter one. Absent: no consent lifts the hold. */
      readonly shows?: readonly string[]
    }
  /** Will not be done as declared; a person must change something. */
  | { readonly do: 'refuse'; readonly guard: string; readonly reason: string; readonly allow: string }

/** Reports whether the action has an effect on the outside world. */
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

/** A plan's effect on one running thing. */
export interface Disruption {
  /** Key of a machine, a cluster or a Power. */
  readonly subject: string
  /** outage: it does not serve meanwhile. data-loss: data is gone for good. */
  readonly worst: 'none' | 'restart' | 'outage' | 'data-loss'
  readonly restarts: number
  readonly drains: number
  /** Votes of a cluster that are away simultaneously. */
  readonly votesAway: number
  /** The expected total. */
  readonly minutesAway: number
  /** The expected time until it is done, with the waits between nodes. */
  readonly minutes: number
  /** Machines or nodes that lose their data. */
  readonly lost: readonly string[]
  /** One line for display. */
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
  /** Hash of its declaration; absent without one. */
  readonly generation?: string
  readonly action: Action
  /** The thing's id, if it exists or its id is already chosen. */
  readonly externalId?: string
  readonly host?: string
  readonly origin?: Origin
  /** Notes for a person, without an action. */
  readonly notes?: readonly string[]
  /** The world changed and Git did not: this generation was applied before. */
  readonly drift?: true
  /** Consents without which a guard would hold the action. */
  readonly consents?: readonly Consent[]
  /** Read for display only, never for a decision. */
  readonly preview?: Preview
}

/** The outside system's own answer about a change, as a dry run. */
export interface Preview {
  /** All fields that would differ, including those that the system sets itself; for a new thing all fields. */
  readonly changes: readonly Change[]
  /** Why the system would refuse it. */
  readonly refused?: string
  /** For a chart: the effect on its rendered templates. */
  readonly chart?: ChartPreview
}

/** The effect of a chart's change, rendered while planning. Never contains values of Secrets. */
export interface ChartPreview {
  readonly objects: readonly ChartObjectPreview[]
  /** The number of all objects. */
  readonly total: number
  /** How many objects change only in labels with the version. */
  readonly relabelled: number
  /** Objects with fields that differ in every rendering; those fields are not compared. */
  readonly unsteady: readonly string[]
  /** Why no part of it can be shown. */
  readonly notRendered?: { readonly why: 'no-helm' | 'new-place' | 'held' | 'failed'; readonly message: string }
}

export interface ChartObjectPreview {
  /** `Deployment.apps/podinfo/podinfo` */
  readonly id: string
  readonly becomes: 'added' | 'changed' | 'removed'
  /** By field; for a Secret without names. */
  readonly changes: readonly Change[]
}

/** A note about a whole connection that blocks or slows everything on it. */
export interface ConnectionNote {
  readonly connection: string
  /** The place of the declaration, if a person can correct the problem there. */
  readonly origin?: Origin
  readonly code: 'unreachable' | 'refused' | 'suspect' | 'incomplete'
  /** The driver's reason for a refusal (`Unauthorized`), if any: the exit code depends on it. */
  readonly reason?: string
  readonly message: string
  readonly allow: string
}

/** The recorded birth of the guest with an id, and the live one. */
export interface Births {
  readonly was?: string
  readonly is?: string
}

/** All actions in a valid order, with reasons. Data: printed, compared, run, rehearsed. */
export interface Plan {
  readonly entries: readonly PlanEntry[]
  readonly notes: readonly ConnectionNote[]
  readonly problems: readonly Problem[]
  readonly clusters?: readonly ClusterPlan[]
  readonly powers?: readonly PowerPlan[]
  /** Things that croft neither creates nor changes until the world shows a value for them. */
  readonly waiting?: readonly WaitingFor[]
  /** The hosts of each reachable connection. */
  readonly hosts?: readonly (ObservedHost & { readonly connection: string })[]
}

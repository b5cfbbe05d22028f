import type { Destruction } from './destruction.ts'
import type { Change, ObservedResource, Resource, Survey } from './resource.ts'
import type { Step } from './step.ts'

/** The progress of a thing towards its declaration. */
export interface Readiness {
  readonly ready: boolean
  readonly reason: string
  readonly message: string
  /** Short status for tables: Running, Booting, Stopped. */
  readonly status: string
}

/** Why a change is blocked, and how to unblock it. */
export interface Obstacle {
  readonly message: string
  readonly allow: string
}

/** The pure half of a driver: every judgement about its things, and every call as data. The plan uses it. */
export interface Rules {
  /** Reports whether the driver supports this type. The plan refuses others, and calls no further rule. */
  keeps(resource: Resource): boolean
  /** The id that the declaration sets, if any. */
  declaredId(resource: Resource): string | undefined
  /**
   * Returns the driver's list for things of this type. Undefined for guests: the survey shows them, they carry our
   * mark, and their id is probed before use.
   */
  listOf(resource: Resource): string | undefined
  /** The target host, for lanes and for display. */
  hostOf(resource: Resource): string
  /** Reports whether croft must choose the id from the connection's range. */
  readonly choosesId: (resource: Resource) => boolean
  /** Prerequisites that are no resource: a kind that the cluster must learn first. */
  awaits(resource: Resource, survey: Survey): readonly string[]
  /** What would block its creation, checked before any write (storage not on that host…). */
  obstacles(resource: Resource, survey: Survey): readonly Obstacle[]
  /** What would block changes to an existing one, as far as reads can tell (a bridge that its host lacks). */
  changeObstacles?(
    resource: Resource,
    observed: ObservedResource,
    changes: readonly Change[],
    survey: Survey,
  ): readonly Obstacle[]
  /**
   * Returns the differences. Needs `observed.close`; compares only declared fields. `known` holds facts from earlier
   * steps that no look shows (`Step.learns`).
   */
  diff(resource: Resource, observed: ObservedResource, known?: Readonly<Record<string, string>>): readonly Change[]
  /** Returns all calls for the creation, in order: create, grow, start. The survey tells which storages are shared. */
  createSteps(resource: Resource, externalId: string, survey?: Survey): readonly Step[]
  /** Returns all calls for these changes, in order; the first is possible now. The path `power` starts or stops. */
  updateSteps(
    resource: Resource,
    observed: ObservedResource,
    changes: readonly Change[],
    survey?: Survey,
  ): readonly Step[]
  /** Returns the call that writes our mark on an adopted thing. */
  adoptSteps(resource: Resource, observed: ObservedResource): readonly Step[]
  /** Parts with data that would be lost if it were destroyed and created again: `scsi1`, `unused0`. */
  irreplaceable(resource: Resource, observed: ObservedResource): readonly string[]
  /** All disks of a guest but its boot disk, and its detached disks: the only place of their data. */
  dataDisks(observed: ObservedResource): readonly string[]
  /** The lists that would show leftovers of an earlier, failed creation under this id. */
  remains(resource: Resource, externalId: string): readonly string[]
  /**
   * Returns the command that brings back a lost guest whose disks are still there. Only for guests that exist before their
   * disks, whose names say whose they are: then disks without a guest are never the rest of a creation.
   */
  regain?(resource: Resource, externalId: string): string | undefined
  /** Steps that delete a guest whose creation failed and left it locked. Undefined: only a person can. */
  abandonedSteps(resource: Resource, destruction: Destruction): readonly Step[] | undefined
  /** Why the system itself would refuse to delete it. */
  undeletable(observed: ObservedResource): Obstacle | undefined
  /** Returns the thing's new keeper, and the calls that remove our mark. Undefined: it is ours alone. */
  releases?(observed: ObservedResource): { readonly to: string; readonly steps: readonly Step[] } | undefined
  /** Returns the calls that only remove our mark. Undefined, or no such rule: it has none. */
  leaveSteps?(observed: ObservedResource): readonly Step[]
  /** Returns calls to delete it, after shutting it down. */
  deleteSteps(destruction: Destruction): readonly Step[]
  /** Returns calls that restart a running guest, in order; each starts once the previous one has ended. */
  rebootSteps(observed: ObservedResource): readonly Step[]
  /**
   * Returns a creation without the values that differ per thing, if creating is the only step: equal creations have
   * equal results. Undefined, or no such rule: new things are read.
   */
  likeness?(steps: readonly Step[]): string | undefined
  readiness(resource: Resource, observed: ObservedResource): Readiness
  /** Returns notes for a person, without an action. */
  notes(resource: Resource, observed: ObservedResource): readonly string[]
}

/** The answers of a driver without guests. */
export const NO_GUESTS = {
  irreplaceable: () => [],
  dataDisks: () => [],
  remains: () => [],
  abandonedSteps: () => undefined,
  rebootSteps: () => [],
} as const satisfies Partial<Rules>

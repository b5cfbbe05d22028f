import type { Destruction } from './destruction.ts'
import type { Change, ObservedResource, Resource, Survey } from './resource.ts'
import type { Step } from './step.ts'

/** How far a thing is on its way to being what was declared. */
export interface Readiness {
  readonly ready: boolean
  readonly reason: string
  readonly message: string
  /** Short word for tables: Running, Booting, Stopped. */
  readonly status: string
}

/** What blocks a change, and what would unblock it. */
export interface Obstacle {
  readonly message: string
  readonly allow: string
}

/** The pure half of a driver: every judgement about its things, and every call as data. Used by plan, never by chance. */
export interface Rules {
  /** Is this a sort of thing that the driver keeps? What is not is refused by the plan, and nothing else is asked of it. */
  keeps(resource: Resource): boolean
  /** The id the declaration itself fixes, if any. */
  declaredId(resource: Resource): string | undefined
  /**
   * The list in which a thing of this sort is found, in the driver's own words. Undefined for guests: the survey shows
   * them, they carry our mark, and their id is probed before it is used.
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
   * Differences. `observed.close` must be there; only declared fields are compared. `known` is what earlier steps have
   * taught about it and no look can tell (`Step.learns`).
   */
  diff(resource: Resource, observed: ObservedResource, known?: Readonly<Record<string, string>>): readonly Change[]
  /** All calls from nothing to declared, in order: create, grow, start. The survey tells which storages are shared. */
  createSteps(resource: Resource, externalId: string, survey?: Survey): readonly Step[]
  /** All calls that make these changes true, in order. The first is always possible now. A change of `path: 'power'` starts or stops. */
  updateSteps(
    resource: Resource,
    observed: ObservedResource,
    changes: readonly Change[],
    survey?: Survey,
  ): readonly Step[]
  /** The call that writes our mark on a thing that we take over. */
  adoptSteps(resource: Resource, observed: ObservedResource): readonly Step[]
  /** Parts with data that would be lost if it were destroyed and created again: `scsi1`, `unused0`. */
  irreplaceable(resource: Resource, observed: ObservedResource): readonly string[]
  /** All disks of a guest but its boot disk, and its detached disks: the only place of their data. */
  dataDisks(observed: ObservedResource): readonly string[]
  /** The lists that would show leftovers of an earlier, failed creation under this id. */
  remains(resource: Resource, externalId: string): readonly string[]
  /** Steps that delete a guest whose creation failed and left it locked. Undefined: only a person can. */
  abandonedSteps(resource: Resource, destruction: Destruction): readonly Step[] | undefined
  /** Why the system itself would refuse to delete it. */
  undeletable(observed: ObservedResource): Obstacle | undefined
  /** Who keeps the thing by now in our place, and the calls that take our mark off it. Undefined, or no such rule: it is ours alone. */
  releases?(observed: ObservedResource): { readonly to: string; readonly steps: readonly Step[] } | undefined
  /** The calls that take our mark off it and change nothing else. Undefined, or no such rule: nothing on it is ours. */
  leaveSteps?(observed: ObservedResource): readonly Step[]
  /** Calls to remove it, shutting it down first. */
  deleteSteps(destruction: Destruction): readonly Step[]
  /** Calls that restart a running guest, in order; each begins when the one before has ended. */
  rebootSteps(observed: ObservedResource): readonly Step[]
  /**
   * The words of a creation that is all there is to do, but for what is another for each thing: what one creation has made
   * of them, another makes of them too. Undefined, or no such rule: what was made is read.
   */
  likeness?(steps: readonly Step[]): string | undefined
  readiness(resource: Resource, observed: ObservedResource): Readiness
  /** What a person should know although nothing is done about it. */
  notes(resource: Resource, observed: ObservedResource): readonly string[]
}

/** What a driver answers about guests that keeps none. */
export const NO_GUESTS = {
  irreplaceable: () => [],
  dataDisks: () => [],
  remains: () => [],
  abandonedSteps: () => undefined,
  rebootSteps: () => [],
} as const satisfies Partial<Rules>

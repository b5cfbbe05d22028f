import type { ResourceKey } from './key.ts'
import type { Coordinated, Step } from './step.ts'

/** What croft is about to do, written down durably before it does it, whatever it is about. */
export type Intention = ThingIntention | CoordinatedIntention

/** A step on a cluster, of a Power, or of an operation on a whole cluster. What came of it is seen in the world. */
export interface CoordinatedIntention extends Begun {
  readonly step: Step<Coordinated>
}

interface Begun {
  readonly id: string
  readonly epoch: number
  readonly key: ResourceKey
  readonly atMs: number
  /** intended: the call may or may not have been made. started: the system answered with a task. */
  readonly state: 'intended' | 'started'
  readonly taskId?: string
}

/**
 * One call about one thing. `externalId` is chosen before the call that uses it, so that an attempt of which we never
 * hear again can be recognised in the world and repeated safely.
 */
export interface ThingIntention extends Begun {
  readonly uid: string
  readonly connection: string
  readonly externalId: string
  readonly host: string
  readonly step: Step
  readonly generation: string
}

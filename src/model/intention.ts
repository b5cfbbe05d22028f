import type { ClusterStep } from './cluster-decision.ts'
import type { OperationStep } from './cluster-operation.ts'
import type { ResourceKey } from './key.ts'
import type { PowerStep } from './power-decision.ts'
import type { Step } from './step.ts'

/** What croft is about to do, written down durably before it does it, whatever it is about. */
export type Intention = ThingIntention | CoordinatedIntention

/** A step on a cluster, of a Power, or of an operation on a whole cluster. What came of it is seen in the world. */
export type CoordinatedIntention =
  | (Begun & { readonly about: 'cluster'; readonly step: ClusterStep })
  | (Begun & { readonly about: 'power'; readonly step: PowerStep })
  | (Begun & { readonly about: 'operation'; readonly step: OperationStep })

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
  readonly about?: undefined
  readonly uid: string
  readonly connection: string
  readonly externalId: string
  readonly host: string
  readonly step: Step
  readonly generation: string
}

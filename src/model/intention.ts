import type { ResourceKey } from './key.ts'
import type { Step } from './step.ts'

/**
 * What croft is about to do, written down durably before it does it. `externalId` is chosen before the call that
 * uses it, so that an attempt of which we never hear again can be recognised in the world and repeated safely.
 */
export interface Intention {
  readonly id: string
  readonly epoch: number
  readonly key: ResourceKey
  readonly uid: string
  readonly connection: string
  readonly externalId: string
  readonly host: string
  readonly step: Step
  readonly generation: string
  readonly atMs: number
  /** intended: the call may or may not have been made. started: the system answered with a task. */
  readonly state: 'intended' | 'started'
  readonly taskId?: string
}

import type { Steps } from '../lib/in-turns.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { ClusterInput } from '../model/observed-cluster.ts'
import type { PowerInput } from '../model/observed-power.ts'
import type { Unforeseen } from './clusters/as-shown.ts'
import type { IdentifyInput } from './things/identify-all.ts'

/** All inputs of a plan: declaration, observation, memory and time. */
export interface PlanInput extends IdentifyInput {
  readonly clusters?: readonly ClusterInput[]
  readonly powers?: readonly PowerInput[]
  /** What the agreed plan could not see of clusters. */
  readonly unforeseen?: ReadonlyMap<ResourceKey, Unforeseen>
  readonly nowMs: number
}

/** Decides one part of the plan from the whole input and the previous parts: Powers, clusters, things. */
export type Planner<Before, Part> = (input: PlanInput, before: Before) => Steps<Part>

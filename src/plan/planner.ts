import type { Steps } from '../lib/in-turns.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { ClusterInput } from '../model/observed-cluster.ts'
import type { PowerInput } from '../model/observed-power.ts'
import type { Unforeseen } from './clusters/as-shown.ts'
import type { IdentifyInput } from './things/identify-all.ts'

/** Everything that a plan is decided on: what is declared, observed and remembered, and the time. */
export interface PlanInput extends IdentifyInput {
  readonly clusters?: readonly ClusterInput[]
  readonly powers?: readonly PowerInput[]
  /** What the plan that a person agreed to could not say of clusters. */
  readonly unforeseen?: ReadonlyMap<ResourceKey, Unforeseen>
  readonly nowMs: number
}

/** Decides one part of the plan, on the whole input and on the parts that come before it: Powers, clusters, things. */
export type Planner<Before, Part> = (input: PlanInput, before: Before) => Steps<Part>

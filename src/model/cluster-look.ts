import type { ClusterDecision } from './cluster-decision.ts'
import type { ClusterDeclaration } from './cluster-declaration.ts'
import type { ObservedCluster } from './observed-cluster.ts'

/** What the planner of clusters decides on. */
export interface ClusterInput {
  readonly declaration: ClusterDeclaration
  readonly observed: ObservedCluster
  /** Boxes that were nodes and have nothing of this cluster on them any more, by the name of the node. */
  readonly cleared?: readonly string[]
}

/** One cluster in one pass: what was declared, what was seen, and what follows from it. */
export interface ClusterLook extends ClusterInput {
  readonly decision: ClusterDecision
  /** Nodes whose machines are refused: they do not come by themselves. */
  readonly refused?: ReadonlySet<string>
}

import type { ClusterDecision } from './cluster-decision.ts'
import type { ClusterDeclaration } from './cluster-declaration.ts'
import type { ObservedCluster } from './observed-cluster.ts'

/** One cluster in one pass: what was declared, what was seen, and what follows from it. */
export interface ClusterLook {
  readonly declaration: ClusterDeclaration
  readonly observed: ObservedCluster
  readonly decision: ClusterDecision
  /** Boxes that were nodes and have nothing of this cluster on them any more, by the name of the node. */
  readonly cleared?: readonly string[]
}

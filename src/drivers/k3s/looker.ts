import type { NodeSpec } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/cluster-declaration.ts'
import type { ObservedMachine } from '../../model/observed-cluster.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import type { Access } from './access.ts'
import type { Memory } from './memory.ts'

/** What every part of a look at one cluster needs. */
export interface Looker {
  readonly declaration: ClusterDeclaration
  readonly deps: ClusterDeps
  readonly access: Access
  readonly memory: Memory
}

/** Nobody told anything about this machine. */
export const NOWHERE: ObservedMachine = { exists: 'unknown', power: 'unknown', ours: false }

/** The declared nodes by name. */
export function specsOf({ spec }: ClusterDeclaration): ReadonlyMap<string, NodeSpec> {
  return new Map([...spec.servers, ...spec.agents].map((node) => [node.name, node]))
}

import type { ClusterVerb, Step } from './step.ts'

/** What to do next with a cluster, and what stands in the way. Data: printed, compared, performed, rehearsed. */
export interface ClusterDecision {
  readonly phase: ClusterPhase
  /** May all be begun now, side by side. */
  readonly steps: readonly Step<'cluster'>[]
  readonly waits: readonly ClusterWait[]
  /** For now: something else must happen first. */
  readonly holds: readonly ClusterHold[]
  /** Not as declared: a person must change something. */
  readonly refusals: readonly ClusterHold[]
  readonly warnings: readonly string[]
  /** What the declared number of servers survives, in one sentence. */
  readonly faultTolerance: string
  /** Releases that every node will have run, in order, until the pin is reached. Empty when it is. */
  readonly hops: readonly string[]
  readonly nodes: readonly { readonly name: string; readonly phase: NodePhase; readonly message: string }[]
}

export type ClusterPhase =
  | 'Unknown'
  | 'Forming'
  | 'AwaitingCNI'
  | 'Ready'
  | 'Changing'
  | 'Upgrading'
  | 'Degraded'
  | 'Blocked'
  | 'QuorumLost'
  /** Off by order, and therefore well. */
  | 'Off'

export type NodePhase =
  | 'NoMachine'
  | 'PoweredOff'
  | 'Booting'
  | 'StaleState'
  /** In a running cluster and that croft has no record of. */
  | 'Unrecorded'
  | 'Duplicate'
  | 'Waiting'
  | 'Joining'
  | 'Learner'
  | 'AwaitingCNI'
  | 'Ready'
  | 'Soaking'
  | 'Working'
  | 'Leaving'
  | 'NotReady'
  | 'Flapping'
  | 'Unknown'

/** Is something gone for good after it: a machine with its disks, or everything that K3s held on one? */
export function isDestruction(verb: ClusterVerb): boolean {
  return verb === 'wipe-k3s' || verb === 'destroy-machine'
}

/** Nothing to do but look again. */
export interface ClusterWait {
  readonly node?: string
  readonly awaits: string
  readonly sinceMs: number
  readonly untilMs?: number
  /** A rollout waits for a node that came or changed lately. */
  readonly soak?: true
}

export interface ClusterHold {
  readonly node?: string
  /** Which rule: `quorum`, `ghost-member`, `brake`, `window`… */
  readonly guard: string
  readonly reason: string
  /** What would let it go on. */
  readonly allow: string
}

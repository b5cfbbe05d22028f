import type { WorkPurpose } from './observed-cluster.ts'
import type { Lane } from './step.ts'

/** What to do next with a cluster, and what stands in the way. Data: printed, compared, performed, rehearsed. */
export interface ClusterDecision {
  readonly phase: ClusterPhase
  /** May all be begun now, side by side. */
  readonly steps: readonly ClusterStep[]
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
  /** In a cluster that lives and that croft has no record of. */
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

export type ClusterVerb =
  /** Make CA and token and write down, with them, who is the first server: before anything is started. */
  | 'record-first-server'
  /** Write down that the first server has answered: from then on nobody starts a new cluster. */
  | 'note-formed'
  /** Delete the bootstrap token of a node that has come in with it. */
  | 'delete-join-token'
  /** Read CA and token back from a server that runs, where our record of a living cluster was lost or never was. */
  | 'read-back-secrets'
  | 'create-machine'
  | 'start-machine'
  | 'stop-machine'
  /** Let the hypervisor take the machine down and up again, for a change that waits for it. */
  | 'restart-machine'
  | 'destroy-machine'
  /** K3s uninstalled, its data and `/etc/rancher/node` gone. */
  | 'wipe-k3s'
  /** Put the program on a machine that will join later, so that its turn does not wait for a download. */
  | 'prepare-k3s'
  /** Start K3s as the first server of a new cluster. At most once in a cluster's life. */
  | 'init-cluster'
  /** Start K3s as a server, or as an agent, of the running cluster, with the token read from it at that moment. */
  | 'join-server'
  | 'join-agent'
  | 'stop-k3s'
  | 'restart-k3s'
  /** Put our mark on the Node and, unless it was already, make it unschedulable; one write. */
  | 'cordon'
  /** Evict what may be evicted now. Repeated until nothing is left to move. */
  | 'drain'
  /** Take our mark off and, where it was us who cordoned, make it schedulable; one write. */
  | 'uncordon'
  | 'upgrade-k3s'
  /** Write config.yaml and restart with it. */
  | 'configure-k3s'
  | 'remove-member'
  /** Take `removed-node-name` off, so that deleting the Node takes its member along. */
  | 'clear-removed-mark'
  | 'delete-node'
  | 'delete-node-password'
  | 'snapshot'
  | 'run-health-checks'

/** Is something gone for good after it: a machine with its disks, or everything that K3s held on one? */
export function isDestruction(verb: ClusterVerb): boolean {
  return verb === 'wipe-k3s' || verb === 'destroy-machine'
}

/** One effect on one thing. The same step again does no harm: whoever is not sure looks and decides anew. */
export interface ClusterStep {
  readonly do: ClusterVerb
  readonly node?: string
  /** Id of the etcd member that is removed. */
  readonly member?: string
  /** Release that is installed by a join or an upgrade. */
  readonly version?: string
  /** For cordon: what is written into the mark. */
  readonly purpose?: WorkPurpose
  readonly target?: string
  /** For drain: delete what refuses to be evicted. */
  readonly force?: boolean
  /** For uncordon: note that the drain for this target was given up. */
  readonly givenUp?: string
  readonly lane: Lane
  /** One line for a person. */
  readonly summary: string
  readonly reason: string
  /** What will be seen when it is done. */
  readonly awaits: string
  readonly sinceMs: number
  readonly untilMs?: number
}

/** Nothing to do but look again. */
export interface ClusterWait {
  readonly node?: string
  readonly awaits: string
  readonly sinceMs: number
  readonly untilMs?: number
}

export interface ClusterHold {
  readonly node?: string
  /** Which rule: `quorum`, `ghost-member`, `brake`, `window`… */
  readonly guard: string
  readonly reason: string
  /** What would let it go on. */
  readonly allow: string
}

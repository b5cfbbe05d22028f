import { LIMITS } from '../lib/limits.ts'
import type { NodeRole, WorkPurpose } from './cluster.ts'
import type { ResourceKey } from './declaration.ts'
import type { ClusterDeclaration } from './estate.ts'
import type { ClusterVerb, Step } from './step.ts'

/** The result of a check. `unknown` means that it gave no result: a decision must assume the worse case. */
export type YesNoUnknown = 'yes' | 'no' | 'unknown'

/** A cluster as observed at one moment, over all lanes. After a crash croft simply observes again. */
export interface ObservedCluster {
  /** Whether calls for objects are answered. Probes alone prove nothing. */
  readonly api: YesNoUnknown
  /** The declared endpoint, if only a server's own address answers. */
  readonly silentEndpoint?: string
  /** The declared endpoint, if it repeatedly answers later than a server's own address, and by how much. */
  readonly slowEndpoint?: { readonly endpoint: string; readonly ms: number }
  readonly identity?: ClusterIdentity
  /** Every node that is declared, has a Node object, or is a machine with our mark. */
  readonly nodes: readonly ObservedNode[]
  readonly members: readonly EtcdMember[] | 'unknown'
  /** Nodes whose etcd belongs to another cluster than the recorded one, with the proof. */
  readonly strangers?: readonly { readonly node: string; readonly why: string }[]
  /** Whether etcd's membership changed since the first server formed it. Decides about the etcd 3.5.26 hop. */
  readonly membershipChanged: YesNoUnknown
  readonly snapshots: readonly ClusterSnapshot[] | 'unknown'
  /** Snapshot requests since the last snapshot appeared, oldest first. Lost at a restart of croft. */
  readonly snapshotTries?: readonly SnapshotTry[]
  /** The newest result of each health check. */
  readonly checks: readonly CheckResult[]
  readonly requests: ClusterRequests
}

/** Recorded before the first server starts, and independent of the order of a list. */
export interface ClusterIdentity {
  /** Hash of the CA, as in the K10 token: it identifies data on a disk as ours. */
  readonly caHash: string
  /** The only node that may ever start as the first of a new cluster. */
  readonly firstServer?: string
  /** The first server has answered once. From then on croft never forms a new cluster. */
  readonly formed: boolean
  /** The copy in Git predates `formed` and is all that is left: a cluster may exist, so it counts as formed. */
  readonly unsure?: true
  /** When it was recorded: a machine that was made later cannot hold older data. */
  readonly recordedMs: number
}

export interface ObservedNode {
  readonly name: string
  readonly role: NodeRole
  readonly machine: ObservedMachine
  readonly kube: KubeNode | 'absent' | 'unknown'
  /** The report of the guest agent or SSH about K3s on the machine. */
  readonly k3s: LocalK3s | 'unknown'
  /** Why there is no report: the lane's error. */
  readonly silence?: string
  /** For how long it has not answered croft, where it answered since croft began. */
  readonly unheardMs?: number
  /** It answers and permits nothing: another host key, or a denied login or root. */
  readonly refuses?: { readonly by: 'host-key' | 'denied'; readonly why: string }
  /** croft's bootstrap token for its join still exists. */
  readonly joinToken?: true
  /** Whether the Secret `kube-system/<node>.node-password.k3s` exists. */
  readonly passwordSecret: YesNoUnknown
  /** Git does not declare it, and nothing proves that it ever did: croft must not remove it. */
  readonly unclaimed?: true
  /** croft started to replace this node because it was dead; from the journal. */
  readonly remediation?: Remediation
  /** Steps on it since it was last a member, oldest first. Lost at a restart of croft. */
  readonly tried?: readonly ClusterVerb[]
  /** How often it was started to join with unchanged facts, how long ago the last time, and K3s's last error. */
  readonly joins?: { readonly count: number; readonly ageMs: number; readonly failure?: string }
}

/** A replacement of a dead node, as the journal has it. */
export interface Remediation {
  /** When the last replacement started. */
  readonly atMs: number
  /** The old machine is gone, or the node recovered: the current machine stays. */
  readonly over?: true
}

export interface ObservedMachine {
  /** `no` only if certain: a survey that suddenly lacks things gives `unknown`. */
  readonly exists: YesNoUnknown
  readonly power: 'on' | 'off' | 'unknown'
  /** It has our mark: croft created it and may destroy it. */
  readonly ours: boolean
  readonly createdMs?: number
  /** Its uptime, if its hypervisor reports it. */
  readonly upMs?: number
  readonly machineId?: string
  /** A declared field that takes effect only at a restart: `memory.dedicatedMb`. */
  readonly wantsRestart?: string
  /** A declared prerequisite of a box that is not met yet. */
  readonly unprepared?: string
  /**
   * When croft first saw it after its creation, on croft's clock: the hypervisor's may be wrong, and libvirt does not
   * report the creation. Absent if croft did not create it.
   */
  readonly firstSeenMs?: number
  /** A creation, move or deletion is in progress. */
  readonly busy?: string
  /** Git no longer declares it, but a guard keeps it: then its node stays too. */
  readonly mayNotGo?: KeptMachine
}

/** The guard that keeps an undeclared machine, for a person's answer at its key. */
export interface KeptMachine {
  readonly key: ResourceKey
  readonly guard: string
  readonly reason: string
  readonly allow: string
  /** The list that a person's consent covers. Absent: the guard needs a change in Git. */
  readonly shows?: readonly string[]
}

/** Returns when a machine was created, as far as known. */
export function madeMs({
  firstSeenMs,
  createdMs,
}: Pick<ObservedMachine, 'firstSeenMs' | 'createdMs'>): number | undefined {
  return firstSeenMs ?? createdMs
}

/** Facts of the Node object. */
export interface KubeNode {
  readonly createdMs: number
  readonly ready: YesNoUnknown
  readonly readyReason?: string
  readonly readyMessage?: string
  /** When `ready` last changed. */
  readonly readySinceMs: number
  /** How often `ready` changed in the last hour. */
  readonly readyChanges?: number
  readonly version: string
  readonly unschedulable: boolean
  readonly work?: NodeWork
  /** When croft's last change of version or flags started here. Stays after the work: the soak counts from it. */
  readonly changedMs?: number
  /** A drain for this target timed out and was abandoned; only a person's resume retries it. */
  readonly drainGivenUp?: { readonly target: string; readonly atMs: number }
  /** Pods that a drain would have to move. */
  readonly podsToMove: number | 'unknown'
  /** The refusal of the last eviction: `The disruption budget w needs 2 healthy pods and has 2 currently`. */
  readonly drainBlockedBy?: string
  readonly podCidrs: readonly string[]
  readonly internalIps: readonly string[]
  /** `etcd.k3s.cattle.io/removed-node-name` is set: deleting this Node would not remove its etcd member. */
  readonly removedNameMark?: boolean
  /** Flags of its last start, read from `k3s.io/node-args`. */
  readonly args?: Readonly<Record<string, readonly string[]>>
  /** Hash of the declared configuration at its last start; from our annotation. */
  readonly configHash?: string
  /** Labels and taints, and which of them croft set. */
  readonly labels?: NodeLabels
}

/** Labels by key, and taints as `key=value:Effect`. */
export interface LabelSet {
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly string[]
}

export interface NodeLabels extends LabelSet {
  /** croft's note on the Node of what it last set. */
  readonly noted?: LabelSet
  /** The set with which K3s was started. */
  readonly started: LabelSet
}

/** Our mark on a Node under work: a lock that prevents work on a second node. */
export interface NodeWork {
  readonly purpose: WorkPurpose
  /** The version or configuration of the work. */
  readonly target: string
  readonly sinceMs: number
  /** It was schedulable before: only then croft uncordons it. */
  readonly cordoned: boolean
  /** When the call was made that stops it. */
  readonly changedMs?: number
}

export interface LocalK3s {
  /** `unknown`: nothing proves that K3s is stopped, so its data may be in use. */
  readonly service: 'absent' | 'stopped' | 'starting' | 'running' | 'failed' | 'unknown'
  /** The form of a K3s that croft did not start: `k3s-main.service`, `process 812 in session-3.scope`, `port 6443`. */
  readonly heldBy?: string
  /** Since when the service has this state. */
  readonly sinceMs: number
  readonly version?: string
  /** The release of a verified program beside the running one. */
  readonly fetched?: string
  /** The last release whose download failed there, and why. */
  readonly notFetched?: { readonly version: string; readonly why: string; readonly ageMs: number }
  /** CA hash of the data's cluster; `none` if clean, `other` if unreadable. */
  readonly data: string
  /** Why that nothing lies in its data directory proves nothing; `data` is `other` then. */
  readonly away?: string
  /** Its config.yaml is croft's, so croft started the joining K3s. */
  readonly configured?: boolean
  /** Hash of the declaration that produced its config.yaml. */
  readonly configHash?: string
  /** Its config.yaml has `cluster-init`. Absent: unknown. */
  readonly begins?: boolean
  /** Directories with too little space for croft, K3s and etcd. */
  readonly full?: readonly FullDisk[]
  /** Certificates of more than one CA on the disk: a join would fail halfway, or worse. */
  readonly mixedCa?: boolean
  /** When the first of its certificates expires. K3s renews them only at its start. */
  readonly certificatesEndMs?: number
  /** The error of a join. */
  readonly failure?: string
  /** How often croft has wiped K3s from this disk; the count survives a wipe and a restore. */
  readonly wipes?: number
  /** Croft's optional files there, by path, each with its SHA-256. */
  readonly files?: Readonly<Record<string, string>>
  /** The role with which K3s was installed. */
  readonly role?: NodeRole
  /**
   * Its datastore. With `sqlite` it is its cluster's only server. Absent: it has no data, so K3s never formed or joined
   * a cluster there as a server.
   */
  readonly datastore?: 'etcd' | 'sqlite' | 'external'
  /** This server's etcd, as it reports itself; absent if it does not answer or there is none. */
  readonly etcd?: {
    readonly self?: string
    readonly voters: readonly { readonly id: string; readonly node: string }[]
    /** Size of its database, and its response time. */
    readonly bytes?: number
    readonly answerMs?: number
  }
}

export interface FullDisk {
  readonly path: string
  readonly freeKb: number
}

export interface EtcdMember {
  readonly id: string
  /** `s3-4a13e2cb`; empty for a new member that never started. */
  readonly name: string
  /** Its node: the name without its suffix. */
  readonly node: string
  readonly learner: boolean
  /** Connected and answering. Unknown counts as down. */
  readonly up: YesNoUnknown
  readonly leader?: boolean
  /** `3.6.14`, of the running process. */
  readonly etcd?: string
}

export interface ClusterSnapshot {
  readonly name: string
  readonly atMs: number
  /** First 12 digits of the hash of its token's password. */
  readonly tokenHash?: string
  /** The sealed token is stored with it. Without it the snapshot cannot be used. */
  readonly tokenKept: YesNoUnknown
  readonly bytes?: number
  /** `file:///var/lib/…` or `s3://…`, as K3s lists it. */
  readonly location?: string
  /** The server that took it, if the file is on its disk. */
  readonly node?: string
  /** The release that ran there when it was taken. */
  readonly release?: string
}

/** A requested snapshot that no list shows yet. */
export interface SnapshotTry {
  readonly name: string
  readonly node: string
  readonly ageMs: number
  /** K3s's error. Absent: the snapshot may still appear. */
  readonly failed?: string
}

export interface CheckResult {
  readonly name: string
  readonly passed: YesNoUnknown
  readonly output: string
  readonly atMs: number
}

/** People's orders by command; in the journal until done or withdrawn. */
export interface ClusterRequests {
  /** Stops everything: a power-off, a restore, or a person's order. */
  readonly hold?: RequestedHold
  readonly rolloutPaused: boolean
  /** The aborted rollout's `rolloutId`; another declaration or a resume lifts it. */
  readonly rolloutAborted?: string
  /** When a person last ordered to continue after a failure. */
  readonly resumedMs?: number
  readonly replace: readonly ReplaceOrder[]
  /** Ids of etcd members that a person wants removed. */
  readonly removeMembers: readonly string[]
  /** Servers that a person declared dead. */
  readonly forget?: readonly ForgetOrder[]
}

/**
 * A person's statement that an unreachable server is dead: croft removes its member without stopping it first. It
 * applies to the member and Node that the person saw, until they are gone or the server is back.
 */
export interface ForgetOrder {
  readonly node: string
  readonly atMs: number
  readonly member?: string
  /** Creation time of its Node. */
  readonly createdMs?: number
}

/** An order to replace a node. It applies until the machine that it names is gone. */
export interface ReplaceOrder {
  readonly node: string
  readonly atMs: number
  /** `unseen` until the first observation after the order. Absent in orders of an older croft, which had no end. */
  readonly goes?: MachineLife | 'unseen'
}

/** Distinguishes a machine from its successor, and K3s on a box from K3s after a wipe. */
export interface MachineLife {
  readonly machineId?: string
  readonly wipes?: number
}

export interface RequestedHold {
  /** `not-seen`: croft could not look at it. Otherwise a person ordered it. */
  readonly guard?: 'not-seen'
  readonly reason: string
  readonly allow: string
  /** By order of a Power: a cluster that is off is as it should be, and one on its way is no trouble. */
  readonly power?: 'off' | 'changing'
  /** The step that a command is about to do, or did with an unknown result. */
  readonly effect?: OperationEffect
  /** The current step of the command that holds the cluster, for display. */
  readonly operation?: OperationAt
}

/** A step of an operation, and its start. */
export interface OperationStepAt extends Pick<Step<'operation'>, 'verb' | 'node' | 'until' | 'summary'> {
  readonly sinceMs: number
}

/** The progress of an operation that a command started. */
export interface OperationAt extends OperationStepAt {
  /** `restore of edge from before-upgrade`. */
  readonly name: string
  /** The steps before this one: a viewer polls less often than steps follow each other. */
  readonly before?: readonly OperationStepAt[]
}

/** A step of an operation that a command started, recorded before it is performed. */
export interface OperationEffect {
  readonly step: Step<'operation'>
  readonly atMs: number
}

/** Reports whether the operation is running. An interrupted one holds the cluster until a person looks, but is not. */
export function isUnderWay(operation: OperationAt | undefined, nowMs: number): operation is OperationAt {
  return operation !== undefined && nowMs - operation.sinceMs <= LIMITS.operationStepMs
}

export const NO_REQUESTS: ClusterRequests = { rolloutPaused: false, replace: [], removeMembers: [] }

/** The next steps of a cluster, and what blocks it. Data: printed, compared, performed, rehearsed. */
export interface ClusterDecision {
  readonly phase: ClusterPhase
  /** All of them may start now, in parallel. */
  readonly steps: readonly Step<'cluster'>[]
  readonly waits: readonly ClusterWait[]
  /** Temporary: something else must happen first. */
  readonly holds: readonly ClusterHold[]
  /** A person must change something first. */
  readonly refusals: readonly ClusterHold[]
  readonly warnings: readonly string[]
  /** One sentence about the failures that the declared servers survive. */
  readonly faultTolerance: string
  /** Releases that every node will run in order, up to the declared one. Empty once reached. */
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
  /** Off as ordered, so healthy. */
  | 'Off'

export type NodePhase =
  | 'NoMachine'
  | 'PoweredOff'
  | 'Booting'
  | 'StaleState'
  /** A member of a running cluster without a record. */
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

/** Target of a step that restores the running program on the disk. */
export const PUT_BACK = 'put-back'

/** Target of a step that downloads and verifies a program beside the running one. */
export const FETCH_BESIDE = 'fetch-beside'

/** Target of a `label-node` that is permitted to evict pods. */
export const EVICTS_PODS = 'evicts-pods'

/** A wait without a step. */
export interface ClusterWait {
  readonly node?: string
  readonly awaits: string
  readonly sinceMs: number
  readonly untilMs?: number
  /** A rollout waits for a new or recently changed node. */
  readonly soak?: true
}

export interface ClusterHold {
  readonly node?: string
  /** The rule: `quorum`, `ghost-member`, `brake`, `window`… */
  readonly guard: string
  readonly reason: string
  /** How to let it continue. */
  readonly allow: string
}

/** The input of the planner of clusters. */
export interface ClusterInput {
  readonly declaration: ClusterDeclaration
  readonly observed: ObservedCluster
  /** Boxes that were nodes and no longer hold anything of this cluster, by node name. */
  readonly cleared?: readonly string[]
}

/** One cluster in one pass: declared, observed, decided. */
export interface ClusterPlan extends ClusterInput {
  readonly decision: ClusterDecision
  /** Nodes with refused machines: they cannot join. */
  readonly refused?: ReadonlySet<string>
}

/**
 * An order by command about a whole cluster: a restore, a rotation. Its steps are data: printed before any effect,
 * performed in order, and idempotent.
 */
export interface ClusterOperation {
  readonly name: string
  readonly steps: readonly Step<'operation'>[]
  /** Checked before any effect: with any of them nothing happens. */
  readonly refusals: readonly { readonly reason: string; readonly allow: string }[]
  readonly warnings: readonly string[]
  /** It destroys live data, so a yes is not enough: a person names the cluster. */
  readonly naming?: { readonly cluster: string; readonly reason: string; readonly allow: string }
}

/** Returns the nodes that lose their data: the restored one, and those whose data is deleted. Pure. */
export function destroyedBy({ steps }: Pick<ClusterOperation, 'steps'>): readonly string[] {
  return [
    ...new Set(steps.flatMap(({ destroys, node }) => (destroys === undefined || node === undefined ? [] : [node]))),
  ]
}

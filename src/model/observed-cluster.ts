import { LIMITS } from '../lib/limits.ts'
import type { NodeRole, WorkPurpose } from './cluster.ts'
import type { ResourceKey } from './declaration.ts'
import type { ClusterDeclaration } from './estate.ts'
import type { ClusterVerb, Step } from './step.ts'

/** The result of a check. `unknown` means that it gave no result: a decision must assume the worse case. */
export type YesNoUnknown = 'yes' | 'no' | 'unknown'

/** A cluster as observed at one moment, over all lanes. After a crash croft simply observes again. */
export interface ObservedCluster {
  /** Do object calls get answers? Probes alone prove nothing. */
  readonly api: YesNoUnknown
  /** The declared endpoint, where only a server answers by its own address. */
  readonly silentEndpoint?: string
  /** The same, where it answers again and again later than a server by its own address, and how late. */
  readonly slowEndpoint?: { readonly endpoint: string; readonly ms: number }
  readonly identity?: ClusterIdentity
  /** Every node that is declared, or has a Node object, or is on a machine with our mark. */
  readonly nodes: readonly ObservedNode[]
  readonly members: readonly EtcdMember[] | 'unknown'
  /** Nodes whose etcd belongs to another cluster than the recorded one, each with what shows it. */
  readonly strangers?: readonly { readonly node: string; readonly why: string }[]
  /** Has the membership of etcd changed since the first server formed it? Decides about the etcd 3.5.26 hop. */
  readonly membershipChanged: YesNoUnknown
  readonly snapshots: readonly ClusterSnapshot[] | 'unknown'
  /** Snapshots that croft asked for since one came, oldest first. A restart of croft forgets them. */
  readonly snapshotTries?: readonly SnapshotTry[]
  /** The newest result of each health check. */
  readonly checks: readonly CheckResult[]
  readonly requests: ClusterRequests
}

/** Written down before the first server starts, and never changed by the order of a list. */
export interface ClusterIdentity {
  /** Hash of the CA, as in the K10 token: it identifies data on a disk as ours. */
  readonly caHash: string
  /** The only node that may ever be started as the first of a new cluster. */
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
  /** What the guest agent or SSH says about K3s on the machine. */
  readonly k3s: LocalK3s | 'unknown'
  /** Why it did not say: what the lane answered instead. */
  readonly silence?: string
  /** For how long it has not answered croft, where it answered since croft began. */
  readonly unheardMs?: number
  /** It is there and lets croft do nothing: it shows another host key, or denies the login or root. */
  readonly refuses?: { readonly by: 'host-key' | 'denied'; readonly why: string }
  /** A bootstrap token that croft made for it to come in with is still there. */
  readonly joinToken?: true
  /** Is the Secret `kube-system/<node>.node-password.k3s` there? */
  readonly passwordSecret: YesNoUnknown
  /** Git does not name it, and nothing says that it ever did: then it is not croft's to take out. */
  readonly unclaimed?: true
  /** That croft began to replace this node because it was dead; from the journal. */
  readonly remediation?: Remediation
  /** Steps that were done on it since it was last in, oldest first. A restart of croft forgets them. */
  readonly tried?: readonly ClusterVerb[]
  /** How often it was started to join while no fact moved, how long ago it last was, and what K3s last said of it. */
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
  /** Carries our mark: croft made it and may destroy it. */
  readonly ours: boolean
  readonly createdMs?: number
  /** For how long it has been on, where its hypervisor says so. */
  readonly upMs?: number
  readonly machineId?: string
  /** What of its declaration comes into force only with a restart: `memory.dedicatedMb`. */
  readonly wantsRestart?: string
  /** What Git wants of a box before it may become a node, and what is not in place yet. */
  readonly unprepared?: string
  /**
   * When croft first saw it after making it, by our own clock: that of its hypervisor may go wrong, and libvirt does not
   * say when a machine was made. Absent where croft did not make it.
   */
  readonly firstSeenMs?: number
  /** Being made, moved or destroyed right now. */
  readonly busy?: string
  /** Git no longer names it, and a guard keeps it all the same: then its node stays as well. */
  readonly mayNotGo?: KeptMachine
}

/** What keeps a machine that Git no longer names: the hold of a guard that a person answers at its key. */
export interface KeptMachine {
  readonly key: ResourceKey
  readonly guard: string
  readonly reason: string
  readonly allow: string
  /** The list that a person's consent covers. Absent: the guard asks for a change in Git. */
  readonly shows?: readonly string[]
}

/** When a machine was made, as well as that is known. */
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
  /** How often `ready` changed within the last hour. */
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
  /** What refused the last eviction: `The disruption budget w needs 2 healthy pods and has 2 currently`. */
  readonly drainBlockedBy?: string
  readonly podCidrs: readonly string[]
  readonly internalIps: readonly string[]
  /** `etcd.k3s.cattle.io/removed-node-name` is set: deleting this Node would leave its etcd member behind. */
  readonly removedNameMark?: boolean
  /** Flags it was last started with, read from `k3s.io/node-args`. */
  readonly args?: Readonly<Record<string, readonly string[]>>
  /** Hash of the declared configuration that it was last started with; from our annotation. */
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
  /** What croft noted on the Node when it last set them. */
  readonly noted?: LabelSet
  /** What K3s was started with. */
  readonly started: LabelSet
}

/** Our mark on a Node that is under work: the lock that keeps a second node from being touched. */
export interface NodeWork {
  readonly purpose: WorkPurpose
  /** Which version or configuration it is for. */
  readonly target: string
  readonly sinceMs: number
  /** It was schedulable before: only then do we make it schedulable again. */
  readonly cordoned: boolean
  /** When the call that takes it down was made. */
  readonly changedMs?: number
}

export interface LocalK3s {
  /** `unknown`: nothing says that K3s stands still there, so its data may be in use. */
  readonly service: 'absent' | 'stopped' | 'starting' | 'running' | 'failed' | 'unknown'
  /** What K3s runs as where croft did not start it: `k3s-main.service`, `process 812 in session-3.scope`, `port 6443`. */
  readonly heldBy?: string
  /** Since when the service is in that state. */
  readonly sinceMs: number
  readonly version?: string
  /** Of a program that was fetched and proved beside the one that runs. */
  readonly fetched?: string
  /** The release that could last not be fetched there, and why. */
  readonly notFetched?: { readonly version: string; readonly why: string; readonly ageMs: number }
  /** CA hash of the cluster whose data is on the disk; `none` when it is clean, `other` when it cannot be read. */
  readonly data: string
  /** Why that nothing lies in its data directory proves nothing; `data` is `other` then. */
  readonly away?: string
  /** Its config.yaml is croft's: K3s that is on its way here was started by croft. */
  readonly configured?: boolean
  /** Hash of the declaration that its config.yaml was written from. */
  readonly configHash?: string
  /** Its config.yaml says `cluster-init`. Absent: not told. */
  readonly begins?: boolean
  /** Directories without the room that croft, K3s and etcd need to write. */
  readonly full?: readonly FullDisk[]
  /** Certificates on the disk that do not belong to one CA: joining would fail in the middle, or worse. */
  readonly mixedCa?: boolean
  /** When the first of its certificates ends. K3s renews them only when it starts. */
  readonly certificatesEndMs?: number
  /** What a join died of. */
  readonly failure?: string
  /** How often croft has wiped K3s from this disk; the count lies where neither a wipe nor a restore reaches. */
  readonly wipes?: number
  /** Croft's optional files there, by path, each with its SHA-256. */
  readonly files?: Readonly<Record<string, string>>
  /** As what K3s was set up there. */
  readonly role?: NodeRole
  /**
   * Where it keeps its data. With `sqlite` it is the only server that its cluster can have. Absent: nothing of it is on
   * the disk, so K3s has never formed or joined a cluster there as a server.
   */
  readonly datastore?: 'etcd' | 'sqlite' | 'external'
  /** What the etcd on this server says of itself; absent where it does not answer, or where there is none. */
  readonly etcd?: {
    readonly self?: string
    readonly voters: readonly { readonly id: string; readonly node: string }[]
    /** Size of its database, and how long it took to answer. */
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
  /** `s3-4a13e2cb`; empty for a member that was added and never started. */
  readonly name: string
  /** The node it belongs to: the name without its suffix. */
  readonly node: string
  readonly learner: boolean
  /** Connected and answering. `unknown` counts as `no`. */
  readonly up: YesNoUnknown
  readonly leader?: boolean
  /** `3.6.14`, of the running process. */
  readonly etcd?: string
}

export interface ClusterSnapshot {
  readonly name: string
  readonly atMs: number
  /** First 12 digits of the hash of the token's password that it was taken with. */
  readonly tokenHash?: string
  /** The sealed token that opens it is kept with it. Without it the snapshot cannot be used. */
  readonly tokenKept: YesNoUnknown
  readonly bytes?: number
  /** `file:///var/lib/…` or `s3://…`, as K3s notes it. */
  readonly location?: string
  /** The server that took it, where the file lies on its disk. */
  readonly node?: string
}

/** A snapshot that croft asked a server for and that is in no list yet. */
export interface SnapshotTry {
  readonly name: string
  readonly node: string
  readonly ageMs: number
  /** Why none will come, in the words of K3s. Absent: it may still come. */
  readonly failed?: string
}

export interface CheckResult {
  readonly name: string
  readonly passed: YesNoUnknown
  readonly output: string
  readonly atMs: number
}

/** What people asked for by command; kept in the journal until it is done or withdrawn. */
export interface ClusterRequests {
  /** Everything stands still: a power-down, a restore, a person who said stop. */
  readonly hold?: RequestedHold
  readonly rolloutPaused: boolean
  /** The rollout that was aborted, as `rolloutId` names it; another declaration or a resume lifts it. */
  readonly rolloutAborted?: string
  /** When a person last said to go on after a failure. */
  readonly resumedMs?: number
  readonly replace: readonly ReplaceOrder[]
  /** Ids of etcd members that a person wants gone. */
  readonly removeMembers: readonly string[]
  /** Servers that a person says are dead. */
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

/** An order to replace a node. It stands until the machine that it names is gone. */
export interface ReplaceOrder {
  readonly node: string
  readonly atMs: number
  /** `unseen` until the first look after the order. Absent in orders of an older croft, which had no end. */
  readonly goes?: MachineLife | 'unseen'
}

/** Tells a machine from the one that comes in its place, and K3s on a box from the K3s after a wipe. */
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

/** A step of an operation, and when it began. */
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

/** What to do next with a cluster, and what blocks it. Data: printed, compared, performed, rehearsed. */
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
  /** Off on request, and therefore well. */
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

/** Target of a step that puts the program that runs back on the disk. */
export const PUT_BACK = 'put-back'

/** Target of a step that fetches and proves a program beside the one that runs. */
export const FETCH_BESIDE = 'fetch-beside'

/** Target of a `label-node` that is permitted to evict pods. */
export const EVICTS_PODS = 'evicts-pods'

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

/** What the planner of clusters decides on. */
export interface ClusterInput {
  readonly declaration: ClusterDeclaration
  readonly observed: ObservedCluster
  /** Boxes that were nodes and have nothing of this cluster on them any more, by the name of the node. */
  readonly cleared?: readonly string[]
}

/** One cluster in one pass: what was declared, what was seen, and what follows from it. */
export interface ClusterPlan extends ClusterInput {
  readonly decision: ClusterDecision
  /** Nodes whose machines are refused: they do not come by themselves. */
  readonly refused?: ReadonlySet<string>
}

/**
 * Something that people ask for by command and that takes a whole cluster: a restore, a rotation. Its steps are data:
 * printed before anything happens, done one after the other, and each can be repeated.
 */
export interface ClusterOperation {
  readonly name: string
  readonly steps: readonly Step<'operation'>[]
  /** Found before anything was touched: then nothing is. */
  readonly refusals: readonly { readonly reason: string; readonly allow: string }[]
  readonly warnings: readonly string[]
  /** It destroys what lives, so a yes is not enough: a person names the cluster. */
  readonly naming?: { readonly cluster: string; readonly reason: string; readonly allow: string }
}

/** Nodes that lose what they hold: the one that starts over from a snapshot, and those whose data is deleted. Pure. */
export function destroyedBy({ steps }: Pick<ClusterOperation, 'steps'>): readonly string[] {
  return [
    ...new Set(steps.flatMap(({ destroys, node }) => (destroys === undefined || node === undefined ? [] : [node]))),
  ]
}

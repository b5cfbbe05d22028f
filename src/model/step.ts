import type { WorkPurpose } from './cluster.ts'
import type { ClientCommand, Command, SnippetCommand } from './command.ts'
import type { ResourceKey } from './declaration.ts'
import type { KubeObject } from './kube-object.ts'
import type { Loss } from './loss.ts'
import type { PowerWorkload, Tier } from './power.ts'
import type { Sealed, SecretReference } from './secret.ts'
import type { SeedDocument } from './vm.ts'

/** The way of an effect. It determines what a step carries. */
export type Lane =
  /** One request to the API of a hypervisor. */
  | 'rest'
  /** Commands on a host, in one transaction. */
  | 'commands'
  /** One write to the API of a cluster. */
  | 'object'
  /** One run of croft's program on a node, over SSH. */
  | 'node-program'
  /** The same through the hypervisor's guest agent. */
  | 'agent'
  /** The power of a host. */
  | 'power'
  /** No outside system: croft's own records and checks. */
  | 'local'

/**
 * One effect on an outside system, as data: one call or one transaction about a thing, a cluster, a Power, or an
 * operation on a whole cluster. The plan prints it and the engine performs it, so the two cannot differ.
 */
export type Step<A extends About = 'thing'> = A extends 'thing'
  ? OnThing & (OverRest | OverCommands | OverObject)
  : A extends Coordinated
    ? { readonly about: A } & CoordinatedSteps[A]
    : never

/** A step about a thing in one lane. */
export type StepOver<L extends 'rest' | 'commands' | 'object'> = Extract<Step, { readonly lane: L }>

export type About = 'thing' | Coordinated

/** Steps of a coordinator of many machines. They are idempotent: croft observes and decides again. */
export type Coordinated = keyof CoordinatedSteps

interface CoordinatedSteps {
  readonly cluster: OnCluster
  readonly power: OfPower
  readonly operation: OfOperation
}

/** The fields of every step. */
interface Described {
  /** One line for display: `grow scsi0 to 50 GiB`. */
  readonly summary: string
}

/** One request to the API of a hypervisor. */
export interface RestCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly params: Readonly<Record<string, string>>
}

interface OverRest {
  readonly lane: 'rest'
  readonly call: RestCall
  /** Names in `call.params` whose values must not be shown; each value is a reference, resolved when sent. */
  readonly secretParams?: readonly string[]
}

interface OverCommands {
  readonly lane: 'commands'
  readonly call?: undefined
  readonly secretParams?: undefined
  /** Their subject on the host: `package:htop`, `/nodes/pve1/qemu/114/config`. */
  readonly on: string
  readonly commands: readonly (Command | SnippetCommand | ClientCommand)[]
  /** The version that it was decided on: with another one nothing is done. */
  readonly digest?: string
}

interface OverObject {
  readonly lane: 'object'
  readonly call?: undefined
  readonly secretParams?: undefined
  readonly write: ObjectWrite
}

/** One write to one object of a cluster. */
export type ObjectWrite =
  | {
      /** Server-side apply as that field manager; forced only if requested. */
      readonly do: 'apply'
      readonly path: string
      readonly body: KubeObject
      readonly as: string
      readonly force?: true
      /** Entries of `data` whose values are inserted at the call. */
      readonly secrets?: Readonly<Record<string, SecretReference>>
      /** The body itself contains secret values and is never shown. */
      readonly hidden?: true
    }
  | {
      /** Merge patch: null deletes a key. */
      readonly do: 'merge'
      readonly path: string
      readonly body: Readonly<Record<string, unknown>>
    }
  | {
      readonly do: 'delete'
      readonly path: string
      readonly apiVersion: string
      readonly kind: string
      readonly propagationPolicy: 'Background'
      /** Only the object that was read: one recreated meanwhile stays. */
      readonly uid?: string
      /** Only if unchanged since it was read: otherwise the server refuses. */
      readonly resourceVersion?: string
    }
  | HelmWrite

/** One run of the local Helm. */
export type HelmWrite = {
  readonly do: 'helm'
  readonly release: string
  readonly namespace: string
} & (
  | { readonly run: 'uninstall' }
  | {
      readonly run: 'upgrade'
      /** The chart's repository and version. */
      readonly chart: {
        readonly repo?: string
        readonly chart: string
        readonly version: string
        readonly git?: { readonly url: string; readonly commit: string }
      }
      /** A document of values, as JSON. */
      readonly values: string
      /** A secret document of further values. */
      readonly valuesFrom?: SecretReference
      /** Stored in the release's record. */
      readonly labels: Readonly<Record<string, string>>
      /** Adopt objects that belong to no release. */
      readonly takeOwnership?: true
    }
)

type ThingVerb =
  | 'create'
  | 'configure'
  | 'resize'
  | 'start'
  | 'shutdown'
  | 'stop'
  | 'reboot'
  | 'template'
  | 'delete'
  | 'download'
  | 'verify'
  | 'move'
  | 'mark'
  /** For a seed's disc: onto a storage, into the drive, out of it, off the storage. */
  | 'upload'
  | 'insert'
  | 'eject'
  | 'discard'

/** The parts of a step: without disruption unless they say so. */
export type HarmParts =
  | {
      readonly verb: Exclude<ThingVerb, 'delete'>
      readonly disruption?: 'none' | 'restart'
      readonly destroys?: Loss
    }
  | { readonly verb: ThingVerb; readonly disruption?: 'none' | 'restart' | 'data-loss'; readonly destroys: Loss }

export function harmOf(parts: HarmParts): Harm {
  const { verb, disruption = 'none', destroys } = parts
  return (destroys === undefined ? { verb, disruption } : { verb, disruption, destroys }) as Harm
}

/** A step's effect on running things. A step that deletes, overwrites or loses data says what it destroys. */
export type Harm =
  | {
      readonly verb: Exclude<ThingVerb, 'delete'>
      readonly disruption: 'none' | 'restart'
      readonly destroys?: Loss
    }
  | { readonly verb: ThingVerb; readonly disruption: 'none' | 'restart' | 'data-loss'; readonly destroys: Loss }

/** One effect on one thing. */
type OnThing = Harm & ThingPlace

interface ThingPlace extends Described {
  readonly about?: undefined
  readonly host: string
  /** Resources for one user at a time: `host/fun-bedbug`, `storage/fun-bedbug/local`. */
  readonly queues: readonly string[]
  /**
   * A file that is sent with the call. It is built at the call, with its secrets; `bytes` is its size with references
   * in their place.
   */
  readonly upload?: {
    readonly fileName: string
    readonly bytes: number
    readonly hash: string
    readonly document: Sealed<SeedDocument>
  }
  /** The subject that the system's task names, if not the thing itself: for a clone it is the source. */
  readonly taskSubject?: string
  /** Facts for the record's details after its success, or after a failure with that reason. */
  readonly learns?: {
    readonly done: Readonly<Record<string, string>>
    readonly failed?: { readonly reason: string; readonly facts: Readonly<Record<string, string>> }
  }
}

/** A step of a coordinator. */
interface Expecting extends Described {
  readonly lane: Lane
  /** What the observation shows afterwards. */
  readonly awaits: string
  readonly node?: string
}

/** These destroy data: a machine with its disks, or K3s's data on one. They say what. */
export type LosingVerb = 'wipe-k3s' | 'destroy-machine' | 'restore-snapshot' | 'forget-db'

/** The verb of a coordinator's step. One that loses data cannot be written without a `Loss`. */
export type WithLoss<V extends string> =
  | { readonly verb: Exclude<V, LosingVerb>; readonly destroys?: undefined }
  | { readonly verb: Extract<V, LosingVerb>; readonly destroys: Loss }

type OnCluster = WithLoss<ClusterVerb> & OfCluster

interface OfCluster extends Expecting {
  /** Id of the etcd member to remove. */
  readonly member?: string
  /** The release that a join or an upgrade installs. */
  readonly version?: string
  /** For cordon: the content of the mark. */
  readonly purpose?: WorkPurpose
  readonly target?: string
  /** For drain: delete pods that refuse the eviction. */
  readonly force?: boolean
  /** For uncordon: note that the drain for this target was abandoned. */
  readonly givenUp?: string
  readonly reason: string
  readonly sinceMs: number
  readonly untilMs?: number
}

export type ClusterVerb =
  /** Create CA and token, and record them with the first server, before any start. */
  | 'record-first-server'
  /** Record that the first server has answered: from then on croft never forms a new cluster. */
  | 'note-formed'
  /** Delete the bootstrap token of a node that has joined with it. */
  | 'delete-join-token'
  /** Read CA and token back from a running server, if croft has no record of its cluster. */
  | 'read-back-secrets'
  | 'create-machine'
  | 'start-machine'
  | 'stop-machine'
  /** Restart the machine through the hypervisor, for a pending change. */
  | 'restart-machine'
  | 'destroy-machine'
  /** Uninstall K3s and delete its data and `/etc/rancher/node`. */
  | 'wipe-k3s'
  /** Install the program on a machine that joins later, so that its turn needs no download. */
  | 'prepare-k3s'
  /** Start K3s as the first server of a new cluster. At most once in a cluster's life. */
  | 'init-cluster'
  /** Start K3s as a server or agent of the running cluster, with its current token. */
  | 'join-server'
  | 'join-agent'
  | 'stop-k3s'
  | 'restart-k3s'
  /** Write the declared configuration and token and restart, without the Node: it is missing, or the API is down. */
  | 'rewrite-k3s'
  /** Put our mark on the Node and cordon it, if it is not; one write. */
  | 'cordon'
  /** Evict the pods that may be evicted now. Repeated until none is left. */
  | 'drain'
  /** Remove our mark and, if croft cordoned it, uncordon it; one write. */
  | 'uncordon'
  | 'upgrade-k3s'
  /** Write config.yaml and restart K3s with it. */
  | 'configure-k3s'
  | 'remove-member'
  /** Remove `removed-node-name`, so that deleting the Node also removes its member. */
  | 'clear-removed-mark'
  | 'delete-node'
  | 'delete-node-password'
  /** Set labels and taints of the Node as declared, and note croft's own; one write. */
  | 'label-node'
  /** Write the optional files of a node that runs as declared, and delete the others with K3s's objects; no restart. */
  | 'put-files'
  | 'snapshot'
  | 'run-health-checks'

interface OfPower extends Expecting {
  readonly verb: PowerVerb
  readonly tier: Tier
  readonly workload?: Pick<PowerWorkload, 'kind' | 'namespace' | 'name'>
  readonly machine?: ResourceKey
  readonly host?: string
  readonly connection?: string
  readonly hook?: string
  readonly force?: boolean
  /** For a drain: CSI clients stay, since they must still detach volumes. */
  readonly sparesClients?: boolean
}

export type PowerVerb =
  /** Record its replicas in the cluster and scale it to zero; one write. */
  | 'pause'
  /** Restore its replicas and delete the record; one write. */
  | 'restore'
  /** Cordon and taint the Node, and mark both as ours; one write. */
  | 'mark-node'
  | 'unmark-node'
  | 'drain-node'
  | 'stop-k3s'
  | 'start-k3s'
  | 'disarm-ha'
  | 'arm-ha'
  /** Performed by the plan for machines. */
  | 'stop-machine'
  | 'start-machine'
  | 'stop-host'
  | 'wake-host'
  | 'run-hook'

type OfOperation = WithLoss<OperationVerb> & OnNodeInOperation

interface OnNodeInOperation extends Expecting {
  readonly until?: OperationGoal
  /** Path or name of a snapshot, hash of a password, release. */
  readonly target?: string
  /** Another node as the source. */
  readonly from?: string
  /** The target, if its path differs. */
  readonly to?: string
}

export type OperationVerb =
  /** Stops all other changes until the operation is over. */
  | 'hold'
  | 'release'
  | 'stop-k3s'
  | 'start-k3s'
  | 'restart-k3s'
  /** Write tokens and config.yaml as required from now on. */
  | 'write-files'
  /** Make the snapshot's password the cluster's current one again. */
  | 'take-password'
  | 'restore-snapshot'
  | 'forget-db'
  | 'delete-node'
  | 'snapshot'
  /** A new password is recorded before its first use. */
  | 'make-password'
  | 'rotate-token'
  /** New CAs under the old roots, recorded before their first use. */
  | 'make-authorities'
  | 'rotate-ca'
  | 'rotate-keys'
  /** Renew all certificates of one node with the same CAs, while its K3s is stopped. */
  | 'renew-certificates'
  | 'install-k3s'
  /** Delete what an earlier drill left on the machine. Anything else there stays and prevents the drill. */
  | 'clear-drill'
  | 'copy-snapshot'
  | 'write-drill-files'
  | 'compare-objects'
  | 'wipe-k3s'

/** The goal of a step, awaited before the next one starts. */
export type OperationGoal =
  | 'stopped'
  | 'job-done'
  | 'api-answers'
  /** Ready, and a voter of etcd if it is a server. */
  | 'node-well'
  | 'nothing'

/** The result of one attempt to perform a step. */
export type Outcome =
  | { readonly result: 'done' }
  | { readonly result: 'started'; readonly taskId: string }
  /** The request never reached the system: nothing happened. */
  | { readonly result: 'not-sent'; readonly message: string }
  /** It may have happened: observe before the next call. */
  | { readonly result: 'unclear'; readonly message: string }
  | { readonly result: 'refused'; readonly refusal: Refusal }

/**
 * The failure of a creation that only took its id: no process started or will start for it, so the guest can be created
 * under another id.
 */
export const NEVER_BEGUN = 'NeverBegun'

/** An API's error, classified for retries. */
export interface Refusal {
  /** Stable identifier: `IdTaken`, `Locked`, `PermissionDenied`, `Unauthorized`, `DigestMismatch`, `NotFound`… */
  readonly reason: string
  /** stalled: a person must act. waiting: no error, look again. backoff: retry with growing pauses. */
  readonly meaning: 'stalled' | 'waiting' | 'backoff'
  /** What failed, on which thing, why, and what to do. Without secrets and control characters. */
  readonly message: string
  /** Its cause may pass by itself, like an unreachable mirror or NAS: croft keeps retrying at the longest pause. */
  readonly transient?: true
  /** The whole connection is affected (401, no quorum), not only this thing. */
  readonly connectionWide?: boolean
}

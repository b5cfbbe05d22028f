import type { WorkPurpose } from './cluster.ts'
import type { ClientCommand, Command, SnippetCommand } from './command.ts'
import type { ResourceKey } from './declaration.ts'
import type { KubeObject } from './kube-object.ts'
import type { Loss } from './loss.ts'
import type { PowerWorkload, Tier } from './power.ts'
import type { Sealed, SecretReference } from './secret.ts'
import type { SeedDocument } from './vm.ts'

/** The way an effect takes. It says what a step carries. */
export type Lane =
  /** One request to the API of a hypervisor. */
  | 'rest'
  /** Commands on a host, in one transaction. */
  | 'commands'
  /** One write to the API of a cluster. */
  | 'object'
  /** One run of croft's own program on a node, over SSH. */
  | 'node-program'
  /** The same through the hypervisor's agent inside the machine. */
  | 'agent'
  /** The power of a host. */
  | 'power'
  /** Nothing outside: croft's own records and checks. */
  | 'local'

/**
 * One effect on an outside system, as data: one call or one transaction about a thing, on a cluster, of a Power, of an
 * operation on a whole cluster. The plan prints it and the engine performs it: they cannot differ.
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

/** What every step tells. */
interface Described {
  /** One line for a person: `grow scsi0 to 50 GiB`. */
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
  /** Names in `call.params` whose values must not be shown; the value there is a reference, resolved when sent. */
  readonly secretParams?: readonly string[]
}

interface OverCommands {
  readonly lane: 'commands'
  readonly call?: undefined
  readonly secretParams?: undefined
  /** What of the host they are about: `package:htop`, `/nodes/pve1/qemu/114/config`. */
  readonly on: string
  readonly commands: readonly (Command | SnippetCommand | ClientCommand)[]
  /** The version that it was decided on: where it is another by then, nothing is done. */
  readonly digest?: string
}

interface OverObject {
  readonly lane: 'object'
  readonly call?: undefined
  readonly secretParams?: undefined
  readonly write: ObjectWrite
}

/** One thing that is done to one object of a cluster. */
export type ObjectWrite =
  | {
      /** Server-side apply under that name; with force only where it says so. */
      readonly do: 'apply'
      readonly path: string
      readonly body: KubeObject
      readonly as: string
      readonly force?: true
      /** Entries of `data` whose values are put in when the call is made. */
      readonly secrets?: Readonly<Record<string, SecretReference>>
      /** The body itself contains secret values and is never shown. */
      readonly hidden?: true
    }
  | {
      /** Merge patch: null takes a key away. */
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

/** One run of the person's own Helm. */
export type HelmWrite = {
  readonly do: 'helm'
  readonly release: string
  readonly namespace: string
} & (
  | { readonly run: 'uninstall' }
  | {
      readonly run: 'upgrade'
      /** Where the chart comes from, and its version. */
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
      /** Written to the record of the release. */
      readonly labels: Readonly<Record<string, string>>
      /** Take objects that belong to no release. */
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
  /** Of the disc with a seed: onto a storage, into the drive, out of it, off the storage. */
  | 'upload'
  | 'insert'
  | 'eject'
  | 'discard'

/** The parts from which a step is built: nothing runs into it unless they say so. */
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

/** What a step does to what runs. What deletes, overwrites or loses data says what it destroys. */
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
  /** What must not be used by two at once: `host/fun-bedbug`, `storage/fun-bedbug/local`. */
  readonly queues: readonly string[]
  /**
   * A file that goes with the call. It is built when the call is made, secrets and all; `bytes` is its size with their
   * references in their place.
   */
  readonly upload?: {
    readonly fileName: string
    readonly bytes: number
    readonly hash: string
    readonly document: Sealed<SeedDocument>
  }
  /** What the system's task names as its subject, where that is not the thing itself: of a clone it is the source. */
  readonly taskSubject?: string
  /** What is known, and kept in the record's details, once it has succeeded, or has failed for that reason. */
  readonly learns?: {
    readonly done: Readonly<Record<string, string>>
    readonly failed?: { readonly reason: string; readonly facts: Readonly<Record<string, string>> }
  }
}

/** A step of a coordinator. */
interface Expecting extends Described {
  readonly lane: Lane
  /** What will be seen when it is done. */
  readonly awaits: string
  readonly node?: string
}

/** After these something is gone for good: a machine with its disks, or what K3s held on one. They say what. */
export type LosingVerb = 'wipe-k3s' | 'destroy-machine' | 'restore-snapshot' | 'forget-db'

/** The verb of a coordinator's step. One that loses data cannot be written without a `Loss`. */
export type WithLoss<V extends string> =
  | { readonly verb: Exclude<V, LosingVerb>; readonly destroys?: undefined }
  | { readonly verb: Extract<V, LosingVerb>; readonly destroys: Loss }

type OnCluster = WithLoss<ClusterVerb> & OfCluster

interface OfCluster extends Expecting {
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
  readonly reason: string
  readonly sinceMs: number
  readonly untilMs?: number
}

export type ClusterVerb =
  /** Make CA and token and write down, with them, who is the first server: before anything is started. */
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
  /** Write configuration and token as declared and restart with them, without the Node: it has none, or the API is down. */
  | 'rewrite-k3s'
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
  /** Set labels and taints of the Node as declared, and note which are croft's; one write. */
  | 'label-node'
  /** Put the optional files of a node that runs as declared and remove the others, with what K3s made of those; no restart. */
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
  /** Of a drain: what takes volumes off nodes stays, for it has to do that yet. */
  readonly sparesClients?: boolean
}

export type PowerVerb =
  /** Remember what it had, in the cluster, and take it to nothing; one write. */
  | 'pause'
  /** Give it back what it had and forget that; one write. */
  | 'restore'
  /** Cordon, taint and our mark of both; one write. */
  | 'mark-node'
  | 'unmark-node'
  | 'drain-node'
  | 'stop-k3s'
  | 'start-k3s'
  | 'disarm-ha'
  | 'arm-ha'
  /** By the plan for machines. */
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
  /** Another node that it is taken from. */
  readonly from?: string
  /** Where it goes, where that is another path. */
  readonly to?: string
}

export type OperationVerb =
  /** Everything else stands still until the operation is over. */
  | 'hold'
  | 'release'
  | 'stop-k3s'
  | 'start-k3s'
  | 'restart-k3s'
  /** Tokens and config.yaml as they must be from now on. */
  | 'write-files'
  /** The password that opens the snapshot becomes the cluster's own again. */
  | 'take-password'
  | 'restore-snapshot'
  | 'forget-db'
  | 'delete-node'
  | 'snapshot'
  /** A new password is written down, before anybody uses it. */
  | 'make-password'
  | 'rotate-token'
  /** New CAs under the old roots, written down before anybody uses them. */
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

/** What a step waits for before the next one begins. */
export type OperationGoal =
  | 'stopped'
  | 'job-done'
  | 'api-answers'
  /** A voter of etcd, or as an agent a Node, and Ready. */
  | 'node-well'
  | 'nothing'

/** What came of one attempt to perform a step. */
export type Outcome =
  | { readonly result: 'done' }
  | { readonly result: 'started'; readonly taskId: string }
  /** The request never reached the system: nothing happened. */
  | { readonly result: 'not-sent'; readonly message: string }
  /** It may have happened: look before doing anything again. */
  | { readonly result: 'unclear'; readonly message: string }
  | { readonly result: 'refused'; readonly refusal: Refusal }

/**
 * The failure of a creation that only took its id: no process started or will start for it, so the guest can be created
 * under another id.
 */
export const NEVER_BEGUN = 'NeverBegun'

/** An API's error, classified for retries. */
export interface Refusal {
  /** Stable word: `IdTaken`, `Locked`, `PermissionDenied`, `Unauthorized`, `DigestMismatch`, `NotFound`, `NoQuorum`… */
  readonly reason: string
  /** stalled: a person must act. waiting: nothing is wrong, look again. backoff: try again, each time later. */
  readonly meaning: 'stalled' | 'waiting' | 'backoff'
  /** What could not be done, to which thing, why, what to do. Already free of secrets and control characters. */
  readonly message: string
  /** Its cause may go by itself, like a mirror or a NAS that is away: croft goes on trying at the longest pause. */
  readonly transient?: true
  /** True when the whole connection is affected (401, no quorum), not this one thing. */
  readonly connectionWide?: boolean
}

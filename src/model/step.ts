import type { WorkPurpose } from './cluster.ts'
import type { ResourceKey } from './key.ts'
import type { PowerWorkload, Tier } from './power.ts'
import type { Sealed } from './sealed.ts'
import type { SeedDocument } from './seed.ts'

/** The way an operation reaches its target. */
export type Lane = 'api-token' | 'guest-agent' | 'ssh' | 'kubernetes' | 'local'

/**
 * One effect on an outside system, as data: a call about a thing, or one step on a cluster, of a Power, of an operation
 * on a whole cluster. The plan prints it and the engine performs it: they cannot differ.
 */
export type Step<A extends About = 'thing'> = A extends 'thing'
  ? CallStep
  : A extends Coordinated
    ? { readonly about: A } & CoordinatedSteps[A]
    : never

export type About = 'thing' | Coordinated

/** What a coordinator decides about many machines at once. The same step again does no harm: croft looks and decides anew. */
export type Coordinated = keyof CoordinatedSteps

interface CoordinatedSteps {
  readonly cluster: OnCluster
  readonly power: OfPower
  readonly operation: OfOperation
}

/** What every step tells. */
interface Described {
  readonly lane: Lane
  /** One line for a person: `grow scsi0 to 50 GiB`. */
  readonly summary: string
}

/** One call about one thing. */
interface CallStep extends Described {
  readonly about?: undefined
  readonly verb:
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
  readonly host: string
  /** What must not be used by two at once: `host/fun-bedbug`, `storage/fun-bedbug/local`. */
  readonly queues: readonly string[]
  readonly call: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    readonly path: string
    readonly params: Readonly<Record<string, string>>
  }
  /** Names in `call.params` whose values must not be shown; the value there is a reference, resolved when sent. */
  readonly secretParams?: readonly string[]
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
  /** A text that is written over the SSH lane where the one that is there differs; its hash and size are in `call`. */
  readonly text?: Sealed<string>
  /** What the system's task names as its subject, where that is not the thing itself: of a clone it is the source. */
  readonly taskSubject?: string
  /** What is known, and kept in the record's details, once it has succeeded, or has failed for that reason. */
  readonly learns?: {
    readonly done: Readonly<Record<string, string>>
    readonly failed?: { readonly reason: string; readonly facts: Readonly<Record<string, string>> }
  }
  readonly disruption: 'none' | 'restart' | 'data-loss'
}

/** A step of a coordinator. */
interface Expecting extends Described {
  /** What will be seen when it is done. */
  readonly awaits: string
  readonly node?: string
}

interface OnCluster extends Expecting {
  readonly do: ClusterVerb
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

interface OfPower extends Expecting {
  readonly do: PowerVerb
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

interface OfOperation extends Expecting {
  readonly do: OperationVerb
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
  /** All certificates of one node made anew by the same CAs, while its K3s stands still. */
  | 'renew-certificates'
  | 'install-k3s'
  /** What an earlier drill left on the machine goes; anything else on it stays, and forbids the drill. */
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

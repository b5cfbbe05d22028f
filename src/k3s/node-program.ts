import type { FullDisk } from '../model/observed-cluster.ts'

/**
 * The contract of the small program on every node. It is one file of POSIX shell, installed by cloud-init or over a
 * shell, and called as `NODE_PROGRAM verb arguments…` with JSON as input if the verb needs it. All verbs are
 * idempotent, return within seconds and print one line of JSON; longer work runs as a systemd job, whose state is in
 * the facts. The simulated guests keep the same contract.
 */
export const NODE_PROGRAM = '/usr/local/lib/croft/node'

export type NodeVerb =
  /** Answers NodeFacts. */
  | 'facts'
  /** Input: PutFiles. Writes them, each at once or not at all, owned by root, then removes those that must be absent. */
  | 'put'
  /** Input: InstallInput. Begins the job `install`: the program is fetched, its checksum proved, then put in place. */
  | 'install'
  /** Input: StartInput. Writes the unit, enables it and starts it, without waiting for it. */
  | 'start'
  | 'stop'
  /**
   * Arguments: none, or a version that was fetched beside the program, and its SHA-256 where it is known. That program is
   * proved again, and is in place when K3s starts again; one that has changed is deleted and refused.
   */
  | 'restart'
  /**
   * Stops K3s with all that it runs; removes its data, /etc/rancher and the units. Volumes below storage, snapshots and
   * images that came with the disk stay; disks stay mounted. Begins the job `wipe`.
   */
  | 'wipe'
  /** Argument: name. Begins the job `snapshot`, which deletes the oldest of croft's own first. */
  | 'snapshot'
  /** Input: RestoreInput. Begins the job `restore`: cluster-reset from that snapshot, which K3s itself gets from S3. */
  | 'restore'
  /**
   * Needed on all other servers before they join a restored cluster: removes server/db but its snapshots, and what K3s
   * compares with its datastore, server/tls and server/cred.
   */
  | 'forget-db'
  /**
   * Arguments: path of a snapshot, and the share that it lies on where that may not be mounted here. Answers the `tokenHash`
   * of the token that opens it, as it stands in the file itself.
   */
  | 'token-of'
  /** Argument: a directory, or `server:/path` of a share. Answers the `snapshots` there, also where K3s never ran. */
  | 'backups'
  /** Argument: id. Removes that member from etcd, asked of the etcd on this server; for one that has no Node to annotate. */
  | 'remove-member'
  /** Argument: path. Answers `bytes` and `sha256` of a file. */
  | 'measure'
  /** Arguments: path, offset, how many. Answers so many bytes of it as `base64`. */
  | 'piece'
  /** Argument: path. Answers how many `bytes` of a copy have been taken. */
  | 'taken'
  /** Arguments: path among the snapshots, offset. Input: base64. Goes behind what was taken; answers `bytes` in all. */
  | 'take'
  /** Arguments: path, SHA-256. What was taken is that file from now on, or is refused. */
  | 'keep'
  /** Input: {"token": "…"}. `k3s token rotate`. */
  | 'rotate-token'
  /** Begins the job `rotate-keys`: `k3s secrets-encrypt rotate-keys`. */
  | 'rotate-keys'
  /** Input: PutFiles with the new CA files. `k3s certificate rotate-ca`. */
  | 'rotate-ca'
  /** Starts the job `renew-certificates`: K3s stops, rotates its certificates, and starts even after a failure. */
  | 'renew-certificates'
  /** Asked by the gates alone: says why K3s may not start on what lies on this disk, and ends with 3. */
  | 'may-start'
  /** Called when a server has started: notes outside its data directory whose it is, for `may-start`. */
  | 'joined'
  /**
   * Takes croft off the node: the gates with their unit and drop-ins, this program, and its notes. Settings of the kernel
   * that K3s needs stay under names that are not croft's. K3s is not stopped.
   */
  | 'leave'

/** Answer of every verb but `facts`. */
export type NodeAnswer = { readonly ok: true } | { readonly ok: false; readonly error: string }

/** Directory for copies of snapshots, to be tried on a node or restored from elsewhere. Removed with its data. */
export const COPIES = '/var/lib/rancher/k3s/server/db/snapshots'

/** Number of croft's own snapshots that a server keeps. The program has the same number. */
export const OWN_SNAPSHOTS = 7

/** A disk with less room is full for K3s and etcd. The program has the same number. */
export const FULL_KB = 131_072

export interface PutFiles {
  readonly files: readonly { readonly path: string; readonly mode: string; readonly base64: string }[]
  /** Of OPTIONAL_FILES, those to remove: this verb never deletes other files. */
  readonly absent?: readonly string[]
}

export interface InstallInput {
  /** `v1.34.3+k3s1`. */
  readonly version: string
  /** Tried in order: a URL, or the path of a file that is already there. */
  readonly from: readonly string[]
  readonly sha256: string
  /** Kept beside the program that runs, which a restart with its version exchanges. */
  readonly beside?: true
}

export interface StartInput {
  readonly role: 'server' | 'agent'
}

export interface RestoreInput {
  /** Its path; with `s3` its name below the folder. */
  readonly snapshot: string
  /** Lines of K3s's configuration about S3, as base64: `s3Lines`. */
  readonly s3?: string
}

export interface NodeFacts {
  readonly machineId: string
  readonly hostname: string
  readonly bootId: string
  readonly clockMs: number
  readonly architecture: string
  readonly cloudInit: 'absent' | 'running' | 'done' | 'error'
  readonly cloudInitError?: string
  /** `unknown`: K3s has no unit and no process, but data, and a program listens on a port of K3s or etcd. */
  readonly service: 'absent' | 'stopped' | 'starting' | 'running' | 'failed' | 'unknown'
  /** What runs K3s without croft: another unit, a process, a port. */
  readonly heldBy?: string
  readonly serviceSinceMs: number
  /** Number of times that croft has wiped K3s from this disk. */
  readonly wipes?: number
  readonly role?: 'server' | 'agent'
  /** Version of the installed program. */
  readonly version?: string
  /** Version of a verified download that is not installed yet. */
  readonly fetched?: string
  /** Hash of the declaration that croft wrote /etc/rancher/k3s/config.yaml from; absent if the file is foreign. */
  readonly configHash?: string
  /** /etc/rancher/k3s/config.yaml says `cluster-init`: a start on an empty disk would begin a cluster. */
  readonly begins?: boolean
  /**
   * Hash of the CA on the disk, as in the token; `none`: no data; `other`: unreadable data. The program sends the file
   * itself, as `ca` of a server and `caCopy` of an agent: only croft computes the hash.
   */
  readonly data: string
  readonly mixedCa: boolean
  /** Why that no data is on the disk proves nothing: a disk is not mounted, or the node was a server. */
  readonly away?: string
  /** Ends of K3s' certificates on the disk, in openssl's form; absent without openssl, or without certificates. */
  readonly certificatesEnd?: readonly string[]
  /** The last fatal line of the journal since the service was started. */
  readonly failure?: string
  /** Directories that K3s, etcd and croft write, with less room than FULL_KB. */
  readonly full?: readonly FullDisk[]
  /** Pre-join gates that have not passed yet, each with what it waits for and since when. */
  readonly gates: readonly { readonly name: string; readonly message: string; readonly sinceMs: number }[]
  /** Where a server keeps its data: in etcd, in a file without etcd, or outside. Absent: it has none. */
  readonly datastore?: 'etcd' | 'sqlite' | 'external'
  /** The member list of etcd on this server; absent if it does not answer. */
  readonly etcd?: {
    readonly members: readonly { readonly id: string; readonly name: string; readonly learner: boolean }[]
    readonly leader?: string
    readonly self?: string
    readonly version?: string
    /** Size of its database, and how long it took to list its members, which asks the majority. */
    readonly bytes?: number
    readonly answerMs?: number
  }
  /** The node's files of OPTIONAL_FILES, by path, each with its SHA-256. Absent: an older program. */
  readonly files?: Readonly<Record<string, string>>
  readonly snapshots: readonly {
    readonly name: string
    readonly path: string
    readonly atMs: number
    readonly bytes: number
  }[]
  readonly job?: {
    readonly name: string
    readonly state: 'running' | 'done' | 'failed'
    readonly sinceMs: number
    readonly message?: string
  }
}

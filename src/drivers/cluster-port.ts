import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { PermittedPlace } from '../lib/outgoing.ts'
import type { S3Bucket } from '../lib/s3-request.ts'
import type { Shell } from '../lib/shell.ts'
import type { Wire } from '../lib/wire.ts'
import type { ClusterSecrets } from '../model/cluster.ts'
import type { ClusterDeclaration } from '../model/estate.ts'
import type { ProbeFunction } from '../model/health-check.ts'
import type {
  ClusterRequests,
  ClusterSnapshot,
  ObservedCluster,
  ObservedMachine,
  Remediation,
} from '../model/observed-cluster.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { Lane, Outcome, Step } from '../model/step.ts'
import type { Check } from './port.ts'

/** Stores each cluster's identity, encrypted. */
export interface ClusterVault {
  read(cluster: string): Promise<ClusterSecrets | undefined>
  /** Resolves once the write is durable. */
  write(secrets: ClusterSecrets): Promise<void>
  /** Absent if the vault is not encrypted. */
  readonly sealed?: SealedRecords
}

/** The records of a vault, encrypted for the holders of its keys, to be stored in Git. */
export interface SealedRecords {
  seal(cluster: string): Promise<string | undefined>
  /** The same, unless the sealed copy is current. */
  sealAnew(cluster: string): Promise<string | undefined>
  /** The key that opens them, created if missing: its place and its public part. */
  key(): Promise<{ readonly from: string; readonly recipient: string }>
}

export interface ClusterDeps {
  readonly clock: Clock
  readonly vault: ClusterVault
  /** Returns unpredictable bytes, for keys and passwords. */
  randomBytes(count: number): Uint8Array
  /** Opens the wire to a Kubernetes API with a pinned CA and our client certificate. */
  openKubernetes(target: KubernetesTarget): Wire
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Downloads a small text from an official address or a mirror. Absent: only declared checksums count. */
  fetchText?(place: PermittedPlace, signal: AbortSignal): Promise<string>
  /**
   * Objects of a bucket below a folder, with their metadata; the place is the bucket's endpoint. Rejects with what the server
   * said. Absent: this croft asks no bucket.
   */
  listBucket?(
    place: PermittedPlace,
    bucket: S3Bucket,
    folder: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly BucketObject[]>
  /** Runs a health check that the cluster's own connections do not reach. Rejects if there is no answer. */
  ask?: ProbeFunction
}

/** An object of a bucket. `metadata` has what was written to it, by name in small letters. */
export interface BucketObject {
  readonly name: string
  readonly bytes: number
  readonly atMs: number
  readonly metadata: ReadonlyMap<string, string>
}

/** Backups as the places say that hold them, without the cluster's API. */
export interface StoredBackups {
  readonly snapshots: readonly ClusterSnapshot[]
  /** Places that could not be listed, each with why. */
  readonly unread: readonly string[]
}

export interface KubernetesTarget {
  /** `https://192.168.4.79:6443`. */
  readonly endpoint: string
  /** The only trusted CA; the certificate must also be for the endpoint's name or address. */
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
  readonly proxy?: string
  /** Permitted places of that proxy. Absent: all. */
  readonly egress?: readonly string[]
}

/** The way to one node in this pass, and its machine as the hypervisor shows it. */
export interface NodeReach {
  readonly machine: ObservedMachine
  /** Absent: no way is known now (it is off, not created yet, or its agent has not answered). */
  readonly shell?: Shell
  readonly lane: Lane
}

/** A pass's facts about a cluster, in addition to what the cluster itself shows. */
export interface ClusterSurroundings {
  /** By node name: every declared node, and every machine with our mark that once was a node. */
  readonly nodes: ReadonlyMap<string, NodeReach>
  readonly requests: ClusterRequests
  /** Replacements of dead nodes that croft started, by node name. */
  readonly remediations: ReadonlyMap<string, Remediation>
}

/** Observes one cluster and performs single steps. Neither throws: what could not be read is `unknown`. */
export interface ClusterSession {
  observe(surroundings: ClusterSurroundings, signal: AbortSignal): Promise<ObservedCluster>
  /** Performs one step, except those about machines (create, start, stop, destroy), which are the hypervisor's. */
  perform(step: Step<'cluster'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<Outcome>
  /** Returns the API over the last working way; undefined while the cluster has no record. */
  kubernetes(): Promise<KubernetesClient | undefined>
  close(): Promise<void>
}

/** A person's credentials for the API of a cluster. */
export interface AdminCredentials {
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
  readonly fromMs: number
  readonly untilMs: number
}

/** The progress of an operation's step. */
export type OperationProgress =
  | { readonly is: 'yes'; readonly said?: string }
  /** `message`: what is observed instead. */
  | { readonly is: 'no'; readonly message?: string }
  | { readonly is: 'failed'; readonly message: string }

/** Performs people's orders: restores, rotations, drills. The caller holds and releases the cluster. */
export interface ClusterOperator {
  perform(step: Step<'operation'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<Outcome>
  /** Reports whether the step's goal is reached. */
  reached(step: Step<'operation'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<OperationProgress>
  /** Returns credentials signed by the cluster's own CA, without asking the cluster. Undefined without a record. */
  credentials(lifeMs: number): Promise<AdminCredentials | undefined>
  /** Reads CA and token from a running server after the loss of the record. Returns why it failed. */
  recover(server: string, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<string | undefined>
  /** Lists the disks of the servers, and the share, directory or bucket that Git declares. */
  backups(surroundings: ClusterSurroundings, signal: AbortSignal): Promise<StoredBackups>
  /** The hash of the token that opens a snapshot, as its file on that server has it. Undefined: it does not say. */
  tokenOf(
    server: string,
    path: string,
    surroundings: ClusterSurroundings,
    signal: AbortSignal,
  ): Promise<string | undefined>
  /**
   * Removes croft from its nodes without changing K3s: from all Nodes, and from the disks of the named nodes. Returns
   * what is left by node, and why.
   */
  leave(
    surroundings: ClusterSurroundings,
    disks: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
}

/** Code for K3s clusters. */
export interface ClusterDriver {
  connect(cluster: ClusterDeclaration, deps: ClusterDeps): ClusterSession
  operate(cluster: ClusterDeclaration, deps: ClusterDeps): ClusterOperator
  /** Examines a future node and returns what would keep K3s from running there. Changes nothing. */
  examine(
    cluster: ClusterDeclaration,
    node: { readonly node: string; readonly role: 'server' | 'agent' },
    shell: Shell,
    deps: ClusterDeps,
    signal: AbortSignal,
  ): Promise<readonly Check[]>
}

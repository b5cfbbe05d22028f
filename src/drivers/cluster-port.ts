import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { PermittedPlace } from '../lib/outgoing.ts'
import type { Shell } from '../lib/shell.ts'
import type { Wire } from '../lib/wire.ts'
import type { ClusterSecrets } from '../model/cluster.ts'
import type { ClusterDeclaration } from '../model/estate.ts'
import type { ProbeFunction } from '../model/health-check.ts'
import type { ClusterRequests, ObservedCluster, ObservedMachine, Remediation } from '../model/observed-cluster.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { Lane, Outcome, Step } from '../model/step.ts'
import type { Check } from './port.ts'

/** Keeps what makes each cluster itself, encrypted. */
export interface ClusterVault {
  read(cluster: string): Promise<ClusterSecrets | undefined>
  /** Durable when it resolves. */
  write(secrets: ClusterSecrets): Promise<void>
  /** Absent where nothing is encrypted. */
  readonly sealed?: SealedRecords
}

/** The records of a vault as text that only the holders of its keys can open, to be kept in Git. */
export interface SealedRecords {
  seal(cluster: string): Promise<string | undefined>
  /** The same, unless what was sealed before says the same already. */
  sealAnew(cluster: string): Promise<string | undefined>
  /** The key that opens them, made where there is none: where it is, and its public part. */
  key(): Promise<{ readonly from: string; readonly recipient: string }>
}

export interface ClusterDeps {
  readonly clock: Clock
  readonly vault: ClusterVault
  /** Unguessable bytes, for keys and passwords. */
  randomBytes(count: number): Uint8Array
  /** Opens the wire to a Kubernetes API: its CA is pinned, the client certificate is ours. */
  openKubernetes(target: KubernetesTarget): Wire
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** A small text from an official address or a mirror (the checksums of a release). Without it only declared checksums count. */
  fetchText?(place: PermittedPlace, signal: AbortSignal): Promise<string>
  /** Asks what a health check asks, where the cluster's own ways do not lead. Rejects when nobody answers. */
  ask?: ProbeFunction
}

export interface KubernetesTarget {
  /** `https://192.168.4.79:6443`. */
  readonly endpoint: string
  /** Nothing else is trusted; the certificate must also be for the endpoint's name or address. */
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
  readonly proxy?: string
  /** Where that proxy may be. Absent: everywhere. */
  readonly egress?: readonly string[]
}

/** How one node is reached in this pass, and what the hypervisor says about its machine. */
export interface NodeReach {
  readonly machine: ObservedMachine
  /** Absent: no way in is known at the moment (it is off, not made yet, its agent has not answered). */
  readonly shell?: Shell
  readonly lane: Lane
}

/** What a pass knows about a cluster besides what the cluster itself shows. */
export interface ClusterSurroundings {
  /** By node name; every declared node, and every machine with our mark that once was one. */
  readonly nodes: ReadonlyMap<string, NodeReach>
  readonly requests: ClusterRequests
  /** Replacements of dead nodes that croft began, by node name. */
  readonly remediations: ReadonlyMap<string, Remediation>
}

/** Looks at one cluster and does single steps to it. Neither throws: what could not be found out is `unknown`. */
export interface ClusterSession {
  observe(surroundings: ClusterSurroundings, signal: AbortSignal): Promise<ObservedCluster>
  /** Never the verbs about machines (create, start, stop, destroy): those are the hypervisor's. */
  perform(step: Step<'cluster'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<Outcome>
  /** The API over the way that worked last; undefined when nothing is written down of the cluster yet. */
  kubernetes(): Promise<KubernetesClient | undefined>
  close(): Promise<void>
}

/** What a person needs to speak to the API of a cluster. */
export interface AdminCredentials {
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
  readonly fromMs: number
  readonly untilMs: number
}

/** How far a step of an operation is. */
export type OperationProgress =
  | { readonly is: 'yes'; readonly said?: string }
  /** `message`: what is seen instead. */
  | { readonly is: 'no'; readonly message?: string }
  | { readonly is: 'failed'; readonly message: string }

/** Does what people ask for by command: restores, rotations, drills. Holding and releasing a cluster is the caller's. */
export interface ClusterOperator {
  perform(step: Step<'operation'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<Outcome>
  /** Has come about what the step waits for? */
  reached(step: Step<'operation'>, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<OperationProgress>
  /** Signed by the cluster's own CA, without asking the cluster. Undefined: nothing is written down of it. */
  credentials(lifeMs: number): Promise<AdminCredentials | undefined>
  /** Reads CA and token from a server that runs, where the record was lost. Answers what kept it from that. */
  recover(server: string, surroundings: ClusterSurroundings, signal: AbortSignal): Promise<string | undefined>
  /**
   * Takes croft off its nodes without touching K3s: off all Nodes, and off the disks of the nodes that are named. Returns
   * by node what is still there, and why.
   */
  leave(
    surroundings: ClusterSurroundings,
    disks: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
}

/** Code that speaks to K3s clusters. */
export interface ClusterDriver {
  connect(cluster: ClusterDeclaration, deps: ClusterDeps): ClusterSession
  operate(cluster: ClusterDeclaration, deps: ClusterDeps): ClusterOperator
  /** Looks at one machine that is to be a node, and says what would keep K3s from running there. Changes nothing. */
  examine(
    cluster: ClusterDeclaration,
    node: { readonly node: string; readonly role: 'server' | 'agent' },
    shell: Shell,
    deps: ClusterDeps,
    signal: AbortSignal,
  ): Promise<readonly Check[]>
}

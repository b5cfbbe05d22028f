import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Shell } from '../lib/shell.ts'
import type { Wire } from '../lib/wire.ts'
import type { ClusterSpec } from '../model/cluster.ts'
import type { ClusterPower, ObservedPowerHold, OnOffUnknown, UpsReading } from '../model/observed-power.ts'
import type { BmcTarget, PowerHost, PowerSpec, PowerWorkload } from '../model/power.ts'
import type { Secret, SecretReference, SshTarget } from '../model/secret.ts'
import type { Outcome, Step } from '../model/step.ts'

/** What the driver of power is given. */
export interface PowerDeps {
  readonly clock: Clock
  /** One UDP packet, for magic packets. */
  sendDatagram(address: string, port: number, bytes: Uint8Array): Promise<void>
  /** One exchange of lines over TCP, for NUT: what is sent, what comes back until the other side has answered all. */
  exchangeLines?(address: string, port: number, lines: readonly string[], signal: AbortSignal): Promise<string[]>
  /** The wire to a management controller. */
  openBmc?(target: BmcTarget): Wire
  resolveSecret(reference: SecretReference): Promise<Secret>
  openShell?(target: SshTarget): Shell
}

/** What a cluster shows of itself by its API, as far as power is concerned. */
export interface ClusterShown extends Pick<ClusterPower, 'attachments' | 'wanting' | 'dns' | 'storage'> {
  readonly workloads: readonly ShownWorkload[] | 'unknown'
  readonly nodes: ReadonlyMap<string, NodeShown>
  readonly holds: readonly ObservedPowerHold[]
}

/** A workload with the nodes that its pods are on; a pod that has no node yet runs nowhere, and is not among them. */
export interface ShownWorkload extends PowerWorkload {
  readonly podsOn: readonly string[]
}

export interface NodeShown
  extends Pick<ClusterPower['nodes'][number], 'unschedulable' | 'tainted' | 'podsToMove' | 'clientsToMove'> {
  readonly ready: boolean
  readonly mark?: ClusterPower['nodes'][number]['mark']
  /** It was restarted since our mark was put on it. */
  readonly rebooted: boolean
}

/** The connections that a step uses. */
export interface PowerReach {
  readonly spec: PowerSpec
  readonly client?: KubernetesClient
  /** Ways into nodes, by name. */
  readonly shells: ReadonlyMap<string, Shell>
}

/** Looks at and switches what has to do with power. Nothing here throws: what could not be found out is unknown. */
export interface PowerDriver {
  observeCluster(
    client: KubernetesClient,
    cluster: Pick<ClusterSpec, 'agents'>,
    spec: PowerSpec,
    signal: AbortSignal,
  ): Promise<ClusterShown | undefined>
  /** Who is logged in, by node. */
  people(shells: ReadonlyMap<string, Shell>, signal: AbortSignal): Promise<readonly ObservedPowerHold[]>
  readUps(name: string, signal: AbortSignal): Promise<UpsReading | undefined>
  /** As its management controller says, or whether it can be reached. */
  hostPower(host: PowerHost, signal: AbortSignal): Promise<{ readonly power: OnOffUnknown; readonly watts?: number }>
  /** Steps on the cluster's objects, on boxes, and hooks. */
  perform(step: Step<'power'>, reach: PowerReach, signal: AbortSignal): Promise<Outcome>
  /** What refused the last eviction, by node. */
  drainBlockedBy(node: string): string | undefined
  /** What a box that went down by itself has noted in its journal, newest last; empty when it has not. */
  ownJournal(host: PowerHost, signal: AbortSignal): Promise<readonly string[]>
  close(): Promise<void>
}

import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Shell } from '../lib/shell.ts'
import type { Wire } from '../lib/wire.ts'
import type { ClusterSpec } from '../model/cluster.ts'
import type { ClusterPower, ObservedPowerHold, OnOffUnknown, UpsReading } from '../model/observed-power.ts'
import type { BmcTarget, PowerHost, PowerSpec, PowerWorkload } from '../model/power.ts'
import type { Secret, SecretReference, SshTarget } from '../model/secret.ts'
import type { Outcome, Step } from '../model/step.ts'

/** The dependencies of the power driver. */
export interface PowerDeps {
  readonly clock: Clock
  /** Sends one UDP packet, for Wake-on-LAN. */
  sendDatagram(address: string, port: number, bytes: Uint8Array): Promise<void>
  /** Exchanges lines over TCP, for NUT: returns what comes back until all lines are answered. */
  exchangeLines?(address: string, port: number, lines: readonly string[], signal: AbortSignal): Promise<string[]>
  /** The wire to a management controller. */
  openBmc?(target: BmcTarget): Wire
  resolveSecret(reference: SecretReference): Promise<Secret>
  openShell?(target: SshTarget): Shell
}

/** A cluster's report about power, from its API. */
export interface ClusterShown extends Pick<ClusterPower, 'attachments' | 'wanting' | 'dns' | 'storage'> {
  readonly workloads: readonly ShownWorkload[] | 'unknown'
  readonly nodes: ReadonlyMap<string, NodeShown>
  readonly holds: readonly ObservedPowerHold[]
}

/** A workload with its pods' nodes; a pod without a node runs nowhere and is excluded. */
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
  /** Shells of nodes, by name. */
  readonly shells: ReadonlyMap<string, Shell>
}

/** Observes and switches power. Never throws: what could not be read is unknown. */
export interface PowerDriver {
  observeCluster(
    client: KubernetesClient,
    cluster: Pick<ClusterSpec, 'agents'>,
    spec: PowerSpec,
    signal: AbortSignal,
  ): Promise<ClusterShown | undefined>
  /** Returns who is logged in, by node. */
  people(shells: ReadonlyMap<string, Shell>, signal: AbortSignal): Promise<readonly ObservedPowerHold[]>
  readUps(name: string, signal: AbortSignal): Promise<UpsReading | undefined>
  /** Returns the power as the management controller reports it, or by the host's reachability. */
  hostPower(host: PowerHost, signal: AbortSignal): Promise<{ readonly power: OnOffUnknown; readonly watts?: number }>
  /** Performs steps on the cluster's objects and on boxes, and runs hooks. */
  perform(step: Step<'power'>, reach: PowerReach, signal: AbortSignal): Promise<Outcome>
  /** Returns the refusal of the last eviction, by node. */
  drainBlockedBy(node: string): string | undefined
  /** Returns the journal of a box that went down by itself, newest last; empty without entries. */
  ownJournal(host: PowerHost, signal: AbortSignal): Promise<readonly string[]>
  close(): Promise<void>
}

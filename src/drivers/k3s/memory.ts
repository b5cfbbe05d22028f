import type { MemberList } from '../../k3s/membership.ts'
import type { NodeFacts } from '../../k3s/node-program.ts'
import type { NodeSpec } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { CheckResult, ClusterSnapshot, ObservedMachine, ObservedNode } from '../../model/observed-cluster.ts'
import type { ClusterVerb } from '../../model/step.ts'
import type { ClusterDeps } from '../cluster-port.ts'
import type { Access } from './access.ts'
import type { AskedSnapshot } from './snapshot-tries.ts'
import type { KnownTimes } from './steady-times.ts'

/** A node's join attempts with equal facts. */
export interface JoinTries {
  readonly facts: string
  readonly count: number
  /** On the monotonic clock. */
  readonly atMs: number
  /** K3s's last output, if it failed. */
  readonly failure?: string
}

/** A node's report and its time; times in it are converted to croft's clock. */
export interface KnownFacts {
  readonly facts: NodeFacts
  readonly readMs: number
  /** The Node at that time: if it changed, the report may be outdated. */
  readonly fingerprint: string
}

/** A session's cache between two observations. If it is lost, the next observation asks all nodes again. */
export interface SessionMemory {
  readonly facts: Map<string, KnownFacts>
  /** Nodes where our program was seen, by the boot of that time. */
  readonly programs: Set<string>
  /** When a node last answered, by the clock that never jumps. */
  readonly heard: Map<string, number>
  /** Why a node did not answer last time: the lane's error. */
  readonly silences: Map<string, string>
  /** Nodes that reject croft: another host key, or a rejected key or sudo. */
  readonly refusals: Map<string, NonNullable<ObservedNode['refuses']>>
  /** Releases whose download a node refused, and why. */
  readonly notFetched: Map<string, { readonly version: string; readonly why: string; readonly atMs: number }>
  /** Failed joins of a node, with the facts of that time. */
  readonly joins: Map<string, JoinTries>
  /** Steps on a node since it was last a Ready member. */
  readonly tried: Map<string, readonly ClusterVerb[]>
  /** Nodes that croft has changed since they were last asked. */
  readonly touched: Set<string>
  /** Recent changes of readiness by node, and since when it has its current value. */
  readonly readiness: Map<string, { readonly sinceMs: number; readonly changes: readonly number[] }>
  /** Times read from Nodes, with their age at that time. */
  readonly times: KnownTimes
  /** When a restore first saw undeclared Nodes that are not Ready, by the clock that never jumps. */
  readonly unready: Map<string, number>
  readonly drainBlockedBy: Map<string, string>
  readonly checks: Map<string, CheckResult>
  /** Ids of bootstrap tokens of joining nodes. */
  readonly tokens: Map<string, string>
  /** Servers last seen as running voters, with their addresses. */
  voters: ReadonlyMap<string, string>
  members: { readonly list: MemberList; readonly readMs: number } | undefined
  /** Requested snapshots since the last one appeared, oldest first. */
  snapshotTries: readonly AskedSnapshot[]
  snapshots: { readonly list: readonly ClusterSnapshot[]; readonly readMs: number } | undefined
}

export function emptyMemory(): SessionMemory {
  return {
    facts: new Map(),
    programs: new Set(),
    heard: new Map(),
    silences: new Map(),
    refusals: new Map(),
    notFetched: new Map(),
    joins: new Map(),
    tried: new Map(),
    touched: new Set(),
    readiness: new Map(),
    times: new Map(),
    unready: new Map(),
    drainBlockedBy: new Map(),
    checks: new Map(),
    tokens: new Map(),
    voters: new Map(),
    members: undefined,
    snapshotTries: [],
    snapshots: undefined,
  }
}

/** Records a change of readiness and counts those of the last hour that croft saw. */
export function noteReadiness(memory: SessionMemory, node: string, sinceMs: number, nowMs: number): number {
  const known = memory.readiness.get(node)
  const recent = (known?.changes ?? []).filter((at) => nowMs - at < 3_600_000)
  const changes = known !== undefined && known.sinceMs !== sinceMs ? [...recent, nowMs] : recent
  memory.readiness.set(node, { sinceMs, changes })
  return changes.length
}

export function noteTried({ tried }: SessionMemory, node: string, verb: ClusterVerb): void {
  tried.set(node, [...new Set([...(tried.get(node) ?? []), verb])])
}

/** The context of an observation of one cluster. */
export interface ObserveContext {
  readonly declaration: ClusterDeclaration
  readonly deps: ClusterDeps
  readonly access: Access
  readonly memory: SessionMemory
}

/** A machine without any facts. */
export const NOWHERE: ObservedMachine = { exists: 'unknown', power: 'unknown', ours: false }

/** The declared nodes by name. */
export function specsOf({ spec }: ClusterDeclaration): ReadonlyMap<string, NodeSpec> {
  return new Map([...spec.servers, ...spec.agents].map((node) => [node.name, node]))
}

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

/** Joins of one node with the same facts. */
export interface JoinTries {
  readonly facts: string
  readonly count: number
  /** By the clock that never jumps. */
  readonly atMs: number
  /** What K3s last said of one that ended. */
  readonly failure?: string
}

/** What a node said, and when; times in it have been moved to our clock. */
export interface KnownFacts {
  readonly facts: NodeFacts
  readonly readMs: number
  /** The Node as it was then: another one means that what was said may no longer hold. */
  readonly fingerprint: string
}

/**
 * What a session keeps between two looks. All of it may be lost: then the next look asks everybody again.
 */
export interface SessionMemory {
  readonly facts: Map<string, KnownFacts>
  /** Nodes on which our program has been seen, by the boot in which it was. */
  readonly programs: Set<string>
  /** When a node last answered, by the clock that never jumps. */
  readonly heard: Map<string, number>
  /** What kept a node from answering when it was last asked, in the words of the lane. */
  readonly silences: Map<string, string>
  /** Nodes that refuse croft itself: another host key, a key or sudo that is not accepted. */
  readonly refusals: Map<string, NonNullable<ObservedNode['refuses']>>
  /** Releases whose program a node could not be told to fetch, and why. */
  readonly notFetched: Map<string, { readonly version: string; readonly why: string; readonly atMs: number }>
  /** Joins that were tried on a node, and the facts that they were tried with. */
  readonly joins: Map<string, JoinTries>
  /** Steps that were done on a node since it was last in the cluster and Ready. */
  readonly tried: Map<string, readonly ClusterVerb[]>
  /** Nodes that we have acted on since they were last asked. */
  readonly touched: Set<string>
  /** When readiness was last seen to change, by node; and since when it is as it is. */
  readonly readiness: Map<string, { readonly sinceMs: number; readonly changes: readonly number[] }>
  /** Times that were read from Nodes, and how old they were then. */
  readonly times: KnownTimes
  readonly drainBlockedBy: Map<string, string>
  readonly checks: Map<string, CheckResult>
  /** Ids of bootstrap tokens that were handed to nodes on their way in. */
  readonly tokens: Map<string, string>
  /** Servers that were last seen to vote and to be up, with the address of each. */
  voters: ReadonlyMap<string, string>
  members: { readonly list: MemberList; readonly readMs: number } | undefined
  /** Snapshots that were asked for since one came, oldest first. */
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
    drainBlockedBy: new Map(),
    checks: new Map(),
    tokens: new Map(),
    voters: new Map(),
    members: undefined,
    snapshotTries: [],
    snapshots: undefined,
  }
}

/** How often readiness changed within the last hour, as far as we were there to see it. */
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

/** What every part of a look at one cluster needs. */
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

import type { Problem, ResourceKey } from './declaration.ts'
import type { ClusterDecision, ObservedCluster } from './observed-cluster.ts'
import type { PowerView } from './observed-power.ts'
import type { Action, PlanDisruption } from './plan.ts'
import type { Condition } from './record.ts'

/** All that the page and the API show at one moment. Free of secrets and control characters. */
export interface EstateView {
  /** Grows with every change, so that readers can tell versions apart. */
  readonly version: number
  readonly atMs: number
  readonly sources: readonly SourceView[]
  readonly problems: readonly Problem[]
  readonly connections: readonly ConnectionView[]
  readonly hosts: readonly HostView[]
  readonly resources: readonly ResourceView[]
  readonly clusters: readonly ClusterView[]
  /** Clusters and sites that are switched off and on. */
  readonly power?: readonly PowerView[]
  readonly drifts: readonly DriftView[]
  /** The effect of the current plan on running workloads. */
  readonly disruption?: PlanDisruption
  readonly checks: readonly CheckView[]
  /** The newest applied commits, newest first: events name commits only by their hash. */
  readonly commits?: readonly CommitView[]
  /** The last pass's end and duration, and the next one's start. */
  readonly pass?: {
    readonly endedMs: number
    readonly tookMs: number
    readonly effects: number
    readonly nextMs: number
  }
}

export interface SourceView {
  readonly name: string
  readonly remote: string
  readonly ref: string
  /** The applied commit. */
  readonly commit?: string
  readonly subject?: string
  readonly author?: string
  readonly committedMs?: number
  readonly lookedMs?: number
  /** Why the newest commit is not applied. */
  readonly trouble?: string
  /** The repository does not answer, so a newer commit may exist. */
  readonly unreachable?: true
  /** A commit that is applied once a person approves its plan. */
  readonly waiting?: {
    readonly commit: string
    readonly subject?: string
    readonly author?: string
    /** `Source/NAME@PLAN` approves it. Absent: it could not be planned. */
    readonly plan?: string
    readonly summary: string
    readonly text: string
    readonly rows?: readonly WaitingRow[]
    readonly sinceMs: number
  }
}

/** One line of a waiting plan. */
export interface WaitingRow {
  readonly key: ResourceKey
  readonly do: Action['do']
  /** The action that is held, or that follows a wait. */
  readonly next?: Action['do']
  readonly text: string
  /** The file of the declaration. Absent: no longer declared. */
  readonly file?: string
}

export interface CommitView {
  readonly source: string
  readonly commit: string
  readonly subject: string
  readonly author: string
  readonly committedMs: number
  /** When croft first saw it: the difference is the delay of the push. */
  readonly seenMs?: number
}

export interface ConnectionView {
  readonly name: string
  readonly driver: string
  readonly endpoint: string
  readonly state: 'ok' | 'unreachable' | 'refused' | 'suspect' | 'incomplete'
  readonly message?: string
  readonly allow?: string
  /**
   * The computers of its hosts by host name, as `address:port` of SSH or `local`; an empty name means the connection's
   * own target. Two connections to the same computer show the same box.
   */
  readonly computers?: Readonly<Record<string, string>>
}

export interface HostView {
  readonly connection: string
  readonly name: string
  readonly online: boolean
  readonly cpus?: number
  readonly memoryBytes?: number
  readonly memoryUsedBytes?: number
  readonly temperatureC?: number
  readonly watts?: number
  /** Share of its processors that is busy, 0 to 1. */
  readonly load?: number
}

export interface ResourceView {
  readonly key: ResourceKey
  readonly kind: string
  readonly name: string
  readonly connection: string
  readonly host?: string
  readonly externalId?: string
  /** The cluster that it is a node of. */
  readonly cluster?: string
  readonly status: string
  readonly conditions: readonly Condition[]
  /** The current plan's action; with steps, without secrets. */
  readonly action: Action
  readonly power?: string
  readonly addresses?: readonly string[]
  /** The manifest in Git and its place. */
  readonly origin?: { readonly file: string; readonly line: number; readonly commit?: string }
  readonly paused: boolean
  /** The live fields as text; secrets are `***`. */
  readonly observed?: Readonly<Record<string, string>>
}

export interface ClusterView {
  readonly key: ResourceKey
  readonly name: string
  readonly version: string
  readonly endpoint: string
  readonly decision: ClusterDecision
  readonly observed: ObservedCluster
  /** How many voters may fail before etcd stops; negative if it has stopped. */
  readonly quorumMargin: number | 'unknown'
  /** Since when the API of a formed cluster has not answered. */
  readonly unseenSinceMs?: number
  /** A restore or rotation that a command started, and its current step. */
  readonly operation?: {
    /** `restore of edge from before-upgrade`. */
    readonly name: string
    readonly step: string
    readonly sinceMs: number
    /** It made no progress for longer than a step takes. */
    readonly stopped: boolean
  }
}

export interface DriftView {
  readonly key: ResourceKey
  readonly field: string
  /** Masked as `***` if it is a secret. */
  readonly declared: string
  readonly observed: string
  readonly sinceMs: number
  /** `root@pam` and the task, if the outside system logs them. */
  readonly by?: { readonly user: string; readonly task: string; readonly atMs: number }
  readonly policy: 'correct' | 'report' | 'ignore'
}

export interface CheckView {
  readonly name: string
  readonly passed: 'yes' | 'no' | 'unknown'
  readonly output: string
  readonly atMs: number
}

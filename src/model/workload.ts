import type { ResourceKey } from './declaration.ts'

/** One object of a cluster below an add-on: declared, or created by controllers. */
export interface WorkloadNode {
  /** Its uid, or for a missing declared object its expected id. */
  readonly id: string
  /** Its owner. Absent: the add-on declares it itself. */
  readonly parent?: string
  /** For a declared object: its resource. */
  readonly key?: ResourceKey
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly state: 'ok' | 'busy' | 'bad' | 'quiet'
  /** `2/3 ready`, `CrashLoopBackOff`. */
  readonly status: string
  readonly createdMs?: number
  /** Only for a pod. */
  readonly node?: string
  readonly restarts?: number
  readonly containers?: readonly WorkloadContainer[]
  /** Newest first. */
  readonly events: readonly WorkloadEvent[]
}

export interface WorkloadContainer {
  readonly name: string
  readonly image: string
  readonly state: string
  readonly ready: boolean
  readonly restarts: number
  /** A previous container ended: its log can be read. */
  readonly previous: boolean
}

export interface WorkloadEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  readonly count: number
  readonly atMs: number
}

export interface WorkloadTree {
  readonly nodes: readonly WorkloadNode[]
  /** Why something may be missing: a refused list, or more objects than are shown. */
  readonly notes: readonly string[]
}

/** Selects a log, and how much of it. */
export interface LogQuestion {
  readonly cluster: string
  readonly addon: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** The number of last lines. */
  readonly tail: number
  /** Of the previous container. */
  readonly previous: boolean
  readonly follow: boolean
}

export type LogAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: 'not-found' | 'refused' | 'away'; readonly message: string }

/** What runs on clusters, for people. Nothing is cached: each request reads it. */
export interface Workloads {
  /** Returns undefined if no such add-on is declared. */
  tree(cluster: string, addon: string): Promise<WorkloadTree | undefined>
  /** Passes the log on line by line. Only pods below the add-on have one. */
  log(question: LogQuestion, onLine: (line: string) => void, signal: AbortSignal): Promise<LogAnswer>
}

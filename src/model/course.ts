import type { ResourceKey } from './declaration.ts'

/** The meaning of a bar: pods that move, a change, a stop, a wait, or a shutdown. */
export type BarSort = 'move' | 'change' | 'down' | 'wait' | 'off'

/** One step on one track. Without an end it is still running. */
export interface CourseBar {
  /** `drain`, `install`, `restart`. */
  readonly step: string
  readonly sort: BarSort
  /** What is done or awaited, in a sentence. */
  readonly says: string
  readonly fromMs: number
  readonly toMs?: number
}

export interface CourseTrack {
  readonly name: string
  readonly sort: 'workloads' | 'server' | 'agent' | 'machine' | 'host'
  readonly bars: readonly CourseBar[]
}

/** Voters of etcd from a moment on. `up` is unknown if no member could be asked. */
export interface CourseVotes {
  readonly atMs: number
  readonly up: number | 'unknown'
  readonly voters: number
  readonly needed: number
}

/**
 * How an upgrade, a restore, a power-off or another change of a cluster went from moment to moment: a track for each
 * node with the steps on it, and the votes of etcd above.
 */
export interface Course {
  readonly key: ResourceKey
  readonly purpose: 'upgrade' | 'operation' | 'change' | 'power-off' | 'power-on'
  readonly title: string
  readonly fromMs: number
  /** When it was last seen; its end once it is over. */
  readonly seenMs: number
  readonly over: boolean
  readonly tracks: readonly CourseTrack[]
  readonly votes: readonly CourseVotes[]
}

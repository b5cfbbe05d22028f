import type { ResourceKey } from './declaration.ts'

/** The meaning of a bar: pods that move, a change, a stop, a wait, or a shutdown. */
export type BarSort = 'move' | 'change' | 'down' | 'wait' | 'off'

/** One step on one track. Without an end it is still running. */
export interface CourseBar {
  /** `drain`, `install`, `restart`. */
  readonly step: string
  readonly sort: BarSort
  /** The sentence for the work or the wait. */
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
 * The course of an upgrade, a restore, a power-off or another change of a cluster: a track of steps for each node, and
 * the votes of etcd above.
 */
export interface Course {
  readonly key: ResourceKey
  readonly purpose: 'upgrade' | 'operation' | 'change' | 'power-off' | 'power-on'
  readonly title: string
  readonly fromMs: number
  /** When it was last observed; its end once it is over. */
  readonly seenMs: number
  readonly over: boolean
  readonly tracks: readonly CourseTrack[]
  readonly votes: readonly CourseVotes[]
}

import type { ResourceKey } from './key.ts'

/** Something that happened, with its cause. Written only on change. */
export interface CroftEvent {
  readonly seq: number
  readonly atMs: number
  readonly key?: ResourceKey
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Commit that asked for it, when one did. */
  readonly commit?: string
  /** What led to it: from the plan's reason to the call. Absent where nothing but the world's own doing did. */
  readonly cause?: EventCause
}

/** The chain behind an effect: a commit asked for it, the plan said why, a step was one call. */
export interface EventCause {
  /** Why the plan decided so: `memory.dedicatedMb differ`. */
  readonly plan?: string
  /** The call as it was made, without its parameters: `PUT /nodes/fun-bedbug/qemu/105/config`. */
  readonly call?: string
  /** Why something may be destroyed: who declared it before, the commit that removed it, or who approved. */
  readonly proof?: string
  /** The world moved and Git did not: what is done is a correction. */
  readonly drift?: true
  /** A person's wish: `page:anna`. */
  readonly actor?: string
}

export type NewEvent = Omit<CroftEvent, 'seq'>

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
}

export type NewEvent = Omit<CroftEvent, 'seq'>

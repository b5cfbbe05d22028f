import type { World } from '../world/types.ts'
import type { Machine } from './machine.ts'

/** A computer with a running system that others reach over a network: the inside of a guest, or a physical box. */
export interface Computer {
  /** `qemu/101`, `metal/nuc-1`. */
  readonly id: string
  readonly world: World
  readonly machine: Machine
  /** The system runs and its network works. */
  isUp(): boolean
  /** The name that is in force now, which is not always the one that was asked for. */
  hostname(): string
  /** Without their prefix lengths, the first one first. */
  addresses(): readonly string[]
  /** Its system is asked to go down and to switch it off. Absent where nobody simulates that. */
  goDown?(): void
}

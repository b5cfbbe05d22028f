import type { ResourceKey } from './key.ts'
import type { Tier } from './power.ts'
import type { Step } from './step.ts'

/** What to do next about the power of a cluster or site, and what stands in the way. */
export interface PowerDecision {
  readonly phase: PowerPhase
  /** Which state is wanted, since when, and who says so. */
  readonly wanted: { readonly state: 'on' | 'off'; readonly sinceMs: number; readonly why: string }
  readonly steps: readonly Step<'power'>[]
  readonly waits: readonly PowerWait[]
  readonly holds: readonly PowerHold[]
  readonly refusals: readonly PowerHold[]
  readonly warnings: readonly string[]
  /** In the order in which they are gone through. */
  readonly tiers: readonly TierRow[]
  /** What becomes of machines in the hypervisor's hands: switched on or off, or left. Others are as declared. */
  readonly machines: Readonly<Record<ResourceKey, 'on' | 'off' | 'leave'>>
  /** Everything else about the cluster stands still while this is so. */
  readonly holdsCluster: boolean
  /** Nodes that are off and meant to be. */
  readonly asleep: readonly string[]
  /** The change of state came to its end with this look. */
  readonly ended?: { readonly result: 'done' | 'aborted'; readonly reason: string }
}

export type PowerPhase = 'On' | 'GoingOff' | 'Off' | 'GoingOn' | 'Held' | 'Unknown'

export interface PowerWait {
  readonly tier: Tier
  readonly what: string
  readonly awaits: string
  /** What is seen instead, where somebody says so. */
  readonly seen?: string
  readonly waitedMs: number
  /** Until the declared choice counts. */
  readonly leftMs?: number
  /** What happens then. */
  readonly afterwards?: 'wait' | 'force' | 'abort'
}

export interface PowerHold {
  readonly tier?: Tier
  readonly guard: string
  readonly reason: string
  readonly allow: string
  readonly sinceMs?: number
  readonly untilMs?: number
}

export interface TierRow {
  readonly tier: Tier
  readonly state: 'done' | 'doing' | 'todo'
  /** How much of it is done: `3 of 5`. */
  readonly progress: string
  /** The evidence that is awaited before the next one begins. */
  readonly awaits: string
}

import type { ResourceKey } from './key.ts'
import type { PowerEnergy } from './power.ts'
import type { PowerDecision } from './power-decision.ts'

/** A Power as the page and the API show it. */
export interface PowerView
  extends Pick<PowerDecision, 'phase' | 'wanted' | 'tiers' | 'waits' | 'holds' | 'refusals' | 'warnings' | 'asleep'> {
  readonly key: ResourceKey
  readonly name: string
  readonly cluster?: string
  /** What is done right now, in a person's words. */
  readonly doing: readonly string[]
  readonly watts: { readonly estimated: number; readonly measured?: number }
  readonly energy?: PowerEnergy
  /** When the schedule speaks next, and what it will say. */
  readonly next?: { readonly state: 'on' | 'off'; readonly atMs: number }
}

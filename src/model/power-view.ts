import type { ResourceKey } from './key.ts'
import type { PowerSeen } from './observed-power.ts'
import type { PersonHold, PowerEnergy, PowerSchedule, UpsSpec } from './power.ts'
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
  readonly schedule?: PowerSchedule
  /** Holds that people set, whether or not anything is to go off now. */
  readonly held: readonly PersonHold[]
  readonly hosts: readonly PowerHostView[]
  readonly onDemand: readonly OnDemandView[]
  /** How long a node on demand may have nothing to run. */
  readonly idleMs: number
  readonly ups?: UpsView
}

export interface PowerHostView {
  readonly name: string
  readonly power: PowerSeen
  readonly level: number
  /** How it is woken; absent: by nobody but a person. */
  readonly wokenBy?: 'Wake-on-LAN' | 'management controller'
  /** croft itself runs there: it goes last. */
  readonly own: boolean
  readonly watts?: number
  /** Guests that nobody declared and that keep it on. */
  readonly strangers: readonly string[]
}

export interface OnDemandView {
  readonly node: string
  readonly power: PowerSeen
  /** Pods that only it could run. */
  readonly wanting: readonly string[]
}

export interface UpsView {
  readonly name: string
  readonly state: 'mains' | 'battery' | 'unknown'
  readonly charge?: number
  readonly low?: boolean
  readonly watts?: number
  readonly levels: UpsSpec['levels']
}

/** What would be done if it were switched now. Nothing is ordered by asking. */
export interface PowerPreview extends Pick<PowerDecision, 'tiers' | 'holds' | 'refusals' | 'warnings'> {
  readonly state: 'on' | 'off'
  /** The first steps, in a person's words. */
  readonly first: readonly string[]
}

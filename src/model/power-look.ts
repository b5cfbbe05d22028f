import type { ObservedPower } from './observed-power.ts'
import type { PowerDeclaration, PowerDone, PowerEnergy, PowerOrders } from './power.ts'
import type { PowerDecision } from './power-decision.ts'

/** What the planner of Powers decides on. */
export interface PowerInput {
  readonly declaration: PowerDeclaration
  readonly observed: ObservedPower
  readonly orders: PowerOrders
  readonly done?: PowerDone
  /** When all of this was read: orders count from the moment that they were given. */
  readonly atMs: number
  /** What was used today, as of the pass before. */
  readonly energy?: PowerEnergy
}

/** One Power in one pass: what was declared, seen and ordered, and what follows from it. */
export interface PowerLook extends PowerInput {
  readonly decision: PowerDecision
}

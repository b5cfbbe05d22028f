import type { ObservedPower } from './observed-power.ts'
import type { PowerDeclaration, PowerDone, PowerEnergy, PowerOrders } from './power.ts'
import type { PowerDecision } from './power-decision.ts'

/** One Power in one pass: what was declared, seen and ordered, and what follows from it. */
export interface PowerLook {
  readonly declaration: PowerDeclaration
  readonly observed: ObservedPower
  readonly orders: PowerOrders
  readonly done?: PowerDone
  readonly decision: PowerDecision
  /** What was used today, as of the pass before. */
  readonly energy?: PowerEnergy
}

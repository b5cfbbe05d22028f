import type { PowerPlan } from '../../model/observed-power.ts'
import type { Planner } from '../planner.ts'
import { coordinatePower } from './coordinate.ts'

/** Plans the next steps of each Power. */
export const planPowers: Planner<object, readonly PowerPlan[]> = function* ({ powers = [] }) {
  const looks: PowerPlan[] = []
  for (const power of powers) {
    yield
    const { declaration, observed, requests, done, atMs } = power
    looks.push({ ...power, decision: coordinatePower(declaration.spec, observed, requests, done, atMs) })
  }
  return looks
}

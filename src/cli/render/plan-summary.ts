import type { Action } from '../../model/action.ts'
import type { PlanDisruption } from '../../model/disruption.ts'
import type { Plan } from '../../model/plan.ts'
import { clusterDiffers } from '../../plan/clusters/forecast.ts'
import { disruptionOf } from '../../plan/disruption.ts'

/** What a plan comes to, in numbers. */
export interface PlanSummary {
  readonly add: number
  readonly change: number
  readonly destroy: number
  readonly adopt: number
  readonly forget: number
  readonly wait: number
  readonly held: number
  readonly refused: number
  readonly unchanged: number
  /** The worst that is done to anything that runs. */
  readonly disruption: PlanDisruption['worst']
  /** The same thing by thing. */
  readonly disruptions: PlanDisruption['items']
}

/**
 * A replacement is one thing gone and one thing new, as in the tools people know. What is done after a wait for
 * something else in the same plan counts as what it is: `apply` does it too.
 */
export function summarise(plan: Plan): PlanSummary {
  const meant = plan.entries.map(({ action }) => (action.do === 'wait' ? (action.next ?? action) : action))
  const count = (wanted: Action['do']) => meant.filter((action) => action.do === wanted).length
  const replaced = count('replace')
  const clusters = plan.clusters ?? []
  const disruption = disruptionOf(plan)
  return {
    add: count('create') + replaced,
    change: count('update'),
    // A node that is wiped or made anew is destroyed, whatever becomes of its machine.
    destroy: count('delete') + replaced + disruption.destroyed,
    adopt: count('adopt'),
    forget: count('forget'),
    wait: count('wait'),
    held: count('hold') + clusters.reduce((sum, { decision }) => sum + decision.holds.length, 0),
    refused: count('refuse') + clusters.reduce((sum, { decision }) => sum + decision.refusals.length, 0),
    unchanged: count('nothing'),
    disruption: disruption.worst,
    disruptions: disruption.items,
  }
}

/** True when Git and the world differ in any way, even if a guard keeps croft from doing anything about it. */
export function hasSomethingToDo(plan: Plan): boolean {
  return plan.entries.some((entry) => entry.action.do !== 'nothing') || (plan.clusters ?? []).some(clusterDiffers)
}

import type { Action } from '../../model/action.ts'
import type { Plan } from '../../model/plan.ts'
import type { Step } from '../../model/step.ts'
import { clusterDiffers } from '../../plan/cluster/forecast.ts'

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
  /** The worst that any step that will be performed does to a running thing. */
  readonly disruption: Step['disruption']
}

/**
 * A replacement is one thing gone and one thing new, as in the tools people know. What is done after a wait for
 * something else in the same plan counts as what it is: `apply` does it too.
 */
export function summarise(plan: Plan): PlanSummary {
  const meant = plan.entries.map(({ action }) => (action.do === 'wait' ? (action.next ?? action) : action))
  const count = (wanted: Action['do']) => meant.filter((action) => action.do === wanted).length
  const replaced = count('replace')
  return {
    add: count('create') + replaced,
    change: count('update'),
    destroy: count('delete') + replaced,
    adopt: count('adopt'),
    forget: count('forget'),
    wait: count('wait'),
    held: count('hold'),
    refused: count('refuse'),
    unchanged: count('nothing'),
    disruption: worst(meant.flatMap((action) => ('steps' in action ? [...action.steps] : []))),
  }
}

/** True when Git and the world differ in any way, even if a guard keeps croft from doing anything about it. */
export function hasSomethingToDo(plan: Plan): boolean {
  return plan.entries.some((entry) => entry.action.do !== 'nothing') || (plan.clusters ?? []).some(clusterDiffers)
}

export function worst(steps: readonly Step[]): Step['disruption'] {
  if (steps.some((step) => step.disruption === 'data-loss')) return 'data-loss'
  return steps.some((step) => step.disruption === 'restart') ? 'restart' : 'none'
}

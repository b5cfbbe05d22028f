import { LIMITS } from '../../lib/limits.ts'
import type { RequestedHold } from '../../model/observed-cluster.ts'
import type { Plan, PlanEntry } from '../../model/plan.ts'

/**
 * While a Power switches a cluster off or on, croft itself must not scale its workloads up: it leaves its objects there
 * alone until the cluster is on, and zero replicas are no drift.
 */
export function holdForPower(plan: Plan): Plan {
  const still = new Map<string, RequestedHold>(
    (plan.clusters ?? []).flatMap(({ declaration, observed }) => {
      const { hold } = observed.requests
      return hold?.power === undefined ? [] : [[`cluster/${declaration.name}`, hold] as const]
    }),
  )
  if (still.size === 0) return plan
  const entries = plan.entries.map((entry): PlanEntry => {
    const hold = still.get(entry.connection)
    if (hold === undefined || entry.action.do === 'nothing') return entry
    const { drift: _, ...rest } = entry
    return {
      ...rest,
      action: { do: 'wait', reason: 'Power', message: hold.reason, lookAgainMs: LIMITS.sweepIntervalMs },
    }
  })
  // A cluster that is off on request gives no answer, so its silence is no news.
  const notes = plan.notes.filter(({ connection }) => still.get(connection)?.power !== 'off')
  return { ...plan, entries, notes }
}

import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { PlanInput } from '../planner.ts'

/**
 * Delays the formation of a cluster until its dependencies are Ready. Once formed, the cluster is maintained even if a
 * dependency fails.
 */
export function notBefore(look: ClusterPlan, input: PlanInput): ClusterPlan {
  const { declaration, decision } = look
  const { after = [] } = declaration.policy
  if (after.length === 0 || decision.phase !== 'Forming' || look.observed.identity !== undefined) return look
  const unmet = after.filter((key) => !isReady(key, input))
  if (unmet.length === 0) return look
  const wait = { awaits: unmet.join(', '), sinceMs: input.nowMs }
  return { ...look, decision: { ...decision, steps: [], waits: [wait, ...decision.waits] } }
}

/** Reports whether all resources of a declaration are Ready, or whether it has none and serves only lookups. */
function isReady(key: ResourceKey, { estate, ledger }: PlanInput): boolean {
  const things = [
    ...estate.resources.map((one) => one.key).filter((one) => one === key || ownerOf(one) === key),
    ...(estate.clusters ?? []).map((one) => one.key).filter((one) => one === key),
  ]
  if (things.length === 0) return !estate.unreadable.includes(key)
  return things.every((thing) =>
    ledger.records.get(thing)?.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
  )
}

import type { ResourceKey } from '../../model/declaration.ts'
import type { ClusterDecision, ClusterPlan } from '../../model/observed-cluster.ts'
import { isDoing, type Plan, type PlanEntry } from '../../model/plan.ts'
import type { Step } from '../../model/step.ts'
import { forecast, type NodeForecast } from './forecast.ts'

/** What the agreed plan could not see of a cluster. */
export interface Unforeseen {
  readonly cluster: string
  /** The cluster has no record, so croft cannot ask its API: this run only reads its CA and token back. */
  readonly unrecorded: boolean
  /** Nodes that the plan could not see: this run starts no work on them. */
  readonly nodes: ReadonlySet<string>
}

export function unforeseenIn({ clusters = [] }: Pick<Plan, 'clusters'>): ReadonlyMap<ResourceKey, Unforeseen> {
  return new Map(
    clusters.flatMap((look) => {
      const { key, name } = look.declaration
      const nodes = forecast(look).filter(({ unknown }) => unknown === true)
      if (nodes.length === 0) return []
      const unrecorded = look.observed.identity === undefined
      return [[key, { cluster: name, unrecorded, nodes: new Set(nodes.map((node) => node.name)) }] as const]
    }),
  )
}

/** Returns the decision about a cluster without work that the plan did not show. Work of an earlier run continues. */
export function asShown(look: ClusterPlan, unforeseen: Unforeseen | undefined): ClusterPlan {
  if (unforeseen === undefined) return look
  const decision = unforeseen.unrecorded ? onlyReadBack(look) : withoutNewWork(look, unforeseen)
  return decision === look.decision ? look : { ...look, decision }
}

function onlyReadBack(look: ClusterPlan): ClusterDecision {
  const { decision, observed } = look
  const becomes = forecast(look)
  const steps = decision.steps.filter(({ verb }) => verb === 'read-back-secrets')
  const unread = observed.identity === undefined && becomes.some(({ unknown }) => unknown === true)
  if (steps.length > 0 || unread) return { ...decision, steps }
  const differs = becomes.filter((node) => node.becomes !== 'nothing')
  const objects = decision.holds.length + decision.refusals.length > 0
  if (decision.steps.length === 0 && (differs.length === 0 || objects)) return decision
  return { ...held(look, [], differs), waits: [] }
}

function withoutNewWork(look: ClusterPlan, { nodes }: Unforeseen): ClusterDecision {
  const { decision, observed } = look
  const idle = new Set(
    observed.nodes.flatMap(({ name, kube }) =>
      nodes.has(name) && (typeof kube !== 'object' || kube.work === undefined) ? [name] : [],
    ),
  )
  const differs = forecast(look).filter(
    ({ name, becomes }) => idle.has(name) && (becomes === 'changes' || becomes === 'replaced'),
  )
  const begins = ({ verb, node, destroys }: Step<'cluster'>) =>
    node !== undefined && idle.has(node) && (verb === 'cordon' || destroys !== undefined)
  const objects = decision.holds.length + decision.refusals.length > 0
  if (!decision.steps.some(begins) && (differs.length === 0 || objects)) return decision
  const steps = decision.steps.filter((step) => !begins(step) && !PREPARES.has(step.verb))
  return held(look, steps, differs)
}

/** Steps on one node that prepare the work on another. */
const PREPARES: ReadonlySet<string> = new Set(['snapshot', 'run-health-checks'])

function held(
  { declaration, decision }: ClusterPlan,
  steps: ClusterDecision['steps'],
  differs: readonly NodeForecast[],
): ClusterDecision {
  const found =
    differs.length === 0
      ? decision.steps.map(({ summary }) => summary)
      : differs.map(({ name, text }) => `${name}: ${text}`)
  const hold = {
    guard: 'not-planned',
    reason: `the plan of this run could not see what ${declaration.name} runs, and did not show this: ${found.join('; ')}`,
    allow: 'run croft plan to see it, then croft apply',
  }
  // This run does nothing after a soak, so it does not wait for one.
  const waits = decision.waits.filter(({ soak }) => soak !== true)
  return { ...decision, steps, waits, holds: [...decision.holds, hold] }
}

/** Objects in a cluster that the plan could not read: croft creates those that the plan showed, and the others wait. */
export function objectsAsShown(plan: Plan, unforeseen: ReadonlyMap<ResourceKey, Unforeseen>): Plan {
  const unseen = new Set([...unforeseen.values()].flatMap((one) => (one.unrecorded ? [`cluster/${one.cluster}`] : [])))
  if (unseen.size === 0) return plan
  const stopped = new Set(
    (plan.clusters ?? []).flatMap(({ declaration, decision }) =>
      decision.holds.some(({ guard }) => guard === 'not-planned') ? [`cluster/${declaration.name}`] : [],
    ),
  )
  const entries = plan.entries.map((entry): PlanEntry => {
    const { action, connection } = entry
    if (!unseen.has(connection)) return entry
    const waiting = action.do === 'wait' && stopped.has(connection) ? action.next : undefined
    const held = waiting ?? (isDoing(action) && action.do !== 'create' ? action : undefined)
    if (held === undefined) return entry
    const reason = 'the plan of this run could not see it in its cluster, and did not show this change'
    return {
      ...entry,
      action: { do: 'hold', guard: 'not-planned', held, reason, allow: 'run croft plan to see it, then croft apply' },
    }
  })
  return { ...plan, entries }
}

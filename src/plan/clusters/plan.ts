import { about } from '../../lib/failed-on.ts'
import type { ClusterInput, ClusterPlan, RequestedHold } from '../../model/observed-cluster.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { Step } from '../../model/step.ts'
import type { Planner } from '../planner.ts'
import { asShown, type Unforeseen } from './as-shown.ts'
import { coordinate } from './coordinate.ts'

/**
 * Plans what each cluster needs next, as far as power allows. While a cluster goes off or on, its coordinator stops; it
 * orders machines to shut down itself, so that the guard of running nodes lets them go.
 */
export const planClusters: Planner<{ readonly powers: readonly PowerPlan[] }, readonly ClusterPlan[]> = function* (
  { clusters = [], unforeseen, nowMs },
  { powers },
) {
  const looks: ClusterPlan[] = []
  for (const cluster of clusters) {
    yield
    const power = powers.find(({ declaration }) => declaration.spec.cluster === cluster.declaration.name)
    const { key } = cluster.declaration
    looks.push(about([key], () => planCluster(cluster, power, unforeseen?.get(key), nowMs)))
  }
  return looks
}

function planCluster(
  cluster: ClusterInput,
  power: PowerPlan | undefined,
  unforeseen: Unforeseen | undefined,
  nowMs: number,
): ClusterPlan {
  const { declaration, observed } = cluster
  // Store the hold in the observation, since the forecast reads it too.
  const seen =
    power?.decision.holdsCluster === true
      ? { ...observed, requests: { ...observed.requests, hold: holdOf(power) } }
      : observed
  const whole = { ...cluster, observed: seen, decision: coordinate(declaration.spec, seen, nowMs) }
  const { decision } = asShown(whole, unforeseen)
  const stops = power === undefined ? [] : stopsBy(power, nowMs)
  return { ...whole, decision: { ...decision, steps: [...decision.steps, ...stops] } }
}

function stopsBy({ decision }: PowerPlan, nowMs: number): readonly Step<'cluster'>[] {
  return decision.steps.flatMap((step): readonly Step<'cluster'>[] => {
    if (step.verb !== 'stop-machine' || step.node === undefined) return []
    const { node, lane, summary, awaits } = step
    const stop = { about: 'cluster', verb: 'stop-machine', node, lane, summary, awaits } as const
    return [{ ...stop, reason: decision.wanted.why, sinceMs: nowMs }]
  })
}

function holdOf({ declaration: { key, name }, decision: { phase, wanted } }: PowerPlan): RequestedHold {
  const how = phase === 'Off' ? 'off' : phase === 'PoweringOn' ? 'powering on' : 'powering off'
  return {
    reason: `${key} is ${how} (${wanted.why})`,
    allow: phase === 'Off' ? `croft power on ${name}` : 'nothing: it continues by itself',
    power: phase === 'Off' ? 'off' : 'changing',
  }
}

import type { ClusterSpec } from '../../../model/cluster.ts'
import type { ClusterDecision, ObservedCluster } from '../../../model/observed-cluster.ts'
import { coordinate } from '../coordinate.ts'
import { NOW } from './fixture.ts'

/** Returns each step in at most three words: `stop-k3s s3`. */
export function plannedSteps(decision: ClusterDecision): readonly string[] {
  return decision.steps.map(({ verb, node, version, force }) =>
    [verb, node, version, force === true ? 'force' : undefined].filter((word) => word !== undefined).join(' '),
  )
}

export function plannedGuards(decision: ClusterDecision): readonly string[] {
  return [...decision.holds, ...decision.refusals].map(({ guard }) => guard)
}

export function nextSteps(spec: ClusterSpec, observed: ObservedCluster, nowMs: number = NOW): readonly string[] {
  return plannedSteps(coordinate(spec, observed, nowMs))
}

export function phaseOf(decision: ClusterDecision, name: string): string | undefined {
  return decision.nodes.find((node) => node.name === name)?.phase
}

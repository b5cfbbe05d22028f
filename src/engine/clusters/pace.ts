import { LIMITS } from '../../lib/limits.ts'
import type { ClusterPlan, NodePhase } from '../../model/observed-cluster.ts'
import { isForMachines, type StepAttempt, type StepFailures, stepName } from '../steps.ts'

/** When each wait, and each step that is still due, was first seen. Lost with the process: then it restarts. */
export type KnownWaits = Map<string, number>

/** Phases that will change soon by themselves. */
const ON_ITS_WAY: ReadonlySet<NodePhase> = new Set(['Booting', 'Joining', 'Learner', 'Waiting'])

/** One cluster in one pass: observation and steps. */
export interface ClusterPass {
  readonly look: ClusterPlan
  readonly attempts: readonly StepAttempt<'cluster'>[]
}

/**
 * Returns when to look at clusters again: at once after a new step, otherwise with a pause in proportion to the wait so
 * far. The end of a wait is noticed within an eightieth of its time, so that a fast wait ends fast and a slow one costs
 * little.
 */
export function nextClusterLookMs(
  kept: readonly ClusterPass[],
  known: KnownWaits,
  failures: StepFailures,
  { nowMs, steadyMs }: { readonly nowMs: number; readonly steadyMs: number },
): number {
  const current = new Map<string, number>()
  let next: number = LIMITS.sweepIntervalMs
  const wait = (name: string) => {
    const sinceMs = Math.min(known.get(name) ?? nowMs, nowMs)
    current.set(name, sinceMs)
    next = Math.min(next, paceMs(nowMs - sinceMs))
  }
  for (const { look, attempts } of kept) {
    const { key } = look.declaration
    for (const { step, outcome } of attempts) {
      if (outcome.result === 'done' && !known.has(stepName(key, step))) next = 0
    }
    for (const step of look.decision.steps) {
      const failure = failures.get(stepName(key, step))
      if (failure !== undefined && failure.nextAttemptMs > steadyMs)
        next = Math.min(next, failure.nextAttemptMs - steadyMs)
      else if (!isForMachines(step)) wait(stepName(key, step))
    }
    for (const { name, phase } of look.decision.nodes) if (ON_ITS_WAY.has(phase)) wait(`${key} ${name} ${phase}`)
    for (const { node, awaits, untilMs } of look.decision.waits) {
      wait(`${key} ${node ?? ''} ${awaits}`)
      // If the end of a soak or a pause is known, look then.
      if (untilMs !== undefined && untilMs > nowMs) next = Math.min(next, untilMs - nowMs)
    }
  }
  known.clear()
  for (const [name, sinceMs] of current) known.set(name, sinceMs)
  return next
}

function paceMs(waitedMs: number): number {
  const { shortestMs, longestMs, share } = LIMITS.clusterLook
  return Math.min(longestMs, Math.max(shortestMs, Math.round(waitedMs * share)))
}

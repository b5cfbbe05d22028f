import type { Clock } from '../../lib/clock.ts'
import type { Random } from '../../lib/random.ts'
import type { ClusterStep, ClusterVerb } from '../../model/cluster-decision.ts'
import type { CoordinatedIntention } from '../../model/intention.ts'
import type { FailureRun } from '../../model/record.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import type { Store } from '../../store/port.ts'
import { journalled } from '../act.ts'
import { countFailure } from '../failures.ts'
import type { LookedAt } from './look.ts'
import { noteRemediation } from './remembered.ts'
import type { ClusterSessions } from './sessions.ts'

/** One step on a cluster and what came of it. */
export interface ClusterAttempt {
  readonly step: ClusterStep
  readonly outcome: Outcome
}

/** Steps that failed of late, and when each may be tried again. Lost with the process: then it is tried at once. */
export type ClusterFailures = Map<string, FailureRun>

export interface ClusterActDeps {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly epoch: number
  readonly sessions: ClusterSessions
  readonly failures: ClusterFailures
  /** Steps that were begun earlier and may still arrive. */
  readonly unsure: readonly CoordinatedIntention[]
  nextIntentionId(): string
}

/** What the hypervisor does, as part of the plan for machines. */
const MACHINES: ReadonlySet<ClusterVerb> = new Set([
  'create-machine',
  'start-machine',
  'stop-machine',
  'restart-machine',
  'destroy-machine',
])

/** Is it done by the plan for machines, and not here? */
export function isForMachines(step: ClusterStep): boolean {
  return MACHINES.has(step.do)
}

/**
 * The steps that this pass would begin: those of the machines are in the plan, those that just failed wait, by the clock
 * that never jumps, and so does everything on a node where an earlier step may still arrive.
 */
export function dueSteps(
  { look }: Pick<LookedAt, 'look'>,
  { failures, unsure }: Pick<ClusterActDeps, 'failures' | 'unsure'>,
  steadyMs: number,
): readonly ClusterStep[] {
  const awaited = unsure.flatMap((one) =>
    one.about === 'cluster' && one.key === look.declaration.key ? [one.step.node] : [],
  )
  return look.decision.steps.filter((step) => {
    if (isForMachines(step) || awaited.includes(step.node)) return false
    const failure = failures.get(stepName(look.declaration.key, step))
    return failure === undefined || failure.nextAttemptMs <= steadyMs
  })
}

/** Performs the due steps of one cluster side by side, each with its intention. Each of them may be repeated. */
export async function actOnCluster(
  looked: LookedAt,
  deps: ClusterActDeps,
  signal: AbortSignal,
): Promise<readonly ClusterAttempt[]> {
  const { declaration } = looked.look
  const { clock, store, epoch, failures, random } = deps
  const steps = dueSteps(looked, deps, clock.monotonicMs())
  if (steps.length === 0) return []
  for (const step of steps) {
    if (step.purpose === 'remediate' && step.node !== undefined)
      await noteRemediation(store, epoch, declaration.name, step.node, clock.now())
  }
  const session = await deps.sessions.of(declaration)
  return Promise.all(
    steps.map(async (step) => {
      const id = deps.nextIntentionId()
      const begun = { id, epoch, key: declaration.key, atMs: clock.now(), state: 'intended' as const }
      const outcome = await journalled({ ...begun, about: 'cluster', step }, deps, () =>
        session.perform(step, looked.surroundings, signal),
      )
      const name = stepName(declaration.key, step)
      const refusal = refusalIn(outcome)
      if (refusal === undefined) failures.delete(name)
      else failures.set(name, countFailure(failures.get(name), refusal, clock.monotonicMs(), random))
      return { step, outcome }
    }),
  )
}

/** Why a step did not come off. An unclear one is looked at again as soon as possible, like one that was done. */
export function refusalIn(outcome: Outcome): Refusal | undefined {
  if (outcome.result === 'refused') return outcome.refusal
  if (outcome.result !== 'not-sent') return undefined
  return { reason: 'NotReached', meaning: 'backoff', message: outcome.message }
}

/** Names a step of a cluster, so that it is known again in the next pass. */
export function stepName(key: string, step: ClusterStep): string {
  return `${key} ${step.do} ${step.node ?? ''} ${step.member ?? ''}`
}

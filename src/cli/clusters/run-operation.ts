import type { ClusterOperator, ClusterSurroundings } from '../../drivers/cluster-port.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterOperation } from '../../model/cluster-operation.ts'
import type { Step } from '../../model/step.ts'

export interface OperationDeps {
  readonly operator: ClusterOperator
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Asked before each step: ways into nodes change. */
  surroundings(): Promise<ClusterSurroundings> | ClusterSurroundings
  /** Holds everything else that croft does with the cluster, or lets it go on. */
  setHold(reason: string | undefined): Promise<void>
  /** How far a long step is, as one line. */
  onProgress?(said: string): void
  onStep(step: Step<'operation'>, number: number, state: 'begun' | 'done', said?: string): Promise<void> | void
}

export type OperationResult =
  | { readonly is: 'done' }
  | { readonly is: 'failed'; readonly step: Step<'operation'>; readonly message: string }

/**
 * Does the steps of an operation one after the other. Where one fails it stops, and the hold stays: somebody must look
 * before anything else touches the cluster. Every step can be repeated, so it is simply begun again.
 */
export async function runOperation({ steps }: ClusterOperation, deps: OperationDeps): Promise<OperationResult> {
  for (const [index, step] of steps.entries()) {
    await deps.onStep(step, index + 1, 'begun')
    const failure = await runStep(step, deps, (said) => deps.onStep(step, index + 1, 'done', said))
    if (failure !== undefined) return { is: 'failed', step, message: failure }
  }
  return { is: 'done' }
}

async function runStep(
  step: Step<'operation'>,
  deps: OperationDeps,
  done: (said?: string) => Promise<void> | void,
): Promise<string | undefined> {
  const { operator, clock, signal } = deps
  if (step.do === 'hold' || step.do === 'release') {
    await deps.setHold(step.do === 'hold' ? (step.target ?? step.summary) : undefined)
    await done()
    return undefined
  }
  let untilMs = clock.monotonicMs() + LIMITS.operationStepMs
  let begun = false
  let last = 'no answer'
  while (clock.monotonicMs() < untilMs && !signal.aborted) {
    const surroundings = await deps.surroundings()
    if (!begun) {
      const outcome = await operator.perform(step, surroundings, signal)
      if (outcome.result === 'refused' && outcome.refusal.meaning === 'stalled') return outcome.refusal.message
      begun = outcome.result === 'done' || outcome.result === 'started'
      const said = outcome.result === 'refused' ? outcome.refusal.message : 'message' in outcome ? outcome.message : ''
      if (!begun && said !== last) {
        // What goes on takes the time that it takes.
        if (outcome.result === 'refused' && outcome.refusal.reason === 'Copying') {
          untilMs = clock.monotonicMs() + LIMITS.operationStepMs
        }
        // Whoever waits reads what for, and not only in the end.
        deps.onProgress?.(said)
        last = said
      }
    }
    if (begun) {
      const reached = await operator.reached(step, surroundings, signal)
      if (reached.is === 'failed') return reached.message
      if (reached.is === 'yes') {
        await done(reached.said)
        return undefined
      }
      last = `waited for ${step.awaits}${reached.message === undefined ? '' : ` (${reached.message})`}`
    }
    await clock.sleep(LIMITS.operationPollMs, signal)
  }
  return signal.aborted ? 'it was interrupted' : `${last}, and it did not come`
}

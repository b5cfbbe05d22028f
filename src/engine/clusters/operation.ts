import type { ClusterOperator, ClusterSurroundings } from '../../drivers/cluster-port.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterOperation, OperationEffect } from '../../model/observed-cluster.ts'
import type { Outcome, Step } from '../../model/step.ts'
import { fateOfStep } from '../recover.ts'

/** How far a step went without waiting. */
export type Advance =
  | { readonly is: 'done'; readonly said?: string; readonly effects: number }
  | {
      readonly is: 'waits'
      readonly message: string
      readonly begun: boolean
      readonly effects: number
      /** It progresses: its deadline starts again. */
      readonly goesOn?: boolean
    }
  | { readonly is: 'failed'; readonly message: string; readonly effects: number }

/** Starts a step unless it was started, recording its intention first, and checks whether it has ended. */
export async function advance(
  step: Step<'operation'>,
  begun: boolean,
  operator: ClusterOperator,
  journalled: (step: Step<'operation'>, perform: () => Promise<Outcome>) => Promise<Outcome>,
  surroundings: ClusterSurroundings,
  signal: AbortSignal,
): Promise<Advance> {
  let effects = 0
  if (!begun) {
    const outcome = await journalled(step, () => operator.perform(step, surroundings, signal))
    effects = outcome.result === 'not-sent' ? 0 : 1
    if (outcome.result === 'refused') {
      const { meaning, message, reason } = outcome.refusal
      return meaning === 'stalled'
        ? { is: 'failed', message, effects }
        : { is: 'waits', message, begun: false, effects: 0, goesOn: reason === 'Copying' }
    }
    if (outcome.result === 'not-sent' || outcome.result === 'unclear')
      return { is: 'waits', message: outcome.message, begun: false, effects }
  }
  const reached = await operator.reached(step, surroundings, signal)
  if (reached.is === 'failed') return { is: 'failed', message: reached.message, effects }
  if (reached.is === 'yes') return { is: 'done', effects, ...defined({ said: reached.said }) }
  const seen = reached.message === undefined ? '' : ` (${reached.message})`
  return { is: 'waits', message: `waited for ${step.awaits}${seen}`, begun: true, effects }
}

export interface OperationDeps {
  readonly operator: ClusterOperator
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called before each step, since shells change. */
  surroundings(): Promise<ClusterSurroundings> | ClusterSurroundings
  /** Stops all other work of croft on the cluster, or permits it again. */
  setHold(reason: string | undefined): Promise<void>
  /** Returns the step of an earlier run with an unknown result. */
  unsure(): Promise<OperationEffect | undefined>
  /** Durably records the next effect; undefined once its outcome is certain. */
  intend(effect: OperationEffect | undefined): Promise<void>
  /** Reports the progress of a long step as one line. */
  onProgress?(said: string): void
  onStep(step: Step<'operation'>, number: number, state: 'begun' | 'done', said?: string): Promise<void> | void
}

export type OperationResult =
  | { readonly is: 'done' }
  | { readonly is: 'failed'; readonly step: Step<'operation'>; readonly message: string }

/**
 * Performs the steps of an operation in order. If one fails, it stops and the hold stays: a person must look before
 * croft changes the cluster. Every step is idempotent, so it is simply started again; requests of an earlier run that
 * may arrive late have expired before.
 */
export async function runOperation({ steps }: ClusterOperation, deps: OperationDeps): Promise<OperationResult> {
  await outwait(deps)
  for (const [index, step] of steps.entries()) {
    await deps.onStep(step, index + 1, 'begun')
    const failure = await runStep(step, deps, (said) => deps.onStep(step, index + 1, 'done', said))
    if (failure !== undefined) return { is: 'failed', step, message: failure }
  }
  return { is: 'done' }
}

async function outwait({ unsure, clock, signal, onProgress }: OperationDeps): Promise<void> {
  const effect = await unsure()
  if (effect === undefined || fateOfStep(effect, clock.now()).is !== 'unsure') return
  onProgress?.(`an earlier run began to ${effect.step.summary}, which may still arrive: waiting for that first`)
  while (!signal.aborted && fateOfStep(effect, clock.now()).is === 'unsure')
    await clock.sleep(LIMITS.operationPollMs, signal)
}

async function runStep(
  step: Step<'operation'>,
  deps: OperationDeps,
  done: (said?: string) => Promise<void> | void,
): Promise<string | undefined> {
  const { operator, clock, signal } = deps
  if (step.verb === 'hold' || step.verb === 'release') {
    await deps.setHold(step.verb === 'hold' ? (step.target ?? step.summary) : undefined)
    await done()
    return undefined
  }
  const journalled = async (one: Step<'operation'>, perform: () => Promise<Outcome>) => {
    await deps.intend({ step: one, atMs: clock.now() })
    const outcome = await perform()
    if (outcome.result !== 'unclear') await deps.intend(undefined)
    return outcome
  }
  let untilMs = clock.monotonicMs() + LIMITS.operationStepMs
  let begun = false
  let last = 'no answer'
  while (clock.monotonicMs() < untilMs && !signal.aborted) {
    const went = await advance(step, begun, operator, journalled, await deps.surroundings(), signal)
    if (went.is === 'failed') return went.message
    if (went.is === 'done') {
      await done(went.said)
      return undefined
    }
    if (!went.begun && went.message !== last) {
      // A step that progresses has no fixed deadline.
      if (went.goesOn === true) untilMs = clock.monotonicMs() + LIMITS.operationStepMs
      // Report the wait's reason while it lasts, not only at its end.
      deps.onProgress?.(went.message)
    }
    begun = went.begun
    last = went.message
    await clock.sleep(LIMITS.operationPollMs, signal)
  }
  return signal.aborted ? 'it was interrupted' : `${last}, and it did not come`
}

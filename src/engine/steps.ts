import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { CoordinatedIntention, FailureRun, NewEvent } from '../model/record.ts'
import type { Coordinated, Outcome, Refusal, Step } from '../model/step.ts'
import type { Store } from '../store/port.ts'
import { journalled } from './act.ts'
import { countFailure } from './failures.ts'

/** One step of a coordinator and its result. */
export interface StepAttempt<A extends Coordinated> {
  readonly step: Step<A>
  readonly outcome: Outcome
}

/** Recently failed steps, and when each may be retried. Lost with the process: then each is retried at once. */
export type StepFailures = Map<string, FailureRun>

export interface StepDeps {
  readonly clock: Clock
  readonly random: Random
  readonly store: Store
  readonly epoch: number
  readonly stepFailures: StepFailures
  /** Steps that started earlier and may still arrive. */
  readonly unsure: readonly CoordinatedIntention[]
  nextIntentionId(): string
}

/** Steps that the plan for machines performs on the hypervisor. */
const OF_MACHINES: ReadonlySet<Step<Coordinated>['verb']> = new Set([
  'create-machine',
  'start-machine',
  'stop-machine',
  'restart-machine',
  'destroy-machine',
])

/** Reports whether the plan for machines performs the step, instead of its coordinator. */
export function isForMachines(step: Step<Coordinated>): boolean {
  return OF_MACHINES.has(step.verb)
}

/**
 * Returns the steps that this pass starts. Excludes those of the plan for machines, those that just failed, by the
 * monotonic clock, and all on a node or host where an earlier step may still arrive.
 */
export function dueSteps<A extends Coordinated>(
  key: ResourceKey,
  steps: readonly Step<A>[],
  { stepFailures, unsure }: Pick<StepDeps, 'stepFailures' | 'unsure'>,
  steadyMs: number,
): readonly Step<A>[] {
  const awaited = unsure.flatMap((one) => (one.key === key ? [one.step] : []))
  return steps.filter((step) => {
    if (isForMachines(step) || awaited.some((earlier) => isOnTheSame(earlier, step))) return false
    const failure = stepFailures.get(stepName(key, step))
    return failure === undefined || failure.nextAttemptMs <= steadyMs
  })
}

function isOnTheSame(earlier: Step<Coordinated>, step: Step<Coordinated>): boolean {
  if (step.about === 'power') return earlier.about === 'power' && step.host !== undefined && earlier.host === step.host
  return earlier.about === step.about && earlier.node === step.node
}

/** Performs steps in parallel, each with its intention, and counts their failures. Each is idempotent. */
export function performSteps<A extends Coordinated>(
  key: ResourceKey,
  steps: readonly Step<A>[],
  { clock, random, store, epoch, stepFailures: failures, nextIntentionId }: Omit<StepDeps, 'unsure'>,
  perform: (step: Step<A>) => Promise<Outcome>,
): Promise<readonly StepAttempt<A>[]> {
  return Promise.all(
    steps.map(async (step) => {
      const intention = { id: nextIntentionId(), epoch, key, atMs: clock.now(), state: 'intended' as const, step }
      const outcome = await journalled(intention, { store, epoch }, () => perform(step))
      const name = stepName(key, step)
      const refusal = refusalIn(outcome)
      if (refusal === undefined) failures.delete(name)
      else failures.set(name, countFailure(failures.get(name), refusal, clock.monotonicMs(), random))
      return { step, outcome }
    }),
  )
}

/** Returns why a step failed. An unclear one is observed again as soon as possible, like one that succeeded. */
export function refusalIn(outcome: Outcome): Refusal | undefined {
  if (outcome.result === 'refused') return outcome.refusal
  if (outcome.result !== 'not-sent') return undefined
  return { reason: 'NotReached', meaning: 'backoff', message: outcome.message }
}

/** Returns a step's name, by which the next pass recognises it. */
export function stepName(key: ResourceKey, step: Step<Coordinated>): string {
  const words = [step.verb, step.node, ...(step.about === 'operation' ? [] : subjectOf(step))]
  return `${key} ${words.filter((word) => word !== undefined && word !== '').join(' ')}`
}

function subjectOf(step: Step<'cluster' | 'power'>): readonly (string | undefined)[] {
  if (step.about === 'cluster') return [step.member]
  const { workload, host, machine, connection, hook, force } = step
  const what = workload === undefined ? '' : `${workload.kind} ${workload.namespace}/${workload.name}`
  return [what, host, machine, connection, hook, force === true ? 'force' : '']
}

/** Returns the events of attempts: new failures and new starts. */
export function eventsOfAttempts<A extends Coordinated>(
  attempts: readonly StepAttempt<A>[],
  tell: (type: NewEvent['type'], reason: string, message: string) => NewEvent,
  isKnown: (attempt: StepAttempt<A>, refusal: Refusal | undefined) => boolean,
): readonly NewEvent[] {
  return attempts.flatMap((attempt) => {
    const { step, outcome } = attempt
    const refusal = refusalIn(outcome)
    if (isKnown(attempt, refusal)) return []
    if (refusal !== undefined) return [tell('Warning', refusal.reason, `could not ${step.summary}: ${refusal.message}`)]
    const unclear = outcome.result === 'unclear' ? `, and the result is not known: ${outcome.message}` : ''
    const why = step.about === 'cluster' && step.reason !== '' ? `: ${step.reason}` : ''
    return [tell(unclear === '' ? 'Normal' : 'Warning', pascal(step.verb), `${step.summary}${why}${unclear}`)]
  })
}

export function objectionSentence({ reason, allow }: { readonly reason: string; readonly allow: string }): string {
  return `${reason}. To go on: ${allow}`
}

/** `join-server` → `JoinServer`. */
export function pascal(word: string): string {
  return word.replace(/(?:^|-)(.)/g, (_all, letter: string) => letter.toUpperCase())
}

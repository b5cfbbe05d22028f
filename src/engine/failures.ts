import { backoffMs } from '../lib/backoff.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import type { FailureRun } from '../model/record.ts'
import type { Refusal } from '../model/step.ts'

/** Returns the next state of a run of failures. Equal ones are counted; another one starts a new run. */
export function countFailure(
  before: FailureRun | undefined,
  refusal: Refusal,
  nowMs: number,
  random: Random,
): FailureRun {
  const kind = refusal.meaning === 'waiting' ? 'waiting' : 'failing'
  const same = before !== undefined && before.reason === refusal.reason && before.kind === kind
  const count = same ? before.count + 1 : 1
  const pace = kind === 'waiting' ? LIMITS.waitingBackoff : LIMITS.backoff
  return {
    kind,
    reason: refusal.reason,
    message: refusal.message,
    count,
    firstMs: same ? before.firstMs : nowMs,
    lastMs: nowMs,
    nextAttemptMs: nowMs + backoffMs(pace, count, random),
    ...(refusal.transient === true ? { transient: true } : {}),
  }
}

/** Reports whether a person must act: the system says so, or the same failure repeats. */
export function isStalled(refusal: Refusal, run: FailureRun): boolean {
  return refusal.meaning === 'stalled' || (run.kind === 'failing' && run.count >= LIMITS.identicalFailuresUntilStalled)
}

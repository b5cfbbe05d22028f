import { ShellFailure } from '../../lib/shell.ts'
import type { Outcome, Refusal } from '../../model/step.ts'

/** Failures that waiting does not cure. */
const STALLED: Readonly<Record<string, string>> = {
  'host-key': 'HostKeyMismatch',
  denied: 'Unauthorized',
  'bad-key': 'Unauthorized',
  'bad-target': 'BadTarget',
  'no-ssh': 'NoSshClient',
}

/** Explains why a host cannot be observed. */
export function refusalOf(failure: unknown): Refusal {
  if (!(failure instanceof ShellFailure)) throw failure
  const stalled = STALLED[failure.code]
  return {
    reason: stalled ?? 'Unreachable',
    meaning: stalled === undefined ? 'backoff' : 'stalled',
    message: failure.message,
    connectionWide: true,
  }
}

/** Classifies a failure. `begun`: an earlier command of the same step has run. */
export function outcomeOf(failure: unknown, begun: boolean): Outcome {
  if (!(failure instanceof ShellFailure)) throw failure
  if (failure.ran === 'maybe') return { result: 'unclear', message: failure.message }
  if (STALLED[failure.code] !== undefined && !begun) return { result: 'refused', refusal: refusalOf(failure) }
  // Commands are idempotent, so a broken step is simply repeated.
  if (begun) return { result: 'refused', refusal: { reason: 'BrokeOff', meaning: 'backoff', message: failure.message } }
  return { result: 'not-sent', message: failure.message }
}

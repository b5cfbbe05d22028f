import type { Random } from './random.ts'

export interface Backoff {
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
}

/**
 * Returns how much is left of a pause that was written down by the wall clock. If the clock has moved by more than the pause
 * since, in either direction, it is over: a clock that goes back by a day must not make it a day longer.
 */
export function pauseLeftMs(
  { lastMs, nextAttemptMs }: { readonly lastMs: number; readonly nextAttemptMs: number },
  nowMs: number,
): number {
  return Math.max(0, nextAttemptMs - lastMs - Math.abs(nowMs - lastMs))
}

/** Returns the delay before attempt `count + 1`: exponential with up to 20 % jitter, so that retries spread. */
export function backoffMs(backoff: Backoff, count: number, random: Random): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * backoff.factor ** Math.max(0, count - 1))
  return Math.round(full * (0.9 + 0.2 * random.next()))
}

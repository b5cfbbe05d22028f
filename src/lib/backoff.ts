import type { Random } from './random.ts'

export interface Backoff {
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
}

/** How long to wait before attempt `count + 1`: exponential with up to 20 % jitter, so that many never return at once. */
export function backoffMs(backoff: Backoff, count: number, random: Random): number {
  const full = Math.min(backoff.maxMs, backoff.baseMs * backoff.factor ** Math.max(0, count - 1))
  return Math.round(full * (0.9 + 0.2 * random.next()))
}

import { LIMITS } from '../../lib/limits.ts'

/** Something that was ended: when it is tried again, and the delay after that. */
export interface Paused {
  readonly why: string
  readonly untilMs: number
  readonly delayMs: number
}

/** Pauses what was ended, each time for twice as long: a busy computer may have been the cause. Pure. */
export function pausedAfter(before: Pick<Paused, 'delayMs'> | undefined, why: string, nowMs: number): Paused {
  const delayMs = Math.min(
    before === undefined ? LIMITS.endedExpressionMs : before.delayMs * 2,
    LIMITS.endedExpressionMaxMs,
  )
  return { why, delayMs, untilMs: nowMs + delayMs }
}

/** In words, when it is tried again. */
export function againIn({ delayMs }: Paused): string {
  return delayMs >= 3_600_000 ? `${delayMs / 3_600_000} h` : `${Math.round(delayMs / 60_000)} min`
}

import { LIMITS } from '../lib/limits.ts'

/** How fast tasks end, all connections together, as far as it has been learnt. */
export interface Pace {
  readonly perTaskMs: number
  /** How long nothing has ended, although something is under way. */
  readonly quietMs: number
  /** How long the last pass worked, from its first effect to its end. */
  readonly passMs: number
}

export const UNKNOWN_PACE: Pace = { perTaskMs: LIMITS.taskPollPerEffectMs, quietMs: 0, passMs: 0 }

/** Tasks at a look: those that ended since the one before, those still under way, and those that were under way then. */
export interface Counted {
  readonly ended: number
  readonly left: number
  readonly before: number
}

/**
 * Learns from what ended since the last look. When nothing is left under way, the last one may have ended long before it:
 * then tasks are faster than they look. When more has ended than was under way then, all of that has, and for a while
 * there may have been nothing to do: then they are at least as fast as they look.
 */
export function learnPace(pace: Pace, { ended, left, before }: Counted, elapsedMs: number): Pace {
  const tookMs = pace.quietMs + Math.max(0, elapsedMs)
  if (ended === 0) return { ...pace, quietMs: tookMs }
  const seenMs = tookMs / ended
  const averageMs = (pace.perTaskMs + seenMs) / 2
  const perTaskMs =
    left === 0 ? Math.min(pace.perTaskMs, seenMs / 2) : ended > before ? Math.min(pace.perTaskMs, averageMs) : averageMs
  return { ...pace, perTaskMs, quietMs: 0 }
}

/**
 * When to look at tasks again: when about half of them should have ended, counted from when this pass began to act, for
 * they go on ending while it works. The next pass then refills a queue, or reads what was made, before it runs empty. One
 * look shows all of them. What takes long is looked at less and less often.
 */
export function nextTaskLookMs(pace: Pace, inFlight: number): number {
  const halfMs = (pace.perTaskMs * inFlight) / 2
  const expectedMs = Math.max(halfMs - pace.passMs, pace.quietMs / 2)
  return Math.round(Math.min(LIMITS.taskPollMaxMs, Math.max(LIMITS.shortestLookMs, expectedMs)))
}

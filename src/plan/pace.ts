import { LIMITS } from '../lib/limits.ts'

/** The learnt speed of tasks, over all connections. */
export interface Pace {
  readonly perTaskMs: number
  /** The time since a task last ended, while some are under way. */
  readonly quietMs: number
  /** The duration of the last pass, from its first effect to its end. */
  readonly passMs: number
}

export const UNKNOWN_PACE: Pace = { perTaskMs: LIMITS.taskPollPerEffectMs, quietMs: 0, passMs: 0 }

/** Tasks at a look: those that ended since the previous look, those under way now, and those under way then. */
export interface Counted {
  readonly ended: number
  readonly left: number
  readonly before: number
}

/**
 * Learns from the tasks that ended since the last look. If none is left, the last one may have ended long before: then
 * tasks are faster than measured. If more ended than were under way, there may have been idle time: then they are at
 * least as fast as measured.
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
 * Returns when to look at tasks again: when about half of them should have ended, counted from the first effect of this
 * pass, since tasks end while it works. The next pass then refills a queue, or reads new guests, before it runs empty.
 * One look shows all tasks. Slow tasks are looked at with growing pauses.
 */
export function nextTaskLookMs(pace: Pace, inFlight: number): number {
  const halfMs = (pace.perTaskMs * inFlight) / 2
  const expectedMs = Math.max(halfMs - pace.passMs, pace.quietMs / 2)
  return Math.round(Math.min(LIMITS.taskPollMaxMs, Math.max(LIMITS.shortestLookMs, expectedMs)))
}

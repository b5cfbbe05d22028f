import type { Clock } from '../src/lib/clock.ts'

/** A moment that was asked for and may be called off. */
export interface Scheduled {
  cancel(): void
}

/** The clock that a simulated datacentre lives on. All its work is scheduled here, so the clock decides the order. */
export interface SimClock extends Clock {
  /** Calls `fn` when `now()` reaches `atMs`; at once, but never inside this call, when that has passed. */
  schedule(atMs: number, fn: () => void): Scheduled
}

import type { Scheduled, SimClock } from './sim-clock.ts'
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts'

/** A clock for a world with a past: it starts earlier, and runs without waiting until now. */
export interface HeadStart {
  /** What the world lives on, before and after. */
  readonly clock: SimClock
  /** The past, which moves as fast as it is computed. */
  readonly past: VirtualClock
  /** Lets the past reach the present; from then on time is that of the other clock. */
  letGo(): Promise<void>
}

interface Waiting {
  readonly atMs: number
  readonly fn: () => void
  handle: Scheduled
}

export function createHeadStart(present: SimClock, aheadMs: number): HeadStart {
  const past = createVirtualClock(present.now() - aheadMs)
  const waiting = new Set<Waiting>()
  let current: SimClock = past

  /** A moment that is still to come when the past ends moves over to the other clock. */
  function schedule(atMs: number, fn: () => void): Scheduled {
    if (current === present) return present.schedule(atMs, fn)
    const one: Waiting = { atMs, fn, handle: past.schedule(atMs, () => waiting.delete(one) && fn()) }
    waiting.add(one)
    return {
      cancel() {
        waiting.delete(one)
        one.handle.cancel()
      },
    }
  }

  return {
    past,
    clock: {
      now: () => current.now(),
      monotonicMs: () => (current === present ? present.monotonicMs() : past.monotonicMs() - aheadMs),
      ...(present.outsideMs === undefined ? {} : { outsideMs: () => present.outsideMs?.() ?? present.now() }),
      schedule,
      sleep: (ms, signal) => current.sleep(ms, signal),
    },
    async letGo() {
      await past.advanceTo(present.now())
      current = present
      for (const one of waiting) {
        one.handle.cancel()
        one.handle = present.schedule(one.atMs, one.fn)
      }
      waiting.clear()
    },
  }
}

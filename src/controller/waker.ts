import type { Clock } from '../lib/clock.ts'

/** Sleeps until a moment on the monotonic clock or until `wake`. A `wake` between two sleeps ends the next one. */
export interface Waker {
  wake(): void
  sleepUntil(atMs: number, signal: AbortSignal): Promise<void>
}

/** The longest sleep: timers cannot hold more than 24 days. */
const LONGEST_MS = 86_400_000

export function createWaker(clock: Clock): Waker {
  let woken = false
  let end: (() => void) | undefined
  return {
    wake() {
      woken = true
      end?.()
    },
    async sleepUntil(atMs, signal) {
      const ms = Math.min(atMs - clock.monotonicMs(), LONGEST_MS)
      if (!woken && ms > 0 && !signal.aborted) {
        const stop = new AbortController()
        end = () => stop.abort()
        signal.addEventListener('abort', end, { once: true })
        await clock.sleep(ms, stop.signal)
        signal.removeEventListener('abort', end)
        end = undefined
      }
      woken = false
    },
  }
}

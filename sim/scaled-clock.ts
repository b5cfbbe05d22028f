import type { SimClock } from './sim-clock.ts'

/** Real time, `speed` times as fast: for `croft sim --speed 20`. It starts at the true time of day. */
export function createScaledClock(speed = 1, wallStart = Date.now()): SimClock {
  const factor = speed > 0 ? speed : 1
  const start = performance.now()
  const elapsedMs = () => (performance.now() - start) * factor
  const now = () => wallStart + elapsedMs()
  const schedule: SimClock['schedule'] = (atMs, fn) => {
    const timer = setTimeout(fn, Math.max(0, (atMs - now()) / factor))
    timer.unref()
    return { cancel: () => clearTimeout(timer) }
  }
  return {
    now,
    outsideMs: () => wallStart + elapsedMs() / factor,
    monotonicMs: elapsedMs,
    schedule,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve()
        const until = elapsedMs() + ms
        let timer: NodeJS.Timeout | undefined
        const done = () => {
          clearTimeout(timer)
          signal?.removeEventListener('abort', done)
          resolve()
        }
        // A timer may fire a millisecond early, which is many here: who slept must find that the time has passed.
        const wake = () => {
          const left = until - elapsedMs()
          if (left <= 0) return done()
          // Unlike the datacentre's own timers this one keeps the process alive, since a caller awaits it.
          timer = setTimeout(wake, Math.ceil(left / factor))
        }
        signal?.addEventListener('abort', done, { once: true })
        wake()
      }),
  }
}

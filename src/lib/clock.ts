/** Time as a port: the engine runs on the real clock, the simulation on a virtual one. Durations end in Ms. */
export interface Clock {
  /** Wall clock, for showing and for comparing with foreign times. */
  now(): number
  /** Never goes back; for measuring and for deadlines. */
  monotonicMs(): number
  /** Resolves after ms, or at once when the signal is aborted (never rejects: the caller checks the signal). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

/** Time as a port: the engine runs on the real clock, the simulation on a virtual one. Durations end in Ms. */
export interface Clock {
  /** Wall clock, for showing and for comparing with foreign times. */
  now(): number
  /** Never goes back; for measuring and for deadlines. */
  monotonicMs(): number
  /** Resolves after ms, or at once when the signal is aborted (never rejects: the caller checks the signal). */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Speed-up over real time, if any: network answers take real time. */
  readonly speed?: number
  /** The computer's own time, if this clock is faster: simulated machines report it. */
  outsideMs?(): number
}

/** A moment of the monotonic clock of this process. No number, so that it is never compared with a moment of a wall clock. */
export interface Mono {
  readonly monotonicMs: number
}

export function monoNow(clock: Pick<Clock, 'monotonicMs'>): Mono {
  return { monotonicMs: clock.monotonicMs() }
}

export function ageMs(since: Mono, clock: Pick<Clock, 'monotonicMs'>): number {
  return clock.monotonicMs() - since.monotonicMs
}

/** Returns the clock's milliseconds for a duration in real time: for timeouts of network calls. */
export function realMs(clock: Clock, ms: number): number {
  return ms * (clock.speed ?? 1)
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // Not `performance.now()`: Node loads nine modules for it.
  monotonicMs: () => {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1_000 + nanoseconds / 1_000_000
  },
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

/** Header in which a simulated datacentre describes its clock, in the form that `fastClock` reads. */
export const SIM_CLOCK_HEADER = 'x-croft-sim-clock'

/**
 * Returns the clock of a simulated datacentre: real time until a moment, and faster from there on. Written
 * `30@1794736532000`. Undefined: invalid.
 */
export function fastClock(text: string, real: Clock = systemClock): Clock | undefined {
  const [, factor = '', from = ''] = /^(\d{1,6}(?:\.\d{1,6})?)@(\d{12,14})$/.exec(text) ?? []
  const [speed, fromMs] = [Number(factor), Number(from)]
  if (factor === '' || speed === 0) return undefined
  return {
    now: () => fromMs + (real.now() - fromMs) * speed,
    outsideMs: () => real.now(),
    monotonicMs: () => real.monotonicMs() * speed,
    sleep: (ms, signal) => real.sleep(ms / speed, signal),
    speed,
  }
}

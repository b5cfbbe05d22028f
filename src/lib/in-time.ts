import { type Clock, realMs } from './clock.ts'

/** What `work` answers, or what `late` says once the time is over; then the signal that the work was given is aborted. */
export async function inTime<T>(
  timeoutMs: number,
  clock: Clock,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => T,
): Promise<T> {
  const patience = new AbortController()
  const stop = () => patience.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([
      work(patience.signal),
      clock.sleep(realMs(clock, timeoutMs), patience.signal).then(late),
    ])
  } finally {
    patience.abort()
    signal.removeEventListener('abort', stop)
  }
}

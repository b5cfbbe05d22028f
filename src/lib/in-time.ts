import { type Clock, realMs } from './clock.ts'

/** Returns the result of `work`, or that of `late` after the timeout, which also aborts the signal of `work`. */
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

import { useEffect, useState } from 'preact/hooks'
import { Trouble } from './api.ts'
import { live, serverNow } from './live.ts'

export interface Fetched<T> {
  readonly value: T | undefined
  readonly trouble: Failure | undefined
  /** Fetches again at once. */
  again(): void
}

interface Failure {
  readonly message: string
  /** The server answered that it does not exist. */
  readonly absent: boolean
}

/** Delays of retries after failures. */
const FIRST_RETRY_MS = 2000
const LAST_RETRY_MS = 30_000

/**
 * Fetches, and again when `when` changes; the old value stays until then, so that nothing flickers. A failure is
 * retried automatically, and at once when the connection to the server returns, so that no view hangs.
 */
export function useFetched<T>(fetcher: () => Promise<T>, when: readonly unknown[], subject = ''): Fetched<T> {
  const [state, set] = useState<Pick<Fetched<T>, 'value' | 'trouble'> & { readonly subject: string }>({
    value: undefined,
    trouble: undefined,
    subject,
  })
  const [tries, setTries] = useState(0)
  const { line } = live.use()
  // Do not retry if it does not exist.
  const failed = state.trouble?.absent === false
  useEffect(() => {
    let stale = false
    fetcher().then(
      (value) => stale || set({ value, trouble: undefined, subject }),
      (error: unknown) =>
        stale ||
        set((old) => ({
          // Keep an old value on failure.
          value: old.subject === subject ? old.value : undefined,
          trouble: failureOf(error),
          subject,
        })),
    )
    return () => {
      stale = true
    }
  }, [...when, tries])
  useEffect(() => {
    if (!failed) return
    const retry = () => setTries((count) => count + 1)
    const timer = setTimeout(retry, Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 1.5 ** tries))
    return () => clearTimeout(timer)
  }, [failed, tries])
  useEffect(() => {
    if (line === 'live' && failed) setTries((count) => count + 1)
  }, [line])
  const again = () => setTries((count) => count + 1)
  return state.subject === subject ? { ...state, again } : { value: undefined, trouble: undefined, again }
}

function failureOf(error: unknown): Failure {
  if (error instanceof Trouble) return { message: error.message, absent: error.status === 404 }
  return { message: 'croft does not answer.', absent: false }
}

/** Returns the value, updated at most at this interval: a thousand events in a row cause one request. */
export function useCalm<T>(value: T, everyMs = 1000): T {
  const [calm, set] = useState(value)
  const [lastMs, setLast] = useState(() => performance.now())
  useEffect(() => {
    if (Object.is(value, calm)) return
    const timer = setTimeout(
      () => {
        set(() => value)
        setLast(performance.now())
      },
      Math.max(0, lastMs + everyMs - performance.now()),
    )
    return () => clearTimeout(timer)
  }, [value, calm])
  return calm
}

/** Returns the server's time, and renders again at the interval. */
export function useNow(everyMs = 5000): number {
  const [, set] = useState(0)
  useEffect(() => onTick(everyMs, () => set((count) => count + 1)), [everyMs])
  return serverNow()
}

const ticks = new Map<number, Set<() => void>>()

/** Shares one timer among all ages of one interval, so that they are drawn at once; none while the page is hidden. */
function onTick(everyMs: number, listener: () => void): () => void {
  const known = ticks.get(everyMs)
  const listeners = known ?? new Set<() => void>()
  listeners.add(listener)
  if (known === undefined) {
    ticks.set(everyMs, listeners)
    const tick = () => {
      if (!document.hidden) for (const one of listeners) one()
    }
    setInterval(tick, everyMs)
    document.addEventListener('visibilitychange', tick)
  }
  return () => void listeners.delete(listener)
}

/** Width of the window in steps that matter. */
export function useNarrow(): boolean {
  const query = '(max-width: 760px)'
  const [narrow, set] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const change = () => set(media.matches)
    media.addEventListener('change', change)
    return () => media.removeEventListener('change', change)
  }, [])
  return narrow
}

import { useEffect, useState } from 'preact/hooks'
import { serverNow } from './live.ts'

export interface Fetched<T> {
  readonly value: T | undefined
  readonly trouble: string | undefined
}

/** Fetches, and again when `when` changes; the old value stays until the new one is there, so nothing flickers. */
export function useFetched<T>(fetcher: () => Promise<T>, when: readonly unknown[], subject = ''): Fetched<T> {
  const [state, set] = useState<Fetched<T> & { readonly subject: string }>({
    value: undefined,
    trouble: undefined,
    subject,
  })
  useEffect(() => {
    let stale = false
    fetcher().then(
      (value) => stale || set({ value, trouble: undefined, subject }),
      (error: Error) => stale || set({ value: undefined, trouble: error.message, subject }),
    )
    return () => {
      stale = true
    }
  }, when)
  return state.subject === subject ? state : { value: undefined, trouble: undefined }
}

/** The server's time, drawn anew every so often. */
export function useNow(everyMs = 5000): number {
  const [, set] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => set((count) => count + 1), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return serverNow()
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

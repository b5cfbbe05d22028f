import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './bits.tsx'

/**
 * Loads a part's code when it is first shown, to keep the first load small. With `rows` 0 it has no placeholder,
 * because it may render nothing.
 */
export function later<P extends object>(load: () => Promise<ComponentType<P>>, rows = 3): ComponentType<P> {
  let fetched: Promise<ComponentType<P>> | undefined
  return function Later(props: P) {
    const [Part, set] = useState<ComponentType<P>>()
    useEffect(() => {
      fetched ??= load()
      void fetched.then((part) => set(() => part))
    }, [])
    if (Part !== undefined) return <Part {...props} />
    return rows === 0 ? null : <Loading rows={rows} />
  }
}

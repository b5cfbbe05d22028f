import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './bits.tsx'

/**
 * A part whose code is fetched when somebody first looks at it: the first load stays small. Without rows nothing stands in
 * its place: it may come to nothing.
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

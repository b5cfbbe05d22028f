import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Loading } from './bits.tsx'

/** A part whose code is fetched when somebody first looks at it: the first load stays small. */
export function later<P extends object>(load: () => Promise<ComponentType<P>>, rows = 3): ComponentType<P> {
  let fetched: Promise<ComponentType<P>> | undefined
  return function Later(props: P) {
    const [Part, set] = useState<ComponentType<P>>()
    useEffect(() => {
      fetched ??= load()
      void fetched.then((part) => set(() => part))
    }, [])
    return Part === undefined ? <Loading rows={rows} /> : <Part {...props} />
  }
}

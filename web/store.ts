import { useEffect, useReducer } from 'preact/hooks'

/** A value that views follow. */
export interface Store<T> {
  get(): T
  set(change: Partial<T>): void
  use(): T
}

export function createStore<T extends object>(first: T): Store<T> {
  let value = first
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(change) {
      value = { ...value, ...change }
      for (const listener of listeners) listener()
    },
    use() {
      const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0)
      useEffect(() => {
        const listener = () => redraw(undefined)
        listeners.add(listener)
        // The value may have changed between the render and the subscription.
        listener()
        return () => void listeners.delete(listener)
      }, [])
      return value
    },
  }
}

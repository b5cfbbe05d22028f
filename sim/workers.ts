import type { SimClock } from './sim-clock.ts'

/** A fixed number of workers with a queue before them, first come first served. */
export interface Workers {
  /** True at once when one is free; otherwise later, or false when the wait was too long. */
  take(maxWaitMs: number): Promise<boolean> | true
  give(): void
  readonly waiting: () => number
}

export function createWorkers(clock: SimClock, count: number): Workers {
  let free = count
  const queue: (() => void)[] = []
  return {
    take(maxWaitMs) {
      if (free > 0) {
        free -= 1
        return true
      }
      return new Promise((resolve) => {
        const granted = () => {
          timer.cancel()
          resolve(true)
        }
        const timer = clock.schedule(clock.now() + maxWaitMs, () => {
          const index = queue.indexOf(granted)
          if (index >= 0) queue.splice(index, 1)
          resolve(false)
        })
        queue.push(granted)
      })
    },
    give() {
      const next = queue.shift()
      if (next === undefined) free += 1
      else next()
    },
    waiting: () => queue.length,
  }
}

/** Lets at most so many jobs run at once. The others wait in their order. */
export interface Slots {
  /** Calls `run` once a slot is free, perhaps at once. The slot is taken until `run` calls `free`. */
  readonly take: (run: (free: () => void) => void) => void
}

export function createSlots(most: number): Slots {
  const waiting: ((free: () => void) => void)[] = []
  let taken = 0
  const free = () => {
    taken--
    next()
  }
  const next = () => {
    const run = taken < most ? waiting.shift() : undefined
    if (run === undefined) return
    taken++
    run(free)
  }
  return {
    take(run) {
      waiting.push(run)
      next()
    },
  }
}

import type { Clock } from './clock.ts'
import { LIMITS } from './limits.ts'

/** Work that pauses between its steps, so that the event loop can serve other requests meanwhile. */
export type Steps<T> = Generator<void, T>

/** Performs all steps without a pause: for commands, which serve no requests. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs long work in parts, and yields to the event loop after each longer moment. */
export interface Turns {
  perform<T>(steps: Steps<T>): Promise<T>
  /** Between two parts that are short by themselves. */
  pause(): Promise<void>
}

export function turnsOf(clock: Clock): Turns {
  let sinceMs = clock.monotonicMs()
  const over = () => clock.monotonicMs() - sinceMs >= LIMITS.turnMs
  const rest = async () => {
    await clock.sleep(0)
    sinceMs = clock.monotonicMs()
  }
  return {
    async perform(steps) {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return step.value
        if (over()) await rest()
      }
    },
    async pause() {
      if (over()) await rest()
    },
  }
}

/** Performs the steps of one work, with pauses. */
export function inTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  return turnsOf(clock).perform(steps)
}

/** Makes each in a separate step. */
export function* eachInSteps<T, R>(list: readonly T[], make: (one: T) => R): Steps<R[]> {
  const made: R[] = []
  for (const one of list) {
    made.push(make(one))
    yield
  }
  return made
}

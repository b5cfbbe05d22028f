import type { Clock } from './clock.ts'
import { LIMITS } from './limits.ts'

/** Work that pauses between its steps, so that whoever performs it can answer others meanwhile. */
export type Steps<T> = Generator<void, T>

/** Performs all steps without a pause: for commands, which have nobody else to answer. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Performs the steps, and lets everybody else have a turn whenever they have taken longer than a moment. */
export async function inTurns<T>(steps: Steps<T>, clock: Clock): Promise<T> {
  let sinceMs = clock.monotonicMs()
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    if (clock.monotonicMs() - sinceMs < LIMITS.turnMs) continue
    await clock.sleep(0)
    sinceMs = clock.monotonicMs()
  }
}

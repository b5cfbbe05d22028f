import { type Backoff, backoffMs } from '../lib/backoff.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { Asked } from './client.ts'

/** Waits before the next attempt. Throws if the caller has given up. */
export type Wait = (why: string, attempt: number) => Promise<void>

const AGAIN: Backoff = { baseMs: 500, factor: 2, maxMs: 10_000 }

/** Waits until the signal: an API that restarts, or whose disk is full, comes back. */
export function patience(options: {
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  warn(message: string): void
}): Wait {
  const { clock, random, signal } = options
  return async (why, attempt) => {
    if (attempt > 1) options.warn(`The Kubernetes API takes no call, croft waits for it: ${why}`)
    await clock.sleep(backoffMs(AGAIN, attempt, random), signal)
    if (signal.aborted) throw new Error(why)
  }
}

/** Returns why a call failed temporarily; undefined if the answer is final. */
export function passing(asked: Asked<unknown>): string | undefined {
  if (asked.is === 'silence') return asked.message
  return asked.is === 'error' && (asked.status >= 500 || asked.status === 429) ? asked.refusal.message : undefined
}

/** A call that may be made any number of times; without a way to wait, once. */
export async function patiently<T>(wait: Wait | undefined, ask: () => Promise<Asked<T>>): Promise<Asked<T>> {
  for (let attempt = 1; ; attempt++) {
    const asked = await ask()
    const why = passing(asked)
    if (why === undefined || wait === undefined) return asked
    await wait(why, attempt)
  }
}

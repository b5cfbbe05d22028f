import type { Clock } from '../../lib/clock.ts'

/** The newest answer of a slow system, by name. */
export type KeptAnswers<T> = Map<string, KeptAnswer<T>>

interface KeptAnswer<T> {
  atMs: number
  value: T | undefined
  asking: boolean
}

/**
 * Returns the cached value. If it is too old, starts a new read: a pass never waits for a system that does not answer.
 * Undefined before the first answer.
 */
export function latest<T>(
  kept: KeptAnswers<T>,
  name: string,
  mostMs: number,
  clock: Clock,
  ask: () => Promise<T>,
): T | undefined {
  const known = kept.get(name) ?? { atMs: Number.NEGATIVE_INFINITY, value: undefined, asking: false }
  kept.set(name, known)
  if (!known.asking && clock.monotonicMs() - known.atMs >= mostMs) {
    known.asking = true
    void ask()
      .then((value) => {
        known.value = value
        known.atMs = clock.monotonicMs()
      })
      // No caller waits for it: the last value stays until the next read.
      .catch(() => {})
      .finally(() => {
        known.asking = false
      })
  }
  return known.value
}

/** The same, but waits for the first answer. */
export async function fresh<T>(
  kept: KeptAnswers<T>,
  name: string,
  mostMs: number,
  clock: Clock,
  ask: () => Promise<T>,
): Promise<T> {
  const known = kept.get(name)
  if (known?.value === undefined) {
    const value = await ask()
    kept.set(name, { atMs: clock.monotonicMs(), value, asking: false })
    return value
  }
  return latest(kept, name, mostMs, clock, ask) ?? known.value
}

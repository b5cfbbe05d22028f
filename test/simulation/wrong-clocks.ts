const HOUR_MS = 3_600_000

/** F-22: how wrong a wall clock is, so long after it went wrong. */
export const WRONG_CLOCKS: Readonly<Record<string, (sinceMs: number) => number>> = {
  'jumps an hour on': () => HOUR_MS,
  'jumps an hour back': () => -HOUR_MS,
  'jumps ten years on': () => 10 * 365 * 24 * HOUR_MS,
  'is slow by half': (sinceMs) => -sinceMs / 2,
}

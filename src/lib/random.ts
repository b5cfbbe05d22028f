/** Randomness as a port. `next` returns a number in [0, 1). */
export interface Random {
  next(): number
}

/** A seeded generator (mulberry32): the same seed gives the same run, byte for byte. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0
      let t = state
      t = Math.imul(t ^ (t >>> 15), t | 1)
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296
    },
  }
}

/** A whole number in [low, high]. */
export function integerBetween(random: Random, low: number, high: number): number {
  return low + Math.floor(random.next() * (high - low + 1))
}

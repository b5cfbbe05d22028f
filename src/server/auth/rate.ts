import { LIMITS } from '../../lib/limits.ts'

/** Lets so many through per second and subject, after a burst. Forgets the oldest subject when there are too many. */
export interface Rate {
  /** False: this one came too soon. */
  take(subject: string, nowMs: number): boolean
}

export function createRate({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }): Rate {
  const buckets = new Map<string, { left: number; atMs: number }>()
  return {
    take(subject, nowMs) {
      const bucket = buckets.get(subject) ?? { left: burst, atMs: nowMs }
      const left = Math.min(burst, bucket.left + (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond)
      // Delete and set it again: a Map keeps insertion order, so the first one is the least recently used.
      buckets.delete(subject)
      if (buckets.size >= LIMITS.rateBuckets) {
        const [oldest] = buckets.keys()
        if (oldest !== undefined) buckets.delete(oldest)
      }
      const allowed = left >= 1
      buckets.set(subject, { left: allowed ? left - 1 : left, atMs: nowMs })
      return allowed
    },
  }
}

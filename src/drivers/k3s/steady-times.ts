import type { Clock } from '../../lib/clock.ts'

/** A recorded time, with its age when we first saw it, on the monotonic clock. */
interface KnownTime {
  readonly atMs: number
  readonly ageMs: number
  readonly seenMs: number
  /** When it was last read. */
  lookedMs: number
}

export type KnownTimes = Map<string, KnownTime>

/** Clocks of nodes differ by seconds, and times are written in whole ones: so much is not worth a correction. */
const SLACK_MS = 60_000

/**
 * A time of a Node, so that its distance from now is its true age: what was Ready, or changed, a minute ago is not an
 * hour old because our wall clock was set, or because it is wrong. What came about between two looks of ours cannot be
 * older than the first of them. Only of what was there when we began is the wall clock believed.
 */
export function steadyTime(known: KnownTimes, name: string, atMs: number, clock: Clock): number {
  const [nowMs, steadyMs] = [clock.now(), clock.monotonicMs()]
  const before = known.get(name)
  const time = before?.atMs === atMs ? before : firstSeen(before, atMs, nowMs, steadyMs)
  time.lookedMs = steadyMs
  known.set(name, time)
  const moved = nowMs - time.ageMs - (steadyMs - time.seenMs)
  return Math.abs(moved - atMs) < SLACK_MS ? atMs : moved
}

function firstSeen(before: KnownTime | undefined, atMs: number, nowMs: number, steadyMs: number): KnownTime {
  const claimedMs = nowMs - atMs
  const most = before === undefined ? Number.POSITIVE_INFINITY : steadyMs - before.lookedMs
  const ageMs = claimedMs > most + SLACK_MS ? most : claimedMs < -SLACK_MS ? 0 : claimedMs
  return { atMs, ageMs, seenMs: steadyMs, lookedMs: steadyMs }
}

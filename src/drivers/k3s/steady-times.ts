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

/** Nodes' clocks differ by seconds, and times are in whole seconds: smaller differences are not corrected. */
const SLACK_MS = 60_000

/**
 * Returns a Node's time so that its distance from now is its true age, even if croft's wall clock was set or is wrong.
 * A change between two observations cannot be older than the first one. Only for states from before croft's start does
 * the wall clock decide.
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

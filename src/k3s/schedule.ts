import { Cron } from 'croner'

/** When a cron line next fires after a moment, in UTC as on the nodes. Undefined: never again. */
export function nextRunMs(schedule: string, afterMs: number): number | undefined {
  return cron(schedule).nextRun(new Date(afterMs))?.getTime()
}

/** The last moment at which it should have fired, up to and including now. Undefined: it never did. */
export function lastRunMs(schedule: string, nowMs: number): number | undefined {
  return cron(schedule)
    .previousRuns(2, new Date(nowMs + 1_000))
    .map((run) => run.getTime())
    .find((run) => run <= nowMs)
}

/** A run takes a while, and clocks of servers differ. */
const SLACK_MS = 600_000

/**
 * How old the newest result may be: as old as the run before last, and at least twice the time between the next two. One run
 * may be missed; weekends and hours without a run are no misses.
 */
export function mayBeOldMs(schedule: string, nowMs: number): number {
  const first = nextRunMs(schedule, nowMs)
  const second = first === undefined ? undefined : nextRunMs(schedule, first)
  const gapMs = first === undefined || second === undefined ? Number.POSITIVE_INFINITY : second - first
  const before = cron(schedule).previousRuns(2, new Date(nowMs))[1]?.getTime() ?? Number.NEGATIVE_INFINITY
  return Math.max(2 * gapMs, nowMs - before + SLACK_MS)
}

/** Paused: it only counts, and starts no timer. Kept, because taking a line apart costs more than asking it. */
function cron(schedule: string): Cron {
  const found = known.get(schedule) ?? new Cron(schedule, { paused: true, timezone: 'UTC' })
  if (known.size > 100) known.clear()
  known.set(schedule, found)
  return found
}

const known = new Map<string, Cron>()

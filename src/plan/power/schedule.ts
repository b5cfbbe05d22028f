import { Cron } from 'croner'
import type { PowerSchedule } from '../../model/power.ts'

/** Returns the last state that the schedule set, and when, or undefined if none within a year. */
export function scheduledState(
  schedule: PowerSchedule,
  nowMs: number,
): { readonly state: 'on' | 'off'; readonly sinceMs: number } | undefined {
  const [off, on] = [lastOf(schedule.off, schedule, nowMs), lastOf(schedule.on, onEvery(schedule), nowMs)]
  if (off === undefined && on === undefined) return undefined
  return (off ?? 0) > (on ?? 0) ? { state: 'off', sinceMs: off ?? 0 } : { state: 'on', sinceMs: on ?? 0 }
}

/** Returns the schedule's next change and its time. */
export function nextWord(
  schedule: PowerSchedule,
  nowMs: number,
): { readonly state: 'on' | 'off'; readonly atMs: number } | undefined {
  const [off, on] = [nextOf(schedule.off, schedule, nowMs), nextOf(schedule.on, onEvery(schedule), nowMs)]
  if (off === undefined && on === undefined) return undefined
  return (on ?? Number.POSITIVE_INFINITY) < (off ?? Number.POSITIVE_INFINITY)
    ? { state: 'on', atMs: on ?? 0 }
    : { state: 'off', atMs: off ?? 0 }
}

/** Drops the exceptions: they prevent switching off on a day, but never switching on. */
function onEvery(schedule: PowerSchedule): PowerSchedule {
  return { ...schedule, except: [] }
}

/** How many exceptions in a row are skipped. */
const TRIES = 32

function lastOf(lines: readonly string[], { timeZone, except }: PowerSchedule, nowMs: number): number | undefined {
  const found = lines.flatMap((line) => {
    const cron = new Cron(line, { timezone: timeZone, paused: true })
    // Includes the moment itself: at 22:00:00 the schedule of 22:00 has fired.
    const runs = cron.previousRuns(TRIES, new Date(nowMs + 1_000))
    const kept = runs.map((run) => run.getTime()).filter((ms) => ms <= nowMs && !isExcepted(ms, timeZone, except))
    return kept.length === 0 ? [] : [Math.max(...kept)]
  })
  return found.length === 0 ? undefined : Math.max(...found)
}

function nextOf(lines: readonly string[], { timeZone, except }: PowerSchedule, nowMs: number): number | undefined {
  const found = lines.flatMap((line) => {
    const cron = new Cron(line, { timezone: timeZone, paused: true })
    const kept = cron
      .nextRuns(TRIES, new Date(nowMs))
      .map((run) => run.getTime())
      .filter((ms) => !isExcepted(ms, timeZone, except))
    return kept.length === 0 ? [] : [Math.min(...kept)]
  })
  return found.length === 0 ? undefined : Math.min(...found)
}

function isExcepted(ms: number, timeZone: string, except: readonly string[]): boolean {
  if (except.length === 0) return false
  const parts = new Map(
    new Intl.DateTimeFormat('en-US', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
      .formatToParts(ms)
      .map(({ type, value }) => [type, value]),
  )
  return except.includes(`${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`)
}

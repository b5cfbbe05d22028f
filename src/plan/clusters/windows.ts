import type { MaintenanceWindow } from '../../model/cluster.ts'

const MINUTE_MS = 60_000
/** Two weeks and a day: where clocks are set forward, an opening at that hour is left out once. */
const LONGEST_MINUTES = 15 * 24 * 60

/** Reports whether work on nodes may start now. Without windows always. */
export function windowOpen(windows: readonly MaintenanceWindow[], nowMs: number): boolean {
  return windows.length === 0 || windows.some((window) => isOpen(window, nowMs))
}

/** Returns when the next window opens, or undefined if none does. Searches two weeks in steps of five minutes. */
export function nextOpening(windows: readonly MaintenanceWindow[], nowMs: number): number | undefined {
  for (let minutes = 0; minutes <= LONGEST_MINUTES; minutes += 5) {
    const at = Math.floor(nowMs / MINUTE_MS + minutes) * MINUTE_MS
    if (windowOpen(windows, at)) return Math.max(at, nowMs)
  }
  return undefined
}

function isOpen(window: MaintenanceWindow, nowMs: number): boolean {
  const { day, minute } = localTime(nowMs, window.timeZone ?? 'UTC')
  const onDay = (weekday: number) => window.days.length === 0 || window.days.includes(weekday)
  const { fromMinute, toMinute } = window
  if (fromMinute < toMinute) return onDay(day) && minute >= fromMinute && minute < toMinute
  // After midnight the window belongs to the previous day.
  return (onDay(day) && minute >= fromMinute) || (onDay((day + 6) % 7) && minute < toMinute)
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

function localTime(nowMs: number, timeZone: string): { readonly day: number; readonly minute: number } {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]))
  const minute = Number(parts.get('hour')) * 60 + Number(parts.get('minute'))
  return { day: DAYS.indexOf(parts.get('weekday') ?? ''), minute }
}

import { type CalendarEvent, isOneOf, parseCalendarEvent } from '../../validate/formats/calendar-event.ts'

/** When a calendar event (`mon..fri 02:30`, `daily`) is due next, in seconds since 1970; undefined for never. */
export function nextRun(event: string, afterMs: number): number | undefined {
  const wanted = parseCalendarEvent(event)
  const start = Math.floor(afterMs / 1000)
  const firstDay = Math.floor(start / DAY)
  for (let day = firstDay; day < firstDay + YEARS_AHEAD * 366; day++) {
    if (!onDay(wanted, day)) continue
    for (let hour = 0; hour < 24; hour++) {
      if (!isOneOf(wanted.hour, hour)) continue
      for (let minute = 0; minute < 60; minute++) {
        if (!isOneOf(wanted.minute, minute)) continue
        const at = day * DAY + hour * 3600 + minute * 60
        const second = firstSecond(wanted, Math.max(0, start + 1 - at))
        if (second !== undefined) return at + second
      }
    }
  }
  return undefined
}

const DAY = 86_400
const YEARS_AHEAD = 8

function onDay(wanted: CalendarEvent, day: number): boolean {
  const date = new Date(day * DAY * 1000)
  return (
    (wanted.weekdays.size === 0 || wanted.weekdays.has((date.getUTCDay() + 6) % 7)) &&
    isOneOf(wanted.year, date.getUTCFullYear()) &&
    isOneOf(wanted.month, date.getUTCMonth() + 1) &&
    isOneOf(wanted.day, date.getUTCDate())
  )
}

function firstSecond(wanted: CalendarEvent, from: number): number | undefined {
  for (let second = from; second < 60; second++) if (isOneOf(wanted.second, second)) return second
  return undefined
}

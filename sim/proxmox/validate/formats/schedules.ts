import { type Formats, matching } from './format.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const LONG_DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const EVENTS: ReadonlySet<string> = new Set([
  'minutely',
  'hourly',
  'daily',
  'weekly',
  'monthly',
  'yearly',
  'annually',
  'quarterly',
  'semiannually',
  'semi-annually',
])

/** When something is due. */
export const SCHEDULE_FORMATS: Formats = {
  'pve-day-of-week': {
    judge: (text) => (DAYS.includes(text) ? undefined : `invalid day '${text}'`),
  },
  'pve-calendar-event': {
    judge: (text) => {
      const complaint = calendarEventError(text)
      return complaint === undefined ? undefined : `invalid calendar event '${text}' - ${complaint}\n`
    },
  },
  'pve-startup-order': { judge: startupError },
  'pve-task-status-type': matching(/^(?:ok|error|warning|unknown)$/i, (text) => `invalid status '${text}'`),
}

/** `[order=]n,up=n,down=n`, in any order. */
function startupError(text: string): string | undefined {
  const parts = text.split(',').filter((part) => !/^\s*$/.test(part))
  const right = parts.length > 0 && parts.every((part) => /^(?:(?:order=)?\d+|(?:up|down)=\d+)$/.test(part))
  // A single 0 is false to the daemon, as if nothing had been said.
  return right && text !== '0' ? undefined : 'unable to parse startup options'
}

/** A systemd-like calendar event: weekdays, date, time, each with lists, ranges and steps; words like `daily`. */
function calendarEventError(text: string): string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return 'unable to parse calendar event - event is empty'
  if (EVENTS.has(trimmed.toLowerCase())) return undefined
  const words = trimmed.replace(/\s+UTC$/, '').split(/\s+/)
  const rest = words.slice(isWeekdays(words[0] ?? '') ? 1 : 0)
  const [date, time] = rest.length === 2 ? rest : rest[0]?.includes('-') ? [rest[0]] : [undefined, rest[0]]
  const right = rest.length <= 2 && (date === undefined || isDate(date)) && (time === undefined || isTime(time))
  if (right) return undefined
  const at = words.find((word, index) => (index === 0 ? !/^[\d*]/.test(word) && !isWeekdays(word) : false))
  return at === undefined
    ? `unable to parse calendar event at '${rest.join(' ')}' - Context("time")`
    : `unable to parse calendar event at '${at}' - Context("weekday")`
}

function isWeekdays(text: string): boolean {
  return text.split(',').every((range) => {
    const ends = range.split(/\.\.|-/)
    return (
      ends.length <= 2 && ends.every((day) => DAYS.includes(day.toLowerCase()) || LONG_DAYS.includes(day.toLowerCase()))
    )
  })
}

function isDate(text: string): boolean {
  const parts = text.split('-')
  if (parts.length < 2 || parts.length > 3) return false
  const [day, month, year] = parts.toReversed()
  return isField(day ?? '', 1, 31) && isField(month ?? '', 1, 12) && (year === undefined || isField(year, 1970, 9999))
}

function isTime(text: string): boolean {
  const parts = text.split(':')
  if (parts.length > 3) return false
  // One number alone is minutes; two are hours and minutes.
  if (parts.length === 1) return isField(parts[0] ?? '', 0, 59)
  return parts.every((part, index) => isField(part, 0, index === 0 ? 23 : 59))
}

/** A list of `*`, a number or a range, each with an optional step. */
function isField(text: string, low: number, high: number): boolean {
  return text.split(',').every((element) => {
    const [, range = '', step] = /^([^/]+)(?:\/(\d+))?$/.exec(element) ?? []
    if (range === '' || (step !== undefined && Number(step) < 1)) return false
    if (range === '*') return true
    const ends = range.split('..')
    return ends.length <= 2 && ends.every((end) => /^\d+$/.test(end) && Number(end) >= low && Number(end) <= high)
  })
}

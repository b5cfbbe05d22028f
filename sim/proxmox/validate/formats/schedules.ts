import { parseCalendarEvent, Unreadable } from './calendar-event.ts'
import { type Formats, matching } from './format.ts'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

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

function calendarEventError(text: string): string | undefined {
  try {
    parseCalendarEvent(text)
    return undefined
  } catch (error) {
    if (error instanceof Unreadable) return error.message
    throw error
  }
}

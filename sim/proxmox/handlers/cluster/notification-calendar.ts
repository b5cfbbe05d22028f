/**
 * Hours of the day, of some days of the week, as matchers have them: `mon..fri 8-17:30`. A refusal names the rest of the text
 * at which reading ended, and what was expected there.
 */
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const isDay = (word: string) => DAYS.some((day) => day === word || day.slice(0, 3) === word)

/** Undefined: it is right. */
export function complaintOfHours(text: string): string | undefined {
  try {
    const rest = afterHours(text)
    return rest === '' ? undefined : complaint(rest, 'Nom(Eof)')
  } catch (error) {
    if (error instanceof UnreadableEvent) return error.message
    throw error
  }
}

class UnreadableEvent extends Error {}

const complaint = (rest: string, why: string) => `unable to parse daily duration at '${rest}' - ${why}`

function stop(rest: string, why: string): never {
  throw new UnreadableEvent(complaint(rest, why))
}

function afterHours(text: string): string {
  const start = readTime(afterDays(text))
  const dash = withoutBlanks(start.rest)
  if (!dash.startsWith('-')) stop(dash, 'Nom(Tag)')
  const second = withoutBlanks(dash.slice(1))
  const end = readTime(second)
  if (start.minutes > end.minutes) stop(second, 'Context("end time before start time")')
  return end.rest
}

/** What follows the days, if it begins with any. A word that is no day ends the list, unless it is the first. */
function afterDays(text: string): string {
  const first = /^[a-z]+/i.exec(text)?.[0]
  if (first === undefined) return text
  if (!isDay(first.toLowerCase())) stop(first, 'Context("weekday")')
  let rest = afterRange(text)
  for (;;) {
    const next = /^,([a-z]+)/i.exec(rest)?.[1]
    if (next === undefined || !isDay(next.toLowerCase())) return withoutBlanks(rest)
    rest = afterRange(rest.slice(1))
  }
}

function afterRange(text: string): string {
  const rest = text.replace(/^[a-z]+/i, '')
  const last = /^\.\.([a-z]+)/i.exec(rest)?.[1]
  return last !== undefined && isDay(last.toLowerCase()) ? rest.slice(2 + last.length) : rest
}

function readTime(text: string): { minutes: number; rest: string } {
  const hour = /^\d+/.exec(text)?.[0]
  if (hour === undefined) stop(text, 'Nom(Digit)')
  if (Number(hour) > 0xffffffff) stop(text, 'Nom(MapRes)')
  const rest = text.slice(hour.length)
  if (Number(hour) >= 24) stop(rest, 'Context("time value too large")')
  const minute = /^:(\d+)/.exec(rest)?.[1]
  if (minute === undefined || Number(minute) >= 60) return { minutes: Number(hour) * 60, rest }
  return { minutes: Number(hour) * 60 + Number(minute), rest: rest.slice(1 + minute.length) }
}

function withoutBlanks(text: string): string {
  return text.replace(/^[ \t]+/, '')
}

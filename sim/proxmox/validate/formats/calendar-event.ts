/** One number, a range of them, or steps from one on. Steps of 0 stay where they are. */
interface CalendarValues {
  readonly from: number
  readonly to: number
  readonly step: number
}

/** An empty list means every value. */
export interface CalendarEvent {
  /** 0 is Monday. */
  readonly weekdays: ReadonlySet<number>
  readonly year: readonly CalendarValues[]
  readonly month: readonly CalendarValues[]
  readonly day: readonly CalendarValues[]
  readonly hour: readonly CalendarValues[]
  readonly minute: readonly CalendarValues[]
  readonly second: readonly CalendarValues[]
}

export function isOneOf(spans: readonly CalendarValues[], value: number): boolean {
  return (
    spans.length === 0 ||
    spans.some(({ from, to, step }) =>
      step === 0 ? value === from : value >= from && value <= to && (value - from) % step === 0,
    )
  )
}

/** The text of what cannot be read. */
export class Unreadable extends Error {}

/** Where reading goes on, and what was read until there. Undefined: it does not begin with such a thing. */
type Read<T> = readonly [rest: string, value: T] | undefined

/**
 * Parses weekdays, date and time, each optional, or a word such as `daily`. A character that does not fit ends a part, and
 * the next part begins there: `25:00` is the 25th minute of every hour.
 */
export function parseCalendarEvent(text: string): CalendarEvent {
  const trimmed = text.trim()
  if (trimmed === '') throw new Unreadable('unable to parse calendar event - event is empty')
  let rest = trimmed.endsWith('UTC') ? trimmed.slice(0, -3).replace(/ +$/, '') : trimmed
  rest = WORDS.get(rest) ?? rest
  const weekdays = new Set<number>()
  const begins = /^[a-z]/i.test(rest)
  if (begins) rest = withoutSpace(readWeekdays(rest, weekdays))
  const date = readDate(rest)
  if (date !== undefined) rest = withoutSpace(date[0])
  const time = readTime(rest)
  if (time !== undefined) rest = time[0]
  if (!begins && date === undefined && time === undefined)
    throw unreadable(rest, 'Context("date or time specification")')
  if (rest !== '') throw unreadable(rest, 'Nom(Eof)')
  return { weekdays, ...(date?.[1] ?? EVERY_DAY), ...(time?.[1] ?? MIDNIGHT) }
}

const unreadable = (at: string, why: string) => new Unreadable(`unable to parse calendar event at '${at}' - ${why}`)

const only = (value: number): readonly CalendarValues[] => [{ from: value, to: value, step: 1 }]
const EVERY_DAY = { year: [], month: [], day: [] }
const MIDNIGHT = { hour: only(0), minute: only(0), second: only(0) }

const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    minutely: '*:*',
    hourly: '*:0',
    daily: '0:0',
    weekly: 'mon 0:0',
    monthly: '*-1 0:0',
    yearly: '1-1 0:0',
    annually: '1-1 0:0',
    quarterly: '1,4,7,10-1 0:0',
    semiannually: '1,7-1 0:0',
    'semi-annually': '1,7-1 0:0',
  }),
)

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

const withoutSpace = (text: string) => text.replace(/^[ \t]+/, '')

function readWeekdays(text: string, into: Set<number>): string {
  let rest = text
  for (let first = true; ; first = false) {
    if (!first && !rest.startsWith(',')) return rest
    const range = readWeekday(first ? rest : rest.slice(1))
    if (range === undefined) {
      if (first) throw unreadable(/^[a-z]*/i.exec(rest)?.[0] ?? '', 'Context("weekday")')
      return rest
    }
    const [after, from] = range
    const end = after.startsWith('..') ? readWeekday(after.slice(2)) : undefined
    const to = end?.[1] ?? from
    for (let day = from; ; day = (day + 1) % 7) {
      into.add(day)
      if (day === to) break
    }
    rest = end?.[0] ?? after
  }
}

function readWeekday(text: string): Read<number> {
  const word = /^[a-z]+/i.exec(text)?.[0] ?? ''
  const name = word.toLowerCase()
  const day = DAYS.findIndex((long) => name === long || name === long.slice(0, 3))
  return day < 0 ? undefined : [text.slice(word.length), day]
}

function readDate(text: string): Read<Pick<CalendarEvent, 'year' | 'month' | 'day'>> {
  const whole = inTurn(text, '-', [
    [0, 2200],
    [1, 13],
    [1, 32],
  ])
  if (whole !== undefined) {
    const [rest, [year = [], month = [], day = []]] = whole
    return [rest, { year, month, day }]
  }
  const short = inTurn(text, '-', [
    [1, 13],
    [1, 32],
  ])
  if (short === undefined) return undefined
  const [rest, [month = [], day = []]] = short
  return [rest, { year: [], month, day }]
}

/** One number alone is minutes. */
function readTime(text: string): Read<Pick<CalendarEvent, 'hour' | 'minute' | 'second'>> {
  const hours = readList(text, 0, 24)
  const hour = hours?.[0].startsWith(':') ? hours[1] : undefined
  const minutes = readList(hour === undefined ? text : (hours?.[0] ?? '').slice(1), 0, 60)
  if (minutes === undefined) return undefined
  const [rest, minute] = minutes
  const seconds = rest.startsWith(':') ? readList(rest.slice(1), 0, 60) : undefined
  return [seconds?.[0] ?? rest, { hour: hour ?? [], minute, second: seconds?.[1] ?? only(0) }]
}

function inTurn(
  text: string,
  between: string,
  limits: readonly (readonly [lowest: number, below: number])[],
): Read<readonly (readonly CalendarValues[])[]> {
  const lists: (readonly CalendarValues[])[] = []
  let rest = text
  for (const [index, [lowest, below]] of limits.entries()) {
    if (index > 0 && !rest.startsWith(between)) return undefined
    const list = readList(index > 0 ? rest.slice(between.length) : rest, lowest, below)
    if (list === undefined) return undefined
    rest = list[0]
    lists.push(list[1])
  }
  return [rest, lists]
}

function readList(text: string, lowest: number, below: number): Read<readonly CalendarValues[]> {
  if (text.startsWith('*')) {
    if (!text.startsWith('*/')) return [text.slice(1), []]
    const step = readNumber(text.slice(2), below)
    if (step === undefined) return undefined
    return step[1] > 0
      ? [step[0], [{ from: lowest, to: Number.POSITIVE_INFINITY, step: step[1] }]]
      : [text.slice(1), []]
  }
  const spans: CalendarValues[] = []
  let rest = text
  for (;;) {
    if (spans.length > 0 && !rest.startsWith(',')) return [rest, spans]
    const span = readSpan(spans.length > 0 ? rest.slice(1) : rest, below)
    if (span === undefined) return spans.length > 0 ? [rest, spans] : undefined
    rest = span[0]
    spans.push(span[1])
  }
}

function readSpan(text: string, below: number): Read<CalendarValues> {
  const first = readNumber(text, below)
  if (first === undefined) return undefined
  const [after, from] = first
  const end = after.startsWith('..') ? readNumber(after.slice(2), below) : undefined
  if (end !== undefined && from > end[1]) return undefined
  const rest = end?.[0] ?? after
  if (!rest.startsWith('/')) return [rest, { from, to: end?.[1] ?? from, step: 1 }]
  const step = readNumber(rest.slice(1), below)
  return step === undefined ? undefined : [step[0], { from, to: end?.[1] ?? Number.POSITIVE_INFINITY, step: step[1] }]
}

function readNumber(text: string, below: number): Read<number> {
  const digits = /^\d+/.exec(text)?.[0]
  return digits === undefined || Number(digits) >= below ? undefined : [text.slice(digits.length), Number(digits)]
}

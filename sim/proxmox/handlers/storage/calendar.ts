/** When a calendar event (`mon..fri 02:30`, `daily`) is due next, in seconds since 1970; undefined for never. */
export function nextRun(event: string, afterMs: number): number | undefined {
  const wanted = parse(event)
  const start = Math.floor(afterMs / 1000)
  const firstDay = Math.floor(start / DAY)
  for (let day = firstDay; day < firstDay + YEARS_AHEAD * 366; day++) {
    if (!onDay(wanted, day)) continue
    for (let hour = 0; hour < 24; hour++) {
      if (!wanted.hour(hour)) continue
      for (let minute = 0; minute < 60; minute++) {
        if (!wanted.minute(minute)) continue
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
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

type Field = (value: number) => boolean
interface Event {
  readonly weekday: Field
  readonly year: Field
  readonly month: Field
  readonly day: Field
  readonly hour: Field
  readonly minute: Field
  readonly second: Field
}

const SPECIAL: Readonly<Record<string, string>> = {
  minutely: '*-*-* *:*:00',
  hourly: '*-*-* *:00:00',
  daily: '*-*-* 00:00:00',
  weekly: 'mon *-*-* 00:00:00',
  monthly: '*-*-01 00:00:00',
  yearly: '*-01-01 00:00:00',
  annually: '*-01-01 00:00:00',
  quarterly: '*-01,04,07,10-01 00:00:00',
  semiannually: '*-01,07-01 00:00:00',
  'semi-annually': '*-01,07-01 00:00:00',
}

function parse(text: string): Event {
  const words = (SPECIAL[text.trim().toLowerCase()] ?? text.trim()).replace(/\s+UTC$/, '').split(/\s+/)
  const weekday = /^[a-z]/i.test(words[0] ?? '') ? weekdays(words.shift() ?? '') : () => true
  const date = /-/.test(words[0] ?? '') ? (words.shift() ?? '') : '*-*-*'
  const [day = '*', month = '*', year = '*'] = date.split('-').toReversed()
  const time = (words[0] ?? '0:0').split(':')
  // One number alone is minutes.
  const [hour = '*', minute = '0', second = '0'] = time.length === 1 ? ['*', time[0]] : time
  return {
    weekday,
    year: field(year, 1970),
    month: field(month, 1),
    day: field(day, 1),
    hour: field(hour, 0),
    minute: field(minute, 0),
    second: field(second, 0),
  }
}

function onDay(wanted: Event, day: number): boolean {
  const date = new Date(day * DAY * 1000)
  return (
    wanted.weekday(date.getUTCDay()) &&
    wanted.year(date.getUTCFullYear()) &&
    wanted.month(date.getUTCMonth() + 1) &&
    wanted.day(date.getUTCDate())
  )
}

function firstSecond(wanted: Event, from: number): number | undefined {
  for (let second = from; second < 60; second++) if (wanted.second(second)) return second
  return undefined
}

function weekdays(text: string): Field {
  const number = (name: string) => DAYS.indexOf(name.slice(0, 3).toLowerCase())
  const chosen = new Set<number>()
  for (const part of text.split(',')) {
    const [from = '', to = from] = part.split(/\.\.|-/)
    for (let day = number(from), left = 7; left > 0; day = (day + 1) % 7, left--) {
      chosen.add(day)
      if (day === number(to)) break
    }
  }
  return (value) => chosen.has(value)
}

/** A list of `*`, numbers and ranges, each with an optional step. */
function field(text: string, lowest: number): Field {
  const parts = text.split(',').map((part): Field => {
    const [range = '', stepText] = part.split('/')
    const step = Number(stepText ?? 1)
    if (range === '*') return (value) => (value - lowest) % step === 0
    const [from = '', to] = range.split('..')
    const first = Number(from)
    const last = to !== undefined ? Number(to) : stepText === undefined ? first : Number.POSITIVE_INFINITY
    return (value) => value >= first && value <= last && (value - first) % step === 0
  })
  return (value) => parts.some((part) => part(value))
}

import { LIMITS } from '../../lib/limits.ts'
import type { EstateView } from '../../model/estate-view.ts'
import { type HealthPast, type HealthSeconds, type HealthState, healthOfServices } from '../../model/past.ts'
import { createDayBook, DAY_MS, type DayBook, dayOf } from './day-book.ts'

const HOUR_MS = 3_600_000
const PLACE: Readonly<Partial<Record<HealthState, number>>> = { up: 0, down: 1, unknown: 2 }
const STATES = 3

/** Seconds of health of clusters, hosts and checks, by hour. */
export interface HealthBook {
  readonly book: DayBook
  /** Counts how everything was from one look to the next. */
  count(view: EstateView, fromMs: number, toMs: number): void
  days(nowMs: number, count: number): readonly HealthPast[]
  hours(nowMs: number, count: number): readonly HealthPast[]
}

export function createHealthBook(): HealthBook {
  const book = createDayBook('health', {
    days: LIMITS.historyDays,
    subjects: LIMITS.historySubjects,
    numbers: 24 * STATES,
  })

  /** Seconds are whole: what a short look leaves over is carried to the next one. */
  function add(subject: string, place: number, fromMs: number, toMs: number): void {
    for (let at = fromMs; at < toMs; ) {
      const end = Math.min(toMs, (Math.floor(at / HOUR_MS) + 1) * HOUR_MS)
      const page = book.page(dayOf(at), subject)
      const index = Math.floor((at % DAY_MS) / HOUR_MS) * STATES + place
      const seconds = Math.floor(end / 1000) - Math.floor(at / 1000)
      if (page !== undefined) page[index] = Math.min(3600, (page[index] ?? 0) + seconds)
      at = end
    }
  }

  function past(fromDay: number, toDay: number, spans: (name: string) => HealthPast['spans']): readonly HealthPast[] {
    return book.subjects(fromDay, toDay).flatMap((name) => {
      const [what = '', subject = ''] = split(name)
      if (what !== 'cluster' && what !== 'host' && what !== 'check') return []
      const own = spans(name)
      return own.every((one) => one === undefined) ? [] : [{ what, subject, spans: own }]
    })
  }

  function hour(name: string, atMs: number): HealthSeconds | undefined {
    return sum(book.seen(dayOf(atMs), name), Math.floor((atMs % DAY_MS) / HOUR_MS), 1)
  }

  return {
    book,
    count(view, fromMs, toMs) {
      for (const { what, subject, state } of healthOfServices(view)) {
        const place = PLACE[state]
        if (place !== undefined) add(`${what}/${subject}`, place, fromMs, toMs)
      }
    },
    days(nowMs, count) {
      const last = dayOf(nowMs)
      const first = last - count + 1
      return past(first, last, (name) =>
        Array.from({ length: count }, (_, index) => sum(book.seen(first + index, name), 0, 24)),
      )
    },
    hours(nowMs, count) {
      const lastMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS
      const firstMs = lastMs - (count - 1) * HOUR_MS
      return past(dayOf(firstMs), dayOf(lastMs), (name) =>
        Array.from({ length: count }, (_, index) => hour(name, firstMs + index * HOUR_MS)),
      )
    },
  }
}

function split(name: string): readonly string[] {
  const at = name.indexOf('/')
  return [name.slice(0, at), name.slice(at + 1)]
}

function sum(page: Uint16Array | undefined, fromHour: number, hours: number): HealthSeconds | undefined {
  if (page === undefined) return undefined
  const [up, down, unknown] = [0, 1, 2].map((place) => {
    let seconds = 0
    for (let at = fromHour; at < fromHour + hours; at++) seconds += page[at * STATES + place] ?? 0
    return seconds
  })
  if (up === undefined || down === undefined || unknown === undefined || up + down + unknown === 0) return undefined
  return { up, down, unknown }
}

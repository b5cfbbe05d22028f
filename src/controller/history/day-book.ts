import { recordIn } from '../../lib/foreign-json.ts'
import { pack, unpack } from './packed.ts'

export const DAY_MS = 86_400_000

export function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

/** Numbers by day and subject, for a bounded count of days and subjects. */
export interface DayBook {
  /** The numbers of a subject on a day, to read and to change. Undefined: there are as many subjects as there may be. */
  page(day: number, subject: string): Uint16Array | undefined
  /** To read only. */
  seen(day: number, subject: string): Uint16Array | undefined
  /** Every subject of these days, in order. */
  subjects(fromDay: number, toDay: number): readonly string[]
  /** A day as the store keeps it, and under which name. A name comes back after as many days as are kept. */
  text(day: number): { readonly name: string; readonly text: string }
  names(): readonly string[]
  /** Takes back what `text` gave; what is damaged or too old is left out. */
  read(text: string, today: number): void
}

export function createDayBook(name: string, shape: { days: number; subjects: number; numbers: number }): DayBook {
  const days = new Map<number, Map<string, Uint16Array>>()

  function at(day: number): Map<string, Uint16Array> {
    const known = days.get(day)
    if (known !== undefined) return known
    const made = new Map<string, Uint16Array>()
    days.set(day, made)
    for (const old of days.keys()) if (old <= day - shape.days) days.delete(old)
    return made
  }

  return {
    page(day, subject) {
      const pages = at(day)
      const known = pages.get(subject)
      if (known !== undefined || pages.size >= shape.subjects) return known
      const made = new Uint16Array(shape.numbers)
      pages.set(subject, made)
      return made
    },
    seen: (day, subject) => days.get(day)?.get(subject),
    subjects(fromDay, toDay) {
      const found = new Set<string>()
      for (const [day, pages] of days)
        if (day >= fromDay && day <= toDay) for (const subject of pages.keys()) found.add(subject)
      return [...found].toSorted()
    },
    text: (day) => ({
      name: nameAt(name, day % shape.days),
      text: JSON.stringify({
        day,
        pages: Object.fromEntries([...(days.get(day) ?? [])].map(([subject, numbers]) => [subject, pack(numbers)])),
      }),
    }),
    names: () => Array.from({ length: shape.days }, (_, index) => nameAt(name, index)),
    read(text, today) {
      const { day, pages } = parsed(text)
      if (day === undefined || day > today || day <= today - shape.days) return
      for (const [subject, packed] of Object.entries(pages)) {
        const numbers = unpack(packed, shape.numbers)
        const into = at(day)
        if (numbers !== undefined && into.size < shape.subjects) into.set(subject, numbers)
      }
    },
  }
}

function nameAt(name: string, index: number): string {
  return `history/${name}/${index}`
}

function parsed(text: string): { day?: number; pages: object } {
  const { day, pages } = recordIn(text) ?? {}
  return typeof day === 'number' && typeof pages === 'object' && pages !== null ? { day, pages } : { pages: {} }
}

import { LIMITS } from '../lib/limits.ts'
import type { EstateView } from '../model/estate-view.ts'
import { type HealthPast, type HealthSeconds, type HealthState, healthOf } from '../model/past.ts'
import type { Strip } from './api/schemas.ts'

type Letter = 'o' | 'x' | '?' | '-'

/** How well everything was in the last 24 hours, by slots of half an hour. */
export interface HealthStrips {
  note(view: EstateView, nowMs: number): void
  /** Takes over what was remembered by hour from before this process began. */
  recall(hours: readonly HealthPast[], nowMs: number): void
  strips(nowMs: number): readonly Strip[]
}

interface Track {
  readonly what: Strip['what']
  /** By number of the slot since the epoch; the worst of a slot stands. */
  readonly slots: Map<number, Letter>
}

const WORSE: Readonly<Record<Letter, number>> = { '-': 0, o: 1, '?': 2, x: 3 }
const LETTER_OF: Readonly<Record<HealthState, Letter>> = { up: 'o', down: 'x', unknown: '?', off: '-' }
const HOUR_MS = 3_600_000

export function createHealthStrips(): HealthStrips {
  const tracks = new Map<string, Track>()

  function note(what: Strip['what'], subject: string, letter: Letter, slot: number): void {
    const name = `${what}/${subject}`
    let track = tracks.get(name)
    if (track === undefined) {
      if (tracks.size >= LIMITS.healthSubjects) return
      track = { what, slots: new Map() }
      tracks.set(name, track)
    }
    const before = track.slots.get(slot)
    if (before === undefined || WORSE[letter] > WORSE[before]) track.slots.set(slot, letter)
    for (const old of track.slots.keys()) {
      if (old > slot - LIMITS.healthSlots) break
      track.slots.delete(old)
    }
  }

  return {
    note(view, nowMs) {
      const slot = Math.floor(nowMs / LIMITS.healthSlotMs)
      for (const { what, subject, state } of healthOf(view)) note(what, subject, LETTER_OF[state], slot)
    },
    recall(hours, nowMs) {
      const perHour = HOUR_MS / LIMITS.healthSlotMs
      const now = Math.floor(nowMs / LIMITS.healthSlotMs)
      for (const { what, subject, spans } of hours) {
        const firstHour = Math.floor(nowMs / HOUR_MS) - spans.length + 1
        for (const [index, seconds] of spans.entries()) {
          const letter = letterOf(seconds)
          if (letter === undefined) continue
          const first = (firstHour + index) * perHour
          for (let slot = first; slot < Math.min(first + perHour, now + 1); slot++) note(what, subject, letter, slot)
        }
      }
    },
    strips(nowMs) {
      const last = Math.floor(nowMs / LIMITS.healthSlotMs)
      const strips: Strip[] = []
      for (const [name, { what, slots }] of tracks) {
        const letters = Array.from(
          { length: LIMITS.healthSlots },
          (_, index) => slots.get(last - LIMITS.healthSlots + 1 + index) ?? '.',
        )
        // Not seen for a whole day: it is gone, and so is its strip.
        if (letters.every((letter) => letter === '.')) {
          tracks.delete(name)
          continue
        }
        const well = letters.filter((letter) => letter === 'o').length
        // What nobody knows is neither well nor unwell.
        const known = well + letters.filter((letter) => letter === 'x').length
        strips.push({
          subject: name.slice(what.length + 1),
          what,
          slots: letters.join(''),
          ...(known === 0 ? {} : { share: well / known }),
        })
      }
      return strips
    },
  }
}

function letterOf(seconds: HealthSeconds | undefined): Letter | undefined {
  if (seconds === undefined) return undefined
  return seconds.down > 0 ? 'x' : seconds.unknown > 0 ? '?' : 'o'
}

import { LIMITS } from '../lib/limits.ts'
import type { EstateView } from '../model/estate-view.ts'
import { type HealthPast, type HealthSeconds, type HealthState, healthOf } from '../model/past.ts'
import type { Strip } from './api/schemas.ts'

type Letter = 'o' | 'x' | '?' | '-'

/** Health of everything over the last 24 hours, in slots of half an hour. */
export interface HealthStrips {
  note(view: EstateView, nowMs: number): void
  /** Takes over what was remembered by hour from before this process began. */
  recall(hours: readonly HealthPast[], nowMs: number): void
  strips(nowMs: number): readonly Strip[]
}

interface Track {
  readonly what: Strip['what']
  /** By slot number since the epoch. */
  readonly slots: Map<number, Slot>
  /** When it was last looked at. */
  notedMs: number
}

/** The worst state is drawn; the durations up and down are counted. */
interface Slot {
  letter: Letter
  upMs: number
  downMs: number
}

const WORSE: Readonly<Record<Letter, number>> = { '-': 0, o: 1, '?': 2, x: 3 }
const LETTER_OF: Readonly<Record<HealthState, Letter>> = { up: 'o', down: 'x', unknown: '?', off: '-' }
const HOUR_MS = 3_600_000

export function createHealthStrips(): HealthStrips {
  const tracks = new Map<string, Track>()

  function trackOf(what: Strip['what'], subject: string): Track | undefined {
    const name = `${what}/${subject}`
    const known = tracks.get(name)
    if (known !== undefined || tracks.size >= LIMITS.healthSubjects) return known
    const made = { what, slots: new Map(), notedMs: 0 }
    tracks.set(name, made)
    return made
  }

  function note({ slots }: Track, letter: Letter, number: number, seconds: { upMs: number; downMs: number }): void {
    const slot = slots.get(number) ?? { letter, upMs: 0, downMs: 0 }
    if (WORSE[letter] > WORSE[slot.letter]) slot.letter = letter
    slot.upMs += seconds.upMs
    slot.downMs += seconds.downMs
    slots.set(number, slot)
    for (const old of slots.keys()) {
      if (old > number - LIMITS.healthSlots) break
      slots.delete(old)
    }
  }

  return {
    note(view, nowMs) {
      const slot = Math.floor(nowMs / LIMITS.healthSlotMs)
      for (const { what, subject, state } of healthOf(view)) {
        const track = trackOf(what, subject)
        if (track === undefined) continue
        // A first look, or one after a gap, counts as a moment: the state before it is unknown.
        const sinceMs = nowMs - track.notedMs
        const ms = sinceMs > 0 && sinceMs <= LIMITS.historyGapMs ? sinceMs : 1
        note(track, LETTER_OF[state], slot, { upMs: state === 'up' ? ms : 0, downMs: state === 'down' ? ms : 0 })
        track.notedMs = nowMs
      }
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
          const track = trackOf(what, subject)
          const share = { upMs: ((seconds?.up ?? 0) * 1000) / perHour, downMs: ((seconds?.down ?? 0) * 1000) / perHour }
          for (let slot = first; track !== undefined && slot < Math.min(first + perHour, now + 1); slot++)
            note(track, letter, slot, share)
        }
      }
    },
    strips(nowMs) {
      const last = Math.floor(nowMs / LIMITS.healthSlotMs)
      const strips: Strip[] = []
      for (const [name, { what, slots }] of tracks) {
        const letters = Array.from(
          { length: LIMITS.healthSlots },
          (_, index) => slots.get(last - LIMITS.healthSlots + 1 + index)?.letter ?? '.',
        )
        // Not observed for a whole day: remove its strip.
        if (letters.every((letter) => letter === '.')) {
          tracks.delete(name)
          continue
        }
        // Unknown time counts as neither up nor down.
        let [well, known] = [0, 0]
        for (const [number, { upMs, downMs }] of slots) {
          if (number <= last - LIMITS.healthSlots) continue
          well += upMs
          known += upMs + downMs
        }
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

import { LIMITS } from '../lib/limits.ts'
import type { EstateView } from '../model/estate-view.ts'
import type { Strip } from './api/schemas.ts'

type Letter = 'o' | 'x' | '?'

/** How well everything was in the last 24 hours, by slots. Kept in memory: after a restart a strip begins anew. */
export interface HealthStrips {
  note(view: EstateView, nowMs: number): void
  strips(nowMs: number): readonly Strip[]
}

interface Track {
  readonly what: Strip['what']
  /** By number of the slot since the epoch; the worst of a slot stands. */
  readonly slots: Map<number, Letter>
}

const WORSE: Readonly<Record<Letter, number>> = { o: 0, '?': 1, x: 2 }

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
      for (const cluster of view.clusters) note('cluster', cluster.name, clusterLetter(cluster.decision.phase), slot)
      for (const host of view.hosts) note('host', host.name, host.online ? 'o' : 'x', slot)
      for (const check of view.checks) note('check', check.name, LETTER_OF[check.passed], slot)
      for (const resource of view.resources) {
        const ready = resource.conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown'
        note('resource', resource.key, ready === 'True' ? 'o' : ready === 'False' ? 'x' : '?', slot)
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
        const looked = letters.filter((letter) => letter !== '.')
        // Not seen for a whole day: it is gone, and so is its strip.
        if (looked.length === 0) {
          tracks.delete(name)
          continue
        }
        const share = looked.filter((letter) => letter === 'o').length / looked.length
        strips.push({ subject: name.slice(what.length + 1), what, slots: letters.join(''), share })
      }
      return strips
    },
  }
}

const LETTER_OF = { yes: 'o', no: 'x', unknown: '?' } as const

function clusterLetter(phase: string): Letter {
  if (phase === 'Unknown') return '?'
  return ['Degraded', 'Blocked', 'QuorumLost'].includes(phase) ? 'x' : 'o'
}

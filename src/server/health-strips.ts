import { LIMITS } from '../lib/limits.ts'
import type { EstateView } from '../model/estate-view.ts'
import type { Strip } from './api/schemas.ts'

type Letter = 'o' | 'x' | '?' | '-'

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

const WORSE: Readonly<Record<Letter, number>> = { '-': 0, o: 1, '?': 2, x: 3 }

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
      const off = offByOrder(view)
      for (const { name, decision } of view.clusters)
        note('cluster', name, off.clusters.has(name) ? '-' : clusterLetter(decision.phase), slot)
      for (const { name, online } of view.hosts)
        note('host', name, online ? 'o' : off.hosts.has(name) ? '-' : 'x', slot)
      for (const check of view.checks) note('check', check.name, LETTER_OF[check.passed], slot)
      for (const resource of view.resources) {
        const ready = resource.conditions.find(({ type }) => type === 'Ready')?.status ?? 'Unknown'
        // What is being made or changed is on its way, neither well nor unwell.
        if (ready !== 'True' && UNDER_WAY.has(resource.action.do)) continue
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
        const looked = letters.filter((letter) => letter !== '.' && letter !== '-')
        // Not seen for a whole day: it is gone, and so is its strip.
        if (letters.every((letter) => letter === '.')) {
          tracks.delete(name)
          continue
        }
        const share = looked.filter((letter) => letter === 'o').length / looked.length
        strips.push({
          subject: name.slice(what.length + 1),
          what,
          slots: letters.join(''),
          ...(looked.length === 0 ? {} : { share }),
        })
      }
      return strips
    },
  }
}

const UNDER_WAY: ReadonlySet<string> = new Set(['create', 'update', 'adopt', 'replace', 'delete', 'wait'])

/** Clusters and hosts that are off, or on their way, because somebody or the schedule says so. */
function offByOrder({ power = [] }: EstateView) {
  const going = power.filter(({ wanted, phase }) => wanted.state === 'off' || phase === 'GoingOn')
  return {
    clusters: new Set(going.flatMap(({ cluster }) => cluster ?? [])),
    hosts: new Set(going.flatMap(({ hosts }) => hosts.filter(({ power: is }) => is === 'off').map(({ name }) => name))),
  }
}

const LETTER_OF = { yes: 'o', no: 'x', unknown: '?' } as const

function clusterLetter(phase: string): Letter {
  if (phase === 'Unknown') return '?'
  return ['Degraded', 'Blocked', 'QuorumLost'].includes(phase) ? 'x' : 'o'
}

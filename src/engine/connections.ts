import type { Driver, DriverDeps, Session } from '../drivers/port.ts'
import { backoffMs } from '../lib/backoff.ts'
import { ageMs, type Mono, monoNow } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import type { Connection } from '../model/estate.ts'
import type { Refusal, Step } from '../model/step.ts'
import type { DetailCache } from './detail-cache.ts'

/** A connection that does not answer, or says no. */
export interface ConnectionTrouble {
  readonly refusal: Refusal
  readonly count: number
  /** For how long it has lasted. */
  readonly ageMs: number
  /** For how long it is not looked at again. */
  readonly pauseMs: number
}

/** Kept by the monotonic clock of this process: the wall clock may be set at any time. */
interface KeptTrouble {
  readonly refusal: Refusal
  readonly count: number
  readonly since: Mono
  readonly looked: Mono
  readonly pauseMs: number
}

/** What is known for a while of ids that no survey shows, so that it is not asked again in every pass. */
export interface ConnectionMemory {
  everything?: { readonly is: Promise<boolean>; readonly atMs: number }
  /** When an id was last said to be free. */
  readonly free: Map<string, number>
  /** When a list was last read in which an earlier creation of an id had left nothing behind, by id and list. */
  readonly bare: Map<string, Map<string, number>>
  /** Guests that we have just made and nobody has started: a survey does not know their power yet. */
  readonly born: Set<string>
  /** Guests whose creation this process has sent, each with the words of it, where the creation is all there is to do. */
  readonly begun: Map<string, string | undefined>
  /** Those of them that were made so, and that nobody has touched since. */
  readonly made: Map<string, Made>
  /** Words of creations of which one was read, or was to be; and those of which one was read and is as declared. */
  readonly sampled: Set<string>
  readonly proved: Set<string>
  /** Since when a guest has shown nothing but the lock of its creation, with nobody at work on it. */
  readonly idle: Map<string, number>
  /** Agents that are waited for: since when, and when they were last asked. */
  readonly waited: Map<string, { readonly sinceMs: number; readonly askedMs: number }>
}

/** A creation that went well. */
export interface Made {
  readonly step: Step
  readonly words: string
  readonly atMs: number
}

export function nothingRemembered(): ConnectionMemory {
  return {
    free: new Map(),
    bare: new Map(),
    born: new Set(),
    begun: new Map(),
    made: new Map(),
    sampled: new Set(),
    proved: new Set(),
    idle: new Map(),
    waited: new Map(),
  }
}

interface Open {
  readonly connection: Connection
  readonly session: Session
  readonly looks: DetailCache
  readonly memory: ConnectionMemory
}

/** The open sessions of an engine, each with what it remembers and its present trouble. */
export interface Connections {
  /** Opens on first use; opens anew when the declaration of the connection has changed. */
  open(connection: Connection): Promise<Open>
  trouble(name: string): ConnectionTrouble | undefined
  /** Notes trouble; the next look is put off, longer each time. */
  troubled(name: string, refusal: Refusal): ConnectionTrouble
  healed(name: string): void
  close(): Promise<void>
}

export function createConnections(drivers: readonly Driver[], deps: DriverDeps, random: Random): Connections {
  const open = new Map<string, Open>()
  const troubles = new Map<string, KeptTrouble>()
  const now = ({ refusal, count, since, looked, pauseMs }: KeptTrouble): ConnectionTrouble => ({
    refusal,
    count,
    ageMs: ageMs(since, deps.clock),
    pauseMs: Math.max(0, pauseMs - ageMs(looked, deps.clock)),
  })
  return {
    async open(connection) {
      const before = open.get(connection.name)
      if (before !== undefined && JSON.stringify(before.connection) === JSON.stringify(connection)) return before
      if (before !== undefined) await before.session.close()
      const driver = drivers.find((one) => one.name === connection.driver)
      if (driver === undefined) throw new Error(`there is no driver ${connection.driver}`)
      const made: Open = {
        connection,
        session: driver.connect(connection, deps),
        looks: new Map(),
        memory: nothingRemembered(),
      }
      open.set(connection.name, made)
      return made
    },
    trouble(name) {
      const kept = troubles.get(name)
      return kept === undefined ? undefined : now(kept)
    },
    troubled(name, refusal) {
      const before = troubles.get(name)
      const count = (before?.count ?? 0) + 1
      const pause =
        refusal.meaning === 'stalled' ? LIMITS.refusedConnectionMs : backoffMs(LIMITS.connectionBackoff, count, random)
      const looked = monoNow(deps.clock)
      const kept: KeptTrouble = { refusal, count, since: before?.since ?? looked, looked, pauseMs: pause }
      troubles.set(name, kept)
      return now(kept)
    },
    healed(name) {
      troubles.delete(name)
    },
    async close() {
      await Promise.all([...open.values()].map((one) => one.session.close()))
      open.clear()
    },
  }
}

import type { Driver, DriverDeps, Session } from '../drivers/port.ts'
import { backoffMs } from '../lib/backoff.ts'
import { ageMs, type Mono, monoNow } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { Random } from '../lib/random.ts'
import type { Connection } from '../model/estate.ts'
import type { Refusal, Step } from '../model/step.ts'
import type { DetailCache } from './detail-cache.ts'

/** A connection that does not answer, or refuses. */
export interface ConnectionTrouble {
  readonly refusal: Refusal
  readonly count: number
  /** How long it has lasted. */
  readonly ageMs: number
  /** The pause until its next look. */
  readonly pauseMs: number
}

/** Timed by this process's monotonic clock, since the wall clock may be set at any time. */
interface KeptTrouble {
  readonly refusal: Refusal
  readonly count: number
  readonly since: Mono
  readonly looked: Mono
  readonly pauseMs: number
}

/** Cached facts about ids that no survey shows, to save a read in every pass. */
export interface ConnectionMemory {
  everything?: { readonly is: Promise<boolean>; readonly atMs: number }
  /** When an id was last free. */
  readonly free: Map<string, number>
  /** When a list was last read without leftovers of an id's earlier creation, by id and list. */
  readonly bare: Map<string, Map<string, number>>
  /** Guests that we have just made and that were never started: a survey does not know their power yet. */
  readonly born: Set<string>
  /** Guests whose creation this process requested, with the request if the creation is the only step. */
  readonly begun: Map<string, string | undefined>
  /** Guests among them that were created so and not changed since. */
  readonly made: Map<string, Made>
  /** Creation requests: `sampled` if one result was read back, `proved` if it matched the declaration. */
  readonly sampled: Set<string>
  readonly proved: Set<string>
  /** Since when a guest has shown only the lock of its creation, without a task. */
  readonly idle: Map<string, number>
  /** Agents that croft waits for: since when, and when it last asked. */
  readonly waited: Map<string, { readonly sinceMs: number; readonly askedMs: number }>
}

/** A creation that succeeded. */
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

/** The open sessions of an engine, each with its memory and its current trouble. */
export interface Connections {
  /** Opens the connection on first use, and reopens it when its declaration has changed. */
  open(connection: Connection): Promise<Open>
  trouble(name: string): ConnectionTrouble | undefined
  /** Records trouble and delays the next look, longer each time. */
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

import { LIMITS } from '../lib/limits.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Step } from '../model/step.ts'
import { learnPace, type Pace, UNKNOWN_PACE } from '../plan/pace.ts'
import { type Lesson, learn, type Windows } from '../plan/windows.ts'
import type { Attempt } from './act.ts'
import type { FactsByConnection } from './connection-facts.ts'
import type { Happening } from './resource-pass.ts'

/** An engine's learnt queue widths, the queues that were full, and the speed of tasks. */
export interface Widths {
  current: Windows
  readonly full: Set<string>
  pace: Pace
  /** Since when tasks are under way without a later look, on the monotonic clock. */
  sinceMs: number | undefined
  /** How many tasks are under way since then. */
  left: number
}

export function nothingLearnt(): Widths {
  return { current: new Map(), full: new Set(), pace: UNKNOWN_PACE, sinceMs: undefined, left: 0 }
}

/** When a pass looked, started to act, and ended, on the monotonic clock. */
export interface PassTimes {
  readonly lookedMs: number
  readonly actedMs: number
  readonly endedMs: number
}

/**
 * Learns how fast tasks end, from those that ended between the last look and this one, and how long it takes from a
 * look until the next effects have started. If nothing else was under way, this pass's tasks count from its end.
 */
export function notePace(
  widths: Widths,
  ended: number,
  left: number,
  inFlight: number,
  { lookedMs, actedMs, endedMs }: PassTimes,
): void {
  const counted = { ended, left, before: widths.left }
  if (widths.sinceMs !== undefined) widths.pace = learnPace(widths.pace, counted, lookedMs - widths.sinceMs)
  widths.left = left > 0 ? left : inFlight
  const passMs = Math.max(0, endedMs - actedMs)
  widths.pace = { ...widths.pace, passMs, ...(inFlight === 0 ? { quietMs: 0 } : {}) }
  widths.sinceMs = inFlight === 0 ? undefined : left > 0 ? lookedMs : endedMs
}

/** Learns from the effects that ended or were refused in a pass. */
export function learnWidths(
  widths: Widths,
  happenings: ReadonlyMap<ResourceKey, readonly Happening[]>,
  attempts: readonly Attempt[],
  estate: Estate,
  records: ReadonlyMap<string, ResourceRecord>,
  factsByConnection: FactsByConnection,
): void {
  const connectionOf = new Map<string, string>()
  // A thing that leaves is no longer declared: only its record has its connection.
  for (const { key, connection } of records.values()) connectionOf.set(key, connection)
  for (const { key, connection } of estate.resources) connectionOf.set(key, connection)
  for (const { admitted } of attempts) connectionOf.set(admitted.entry.key, admitted.entry.connection)
  const lessons: Lesson[] = []
  for (const [key, list] of happenings) {
    const connection = connectionOf.get(key)
    if (connection === undefined) continue
    for (const happening of list) {
      const was = lessonOf(happening)
      if (was !== undefined) lessons.push({ connection, queues: happening.step.queues, was })
    }
  }
  if (lessons.length === 0) return
  const connections = new Map(estate.connections.map((connection) => [connection.name, connection]))
  // Each waits for the storage's lock until all earlier ones are done, and Proxmox's wait for a lock has a timeout.
  const isLong = (size: number) => (size + 1) * widths.pace.perTaskMs > LIMITS.lockQueueMs
  const busy = (connection: string, queue: string, size: number) =>
    isLong(size) ||
    (factsByConnection.get(connection)?.survey.hosts ?? []).some(
      ({ name, load }) => queue === `host/${name}` && (load ?? 0) > LIMITS.busyHost.above,
    )
  widths.current = learn(widths.current, lessons, connections, busy, widths.full)
}

function lessonOf(happening: Happening): Lesson['was'] | undefined {
  if (happening.what === 'unclear') return 'crowded'
  if (happening.what === 'failed') return happening.refusal.reason === 'LockTimeout' ? 'crowded' : undefined
  if (happening.what !== 'succeeded') return undefined
  // Proxmox deletes a guest even if the lock of one disk times out, and warns about the disk.
  if (happening.warned !== undefined && happening.step.verb === 'delete') return 'crowded'
  return isWork(happening.step) ? 'fine' : undefined
}

/** A write of a few fields says nothing about a host's capacity. */
function isWork({ queues }: Step): boolean {
  return queues.length > 0
}

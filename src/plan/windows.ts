import { LIMITS } from '../lib/limits.ts'
import type { Connection } from '../model/estate.ts'
import type { Desired } from '../model/resource.ts'
import type { Step } from '../model/step.ts'

/** The learnt limit of concurrent effects, by connection and queue. */
export type Windows = ReadonlyMap<string, Window>

export interface Window {
  readonly size: number
  /** It was too many once: since then the queue is widened slowly. */
  readonly crowded?: true
}

/** The result of one effect, for the queues that it used. */
export interface Lesson {
  readonly connection: string
  readonly queues: readonly string[]
  /** crowded: a lock was not released in time, or a daemon did not answer in time. */
  readonly was: 'fine' | 'crowded'
}

const CREATIONS = 'create/'

/** Returns the queue that the creation of a guest uses in addition to those of its step. */
export function creationQueue(type: Desired['type'] | undefined, { verb, host }: Step): readonly string[] {
  return verb === 'create' && (type === 'vm' || type === 'container') ? [`${CREATIONS}${host}`] : []
}

export function windowName(connection: string, queue: string): string {
  return `${connection} ${queue}`
}

/**
 * Returns how many effects a queue takes at once. The declared limit is the maximum; below it the answers decide.
 * Proxmox forks a process for each task and serializes those that need a storage's lock, so the right number differs
 * per host.
 */
export function capacity(queue: string, connection: Connection, windows: Windows): number {
  // This limit is declared, not learnt: learning it would cost a failed creation.
  if (queue.startsWith(CREATIONS)) return connection.limits.creations ?? Number.POSITIVE_INFINITY
  const most = ceiling(queue, connection)
  return Math.min(most, Math.floor(sizeOf(queue, connection, windows)))
}

function sizeOf(queue: string, connection: Connection, windows: Windows): number {
  return windows.get(windowName(connection.name, queue))?.size ?? firstOf(queue)
}

function ceiling(queue: string, { limits }: Connection): number {
  // Never two at once, as for a reload of the network.
  if (queue.startsWith('single/')) return 1
  return queue.startsWith('storage/') ? limits.perStorage : limits.perHost
}

function firstOf(queue: string): number {
  return queue.startsWith('storage/') ? LIMITS.firstWindow.storage : LIMITS.firstWindow.host
}

/** Rounds without trouble before a formerly crowded queue is widened by one. */
const CAREFUL_ROUNDS = 8

/**
 * Adapts queue widths to the results. Each success widens its queue by one, so a fast queue doubles every round. A
 * crowded queue is halved, once per round, and widened slowly afterwards. A queue that was never full is not widened,
 * since its current width was not tested.
 */
export function learn(
  windows: Windows,
  lessons: readonly Lesson[],
  connections: ReadonlyMap<string, Connection>,
  busy: (connection: string, queue: string, size: number) => boolean,
  filled: ReadonlySet<string>,
): Windows {
  const next = new Map(windows)
  const crowded = new Set<string>()
  for (const { connection, queues, was } of lessons)
    if (was === 'crowded') for (const queue of queues) crowded.add(windowName(connection, queue))
  const halved = new Set<string>()
  for (const { connection: name, queues } of lessons) {
    const connection = connections.get(name)
    if (connection === undefined) continue
    for (const queue of queues) {
      const window = windowName(name, queue)
      const size = Math.min(ceiling(queue, connection), sizeOf(queue, connection, next))
      const careful = next.get(window)?.crowded
      if (!crowded.has(window)) {
        if (!filled.has(window) || busy(name, queue, size)) continue
        const more = careful === true ? 1 / (CAREFUL_ROUNDS * size) : 1
        next.set(window, {
          size: Math.min(ceiling(queue, connection), size + more),
          ...(careful ? { crowded: true } : {}),
        })
      } else if (!halved.has(window)) {
        halved.add(window)
        next.set(window, { size: Math.max(1, Math.floor(size / 2)), crowded: true })
      }
    }
  }
  return next
}

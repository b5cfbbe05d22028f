import { markFinal } from '../lib/failed-on.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { AuditEntry, CroftEvent, Intention, NewAuditEntry, NewEvent, ResourceRecord } from '../model/record.ts'

/** Another controller has started a newer epoch on this store: stop at once. */
export class StaleEpoch extends Error {
  readonly current: number

  constructor(mine: number, current: number) {
    super(`epoch ${mine} is over: another controller began epoch ${current} on this store`)
    this.name = 'StaleEpoch'
    this.current = current
  }
}

/** The content has moved elsewhere, so this store must not be used: as with a stale epoch. */
export class StoreMoved extends StaleEpoch {
  constructor(message: string) {
    super(0, 0)
    this.name = 'StoreMoved'
    this.message = message
  }
}

/** The names that stores of earlier versions have. */
export type RequestsName = `cluster-orders/${string}` | `power-orders/${string}`

export interface EventFilter {
  readonly key?: ResourceKey
  /** Only later events. With a limit: the oldest of those, so that a reader pages forward. */
  readonly afterSeq?: number
  /** At most so many. Without `afterSeq`: the newest. */
  readonly limit?: number
}

/**
 * History, intentions in flight and caches. Never the truth: delete it and it is rebuilt from Git and the marks.
 * Every write names the writer's epoch and fails with StaleEpoch unless that epoch is the current one.
 * Returned values are copies or frozen, so stored ones change only by writes.
 */
export interface Store {
  /** Begins a new epoch and returns it. Older writers are refused from now on. */
  beginEpoch(): Promise<number>
  /** True when this store has never finished a complete pass: then nothing in it may be taken as knowledge. */
  isFresh(): Promise<boolean>
  markComplete(epoch: number): Promise<void>

  /** Durable when it resolves: on disk, not in a cache. The same id again replaces what was written. */
  intend(epoch: number, intention: Intention): Promise<void>
  /** Notes the task that an intention became. Durable. Fails when there is no such intention. */
  noteTask(epoch: number, id: string, taskId: string): Promise<void>
  /** Ends an intention, with any result. Idempotent. */
  settle(epoch: number, id: string): Promise<void>
  /** In writing order. */
  intentions(): Promise<readonly Intention[]>

  /** All or none. */
  putRecords(epoch: number, records: readonly ResourceRecord[]): Promise<void>
  dropRecord(epoch: number, key: ResourceKey): Promise<void>
  /** Sorted by key. */
  records(): Promise<readonly ResourceRecord[]>
  record(key: ResourceKey): Promise<ResourceRecord | undefined>

  /** Numbers them upward without reuse. Only the newest are kept: see LIMITS.eventsKept. */
  appendEvents(epoch: number, events: readonly NewEvent[]): Promise<readonly CroftEvent[]>
  /** Oldest first. */
  events(filter: EventFilter): Promise<readonly CroftEvent[]>

  /** Small named values: last good revision, approvals seen. */
  getValue(name: string): Promise<string | undefined>
  putValue(epoch: number, name: string, value: string): Promise<void>
  /** Writes a value durably: for one that must not lag behind effects. */
  keepValue(epoch: number, name: string, value: string): Promise<void>
  /** Names of all values, orders among them, sorted. */
  valueNames(): Promise<readonly string[]>

  /**
   * Records a request. Append-only, durable when it resolves, and without an epoch, so that requests refused because
   * another controller is at work are recorded too. Beyond LIMITS.auditKept, the oldest go.
   */
  appendAudit(entry: NewAuditEntry): Promise<AuditEntry>
  /** Oldest first; with `afterSeq` the oldest after it, else the newest. */
  audit(filter: { readonly afterSeq?: number; readonly limit?: number }): Promise<readonly AuditEntry[]>

  /**
   * A person's requests, under `cluster-orders/…`. Without an epoch: a request ends no writer's epoch; the active
   * controller reads it with `getValue`.
   */
  putRequests(name: RequestsName, value: string): Promise<void>

  /** Closing twice is the same as once. Everything else fails afterwards. */
  close(): Promise<void>
}

/** Returns the same store, with errors made final: a process that cannot record its actions must stop. */
export function watched(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]): unknown => {
        try {
          const done: unknown = Reflect.apply(method, target, args)
          return done instanceof Promise
            ? done.catch((error: unknown) => {
                throw markFinal(error)
              })
            : done
        } catch (error) {
          throw markFinal(error)
        }
      }
    },
  })
}

/** A store that a move closes: only the mover can start an epoch on it until it is reopened. */
export interface ClosableStore extends Store {
  reopen(): Promise<void>
}

/** Returns the pending requests under a name. `none` supplies the missing fields. */
export async function activeRequests<Requests extends object>(
  store: Pick<Store, 'getValue'>,
  name: RequestsName,
  none: Requests,
): Promise<Requests> {
  const text = await store.getValue(name)
  return text === undefined ? none : { ...none, ...(JSON.parse(text) as Partial<Requests>) }
}

import type { CroftEvent, NewEvent } from '../model/event.ts'
import type { Intention } from '../model/intention.ts'
import type { ResourceKey } from '../model/key.ts'
import type { ResourceRecord } from '../model/record.ts'

/** Another controller has begun a newer epoch on this store: whoever sees this must stop at once. */
export class StaleEpoch extends Error {
  constructor(mine: number, current: number) {
    super(`epoch ${mine} is over: another controller began epoch ${current} on this store`)
    this.name = 'StaleEpoch'
  }
}

export interface EventFilter {
  readonly key?: ResourceKey
  readonly afterSeq?: number
  readonly limit?: number
}

/**
 * History, intentions in flight and caches. Never the truth: delete it and it is rebuilt from Git and the marks.
 * Every write names the writer's epoch and fails with StaleEpoch once a newer one has begun.
 */
export interface Store {
  /** Begins a new epoch and returns it. Older writers are refused from now on. */
  beginEpoch(): Promise<number>
  /** True when this store has never finished a complete pass: then nothing in it may be taken as knowledge. */
  isFresh(): Promise<boolean>
  markComplete(epoch: number): Promise<void>

  /** Durable when it resolves: on disk, not in a cache. */
  intend(epoch: number, intention: Intention): Promise<void>
  /** Notes the task that an intention became. Durable. */
  noteTask(epoch: number, id: string, taskId: string): Promise<void>
  /** The intention is over, whatever came of it. */
  settle(epoch: number, id: string): Promise<void>
  intentions(): Promise<readonly Intention[]>

  putRecords(epoch: number, records: readonly ResourceRecord[]): Promise<void>
  dropRecord(epoch: number, key: ResourceKey): Promise<void>
  records(): Promise<readonly ResourceRecord[]>
  record(key: ResourceKey): Promise<ResourceRecord | undefined>

  appendEvents(epoch: number, events: readonly NewEvent[]): Promise<readonly CroftEvent[]>
  events(filter: EventFilter): Promise<readonly CroftEvent[]>

  /** Small named values: last good revision, approvals seen. */
  getValue(name: string): Promise<string | undefined>
  putValue(epoch: number, name: string, value: string): Promise<void>

  close(): Promise<void>
}

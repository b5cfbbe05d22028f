import type { ResourceKey } from '../../model/declaration.ts'
import type { Connection } from '../../model/estate.ts'
import type { PlanEntry } from '../../model/plan.ts'
import type { ResourceRecord, ThingIntention } from '../../model/record.ts'
import type { ObservedResource, RemoteTask, Survey } from '../../model/resource.ts'
import type { Refusal } from '../../model/step.ts'
import type { KnownUnread } from './unread.ts'

/** The facts of one connection in this pass. */
export interface World {
  readonly connection: Connection
  /** Absent: the connection could not be surveyed, which proves nothing about its content. */
  readonly survey?: Survey
  readonly refusal?: Refusal
  /** Guests by external id, with close looks merged. */
  readonly guests: ReadonlyMap<string, ObservedResource>
  /** Guests with a croft mark, by uid. Several for one uid: a guest was copied with its tags. */
  readonly marked: ReadonlyMap<string, readonly ObservedResource[]>
  /** Lists that were read, with their things by external id. A missing list proves nothing. */
  readonly lists: ReadonlyMap<string, ReadonlyMap<string, ObservedResource>>
  /** Ids whose use was checked: taken means that an object exists, visible to us or not. */
  readonly probes: ReadonlyMap<string, 'free' | 'taken'>
  /** Ids of guests that show only the lock of an abandoned creation. */
  readonly deserted?: ReadonlySet<string>
}

/** What a revision has destroyed in all its passes, including objects that are gone by now. */
export interface DestroyedSoFar {
  readonly revision: string
  readonly things: readonly (Pick<PlanEntry, 'key' | 'connection' | 'type'> & {
    /** The source's part of the revision, and the source if it has a grant. */
    readonly revision?: string
    readonly source?: string
    readonly declaredBy?: string
  })[]
}

/** The store's memory for the plan. */
export interface Ledger {
  readonly destroyed?: DestroyedSoFar
  readonly records: ReadonlyMap<ResourceKey, ResourceRecord>
  /** Effects in flight by resource. */
  readonly intentions: ReadonlyMap<ResourceKey, ThingIntention>
  /** Running tasks of those intentions. */
  readonly running: ReadonlyMap<ResourceKey, RemoteTask>
  /** The store is empty: a missing record proves nothing. */
  readonly fresh: boolean
  /** Marks of unread paths that are proven to declare none of the missing keys. */
  readonly unread: KnownUnread
  /** A person asked to retry what stalled. */
  readonly retryStalled: boolean
  /** Keys retried since then: the request means one retry, not one in every pass. */
  readonly tried?: ReadonlySet<ResourceKey>
}

/** Reports whether a person asked for a retry that has not happened yet. */
export function isRetried({ retryStalled, tried }: Ledger, key: ResourceKey): boolean {
  return retryStalled && tried?.has(key) !== true
}

export const EMPTY_LEDGER: Ledger = {
  records: new Map(),
  intentions: new Map(),
  running: new Map(),
  unread: {},
  fresh: true,
  retryStalled: false,
}

/** Indexes a survey. Resources in `close` replace the survey's. */
export function observedWorld(
  connection: Connection,
  survey: Survey,
  close: ReadonlyMap<string, ObservedResource> = new Map(),
  lists: ReadonlyMap<string, readonly ObservedResource[]> = new Map(),
  probes: ReadonlyMap<string, 'free' | 'taken'> = new Map(),
): World {
  const guests = new Map<string, ObservedResource>()
  const marked = new Map<string, ObservedResource[]>()
  for (const seen of survey.resources) {
    const observed = close.get(seen.externalId) ?? seen
    guests.set(observed.externalId, observed)
    if (observed.mark === undefined) continue
    const twins = marked.get(observed.mark.uid)
    if (twins === undefined) marked.set(observed.mark.uid, [observed])
    else twins.push(observed)
  }
  return {
    connection,
    survey,
    guests,
    marked,
    lists: new Map(
      [...lists].map(([name, things]) => [name, new Map(things.map((thing) => [thing.externalId, thing]))]),
    ),
    probes,
  }
}

/** A connection that could not be surveyed. */
export function unseenWorld(connection: Connection, refusal: Refusal): World {
  return {
    connection,
    refusal,
    guests: new Map(),
    marked: new Map(),
    lists: new Map(),
    probes: new Map(),
  }
}

import type { Origin, ResourceKey } from './declaration.ts'
import type { ForeignObject } from './foreign-object.ts'
import type { Grant } from './grant.ts'

/** What was seen of a declaration, as an expression may ask about it. */
export interface KnownObject {
  /** In the words of a status: state, host, addresses. */
  readonly status?: Readonly<Record<string, unknown>>
  /** Where it is an object of a cluster: the whole object. */
  readonly object?: Readonly<Record<string, unknown>>
  /** The source whose thing it is, where that source has a grant: no other such source sees it. */
  readonly source?: string
}

/** What was seen of declarations, by their key. */
export type KnownObjects = ReadonlyMap<ResourceKey, KnownObject>

/** An object of a cluster from which an instance takes values, as its files name it. */
export interface WantedRead {
  readonly object: ForeignObject
  readonly instance: ResourceKey
  readonly origin: Origin
  /** Absent: the source of the instance may do everything. */
  readonly grant?: Grant
}

/** A value that only the world can say, and has not said yet: what it belongs to is neither made nor changed before. */
export interface WaitingFor {
  /** What waits. Absent: its name waits as well. */
  readonly key?: ResourceKey
  /** The instance that it is made for: `K3sNode/agent-1`. */
  readonly instance: ResourceKey
  /** The field that the value goes into. */
  readonly field: string
  readonly expression: string
  /** What the value comes from: keys, or the names that the definition has for it. */
  readonly after: readonly string[]
  /** Why it has no value although that is there. */
  readonly why?: string
}

/** What waits, and for what, in one line. */
export function showWaiting({ field, expression, after, why }: WaitingFor): string {
  const known =
    after.length === 0
      ? 'not known yet'
      : `known after ${after.join(' and ')} ${after.length === 1 ? 'is' : 'are'} ready`
  return `${field === '' ? '' : `${field} = `}\${${expression}} is ${known}${why === undefined ? '' : ` (${why})`}`
}

import type { Origin, ResourceKey } from './declaration.ts'
import type { ForeignObject } from './foreign-object.ts'
import type { Grant } from './grant.ts'

/** The observed facts of a declaration, for expressions. */
export interface KnownObject {
  /** The fields of a status: state, host, addresses. */
  readonly status?: Readonly<Record<string, unknown>>
  /** For an object of a cluster: the whole object. */
  readonly object?: Readonly<Record<string, unknown>>
  /** Its source, if that has a grant: no other source with a grant sees it. */
  readonly source?: string
}

/** Observed facts by the declaration's key. */
export type KnownObjects = ReadonlyMap<ResourceKey, KnownObject>

/** An object of a cluster that provides values for an instance, as its files name it. */
export interface WantedRead {
  readonly object: ForeignObject
  readonly instance: ResourceKey
  readonly origin: Origin
  /** Absent: the instance's source is not limited. */
  readonly grant?: Grant
}

/** A value that only the world can show and has not shown yet: what needs it is neither created nor changed before. */
export interface WaitingFor {
  /** The waiting key. Absent: its name is not known yet either. */
  readonly key?: ResourceKey
  /** Its instance: `K3sNode/agent-1`. */
  readonly instance: ResourceKey
  /** The field for the value. */
  readonly field: string
  readonly expression: string
  /** The value's sources: keys, or their names in the definition. */
  readonly after: readonly string[]
  /** Why it has no value although its sources exist. */
  readonly why?: string
}

/** Returns what waits, and for what, in one line. */
export function showWaiting({ field, expression, after, why }: WaitingFor): string {
  const known =
    after.length === 0
      ? 'not known yet'
      : `known after ${after.join(' and ')} ${after.length === 1 ? 'is' : 'are'} ready`
  return `${field === '' ? '' : `${field} = `}\${${expression}} is ${known}${why === undefined ? '' : ` (${why})`}`
}

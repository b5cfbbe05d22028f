import type { ResourceKey } from './declaration.ts'

/** What was seen of a declaration, as an expression may ask about it. */
export interface KnownObject {
  /** In the words of a status: state, host, addresses. */
  readonly status?: Readonly<Record<string, unknown>>
  /** Where it is an object of a cluster: the whole object. */
  readonly object?: Readonly<Record<string, unknown>>
}

/** What was seen of declarations, by their key. */
export type KnownObjects = ReadonlyMap<ResourceKey, KnownObject>

/** An object of a cluster that somebody else keeps. */
export interface ForeignObject {
  readonly cluster: string
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

/** The name under which such an object is known: no key of a declaration looks like it. */
export function foreignKey({ cluster, apiVersion, kind, name, namespace = '' }: ForeignObject): string {
  return `${cluster} ${apiVersion} ${kind} ${namespace} ${name}`
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
  /** Objects of a cluster that have to be read for it. */
  readonly reads?: readonly ForeignObject[]
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

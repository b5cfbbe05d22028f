import { type Grant, holderOf, listed } from './grant.ts'

/** The name of an object of Kubernetes. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  /** The source for which it is read, if that has a grant. */
  readonly reader?: string
}

/** An object of a cluster that croft does not manage. */
export interface ForeignObject extends ObjectReference {
  readonly cluster: string
}

/**
 * Returns the object's key. It contains spaces, so it equals no key of a declaration. An object that is read for a
 * source with a grant has a separate key, because other sources may not be permitted to see it.
 */
export function foreignKey({ cluster, apiVersion, kind, name, namespace = '', reader }: ForeignObject): string {
  return `${reader === undefined ? '' : ofReader(reader)}${cluster} ${apiVersion} ${kind} ${namespace} ${name}`
}

/** The prefix of all keys that are read for this source. */
export function ofReader(source: string): string {
  return `${source}\n`
}

declare const permitted: unique symbol
/** A permitted reference. `permitRead` alone creates one, so a read that skips the grant does not compile. */
export type PermittedRead<T> = T & { readonly [permitted]: true }

/**
 * Returns a reference as permitted, or why it is not: judged on the values that expressions gave it, never on the
 * template. Without a grant everything may be read except the values of Secrets.
 */
export function permitRead<T extends ObjectReference & Partial<ForeignObject>>(
  wanted: T,
  grant: Grant | undefined,
  isOwnCluster: (cluster: string) => boolean = () => false,
): PermittedRead<T> | { readonly refused: string; readonly hint?: string } {
  const mistake = referenceMistake(wanted)
  if (mistake !== undefined) return { refused: mistake }
  if (grant === undefined) return wanted as PermittedRead<T>
  const { cluster, namespace } = wanted
  const held = { ...wanted, reader: grant.source } as unknown as PermittedRead<T>
  if (cluster === undefined)
    return grant.namespace !== undefined && namespace === grant.namespace
      ? held
      : { refused: `${holderOf(grant)} reads objects of its own namespace alone, not ${shown(wanted)}` }
  // A source that may create objects in a cluster already controls it.
  const isGranted = listed('Addon', grant.kinds) && listed(`cluster/${cluster}`, grant.connections)
  if (isGranted || isOwnCluster(cluster)) return held
  return {
    refused: `${shown(wanted)} of cluster ${cluster} is not granted to ${holderOf(grant)}`,
    hint: `grant it the kind Addon and the connection cluster/${cluster}`,
  }
}

/** Returns why no object can have this name, or why its values are not used. */
export function referenceMistake({ apiVersion, kind, name, namespace }: ObjectReference): string | undefined {
  if (!/^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(apiVersion))
    return `${JSON.stringify(apiVersion)} is no version of an API`
  if (!/^[A-Za-z][A-Za-z0-9]*$/.test(kind)) return `${JSON.stringify(kind)} is no kind`
  if (!/^[^/%\s]{1,253}$/.test(name) || name === '.' || name === '..')
    return `${JSON.stringify(name)} is no name of an object`
  if (namespace !== undefined && !/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace))
    return `${JSON.stringify(namespace)} is no namespace`
  if (apiVersion === 'v1' && kind === 'Secret') return SECRET_VALUES
  return undefined
}

export const SECRET_VALUES = 'the values of a Secret are not read: they would stand in plans and in objects'

function shown({ kind, name, namespace }: ObjectReference): string {
  return `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`
}

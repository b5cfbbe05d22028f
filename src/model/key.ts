import { createHash } from 'node:crypto'

/** `EnvironmentVM/k3s-vm-fun-bedbug`, or with a namespace `EnvironmentVM/prod/web-1`. Unique in an estate. */
export type ResourceKey = string

/** A key from its parts. Cluster-scoped things have no namespace. */
export function resourceKey(kind: string, name: string, namespace?: string): ResourceKey {
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`
}

/**
 * The identity that croft writes into the things it makes. Derived from the estate and the key, never drawn by
 * chance: a lost database, or a second controller, arrives at the same uid and so finds the same things again.
 */
export function resourceUid(estate: string, key: ResourceKey): string {
  return createHash('sha256').update(`${estate}\0${key}`).digest('hex').slice(0, 16)
}

/** `HostConfig/base@cow/file:/etc/motd` is a part of `HostConfig/base`. What is no part is its own. */
export function ownerOf(key: ResourceKey): ResourceKey {
  return key.split('@')[0] ?? key
}

import type { ResourceKey } from '../../model/declaration.ts'

const LEFT = '@at:'

/** Returns the key for a place that its declaration has left: `EnvironmentVM/web@at:lab/101`. */
export function leftKey(key: ResourceKey, connection: string, externalId: string): ResourceKey {
  return `${claimantOf(key)}${LEFT}${connection}/${externalId}`
}

/** Returns the key that formerly claimed a place, or the key itself. */
export function claimantOf(key: ResourceKey): ResourceKey {
  const at = key.indexOf(LEFT)
  return at === -1 ? key : key.slice(0, at)
}

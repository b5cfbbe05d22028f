import { defined } from '../../lib/defined.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { DestroyedSoFar } from './world.ts'

/**
 * Returns the source whose deletions count together with those of a key. Each source has its own limit, which deletions
 * of other sources neither use up nor raise. A source with a grant counts by its own name, which it cannot choose.
 */
export function sourceShares(
  { resources }: Pick<Estate, 'resources'>,
  records: ReadonlyMap<ResourceKey, Pick<ResourceRecord, 'source' | 'declaredBy'>>,
  destroyed: DestroyedSoFar['things'] = [],
): (key: ResourceKey) => string {
  const declared = new Map(
    resources.map(({ key, bounds, declaredBy }) => [key, defined({ source: bounds?.source, declaredBy })]),
  )
  const gone = new Map(destroyed.map((one) => [one.key, one]))
  const all = new Set([...declared.values(), ...records.values()].map(nameOf))
  const [first = ''] = all
  // A thing without a record is known by a commit or its mark, and belongs to the only source, if there is one.
  const unknown = all.size === 1 ? first : ''
  return (key) => {
    const one = declared.get(key) ?? records.get(key) ?? gone.get(key)
    return one === undefined ? unknown : nameOf(one)
  }
}

/** The number of a source's objects on one cluster, and those to delete, by `objectsOf`. */
export type ObjectCounts = ReadonlyMap<string, { readonly all: number; readonly deleting: readonly ResourceKey[] }>

export function objectsOf(source: string, connection: string): string {
  return `${connection}\0${source}`
}

function nameOf({ source, declaredBy }: Pick<ResourceRecord, 'source' | 'declaredBy'>): string {
  return source === undefined ? (declaredBy ?? '') : `with a grant: ${source}`
}

/**
 * Returns the part of an estate's revision that belongs to one source with a grant, or to all the others together: a
 * commit of another source must not reset the count.
 */
export function revisionOf({ revision, quotas = [] }: Pick<Estate, 'revision' | 'quotas'>, source?: string): string {
  const parts = revision.split(',')
  const isOf = (part: string, name: string) => part.startsWith(`${name}@`)
  const own =
    source === undefined
      ? parts.filter((part) => !quotas.some((held) => isOf(part, held.source)))
      : parts.filter((part) => isOf(part, source))
  return own.length === 0 ? revision : own.join(',')
}

/** What the current revisions have destroyed so far. */
export function destroyedBy(
  estate: Pick<Estate, 'revision' | 'quotas'>,
  destroyed: DestroyedSoFar | undefined,
): DestroyedSoFar['things'] {
  return (destroyed?.things ?? []).filter(
    ({ revision = destroyed?.revision, source }) => revision === revisionOf(estate, source),
  )
}

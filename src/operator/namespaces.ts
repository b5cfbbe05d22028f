import { mergeRevisions } from '../controller/sources/merge.ts'
import { ownerOf, type ResourceKey } from '../model/declaration.ts'
import { type Grant, NOTHING_GRANTED } from '../model/grant.ts'
import type { ResourceRecord } from '../model/record.ts'
import { assemble, type FileOutcome } from '../source/assemble.ts'
import type { Revision } from '../source/git/revision.ts'
import type { NamespaceGrants } from './grants.ts'

/** One judged object, with its namespace if that is not the operator's. */
export interface NamespacedOutcome {
  readonly outcome: FileOutcome
  readonly namespace: string | undefined
}

/**
 * Reads the objects of all namespaces: each is a source with its grant, the operator's own one without. Refused
 * objects, and all objects of a namespace without a grant, are left alone: they do not count as removed. Pure.
 */
export function readNamespaces(
  outcomes: readonly NamespacedOutcome[],
  { home, grants }: { readonly home: string; readonly grants: NamespaceGrants },
  { records, incomplete }: { readonly records: readonly ResourceRecord[]; readonly incomplete: boolean },
): Revision {
  const extra = { problems: [], ignored: [], incomplete }
  const grouped = Map.groupBy(outcomes, ({ namespace }) => namespace)
  const read = (namespace: string | undefined) =>
    assemble('', grouped.get(namespace)?.map(({ outcome }) => outcome) ?? [], undefined, extra)
  const own = read(undefined)
  const ungranted = records.map(({ key }) => ownerOf(key)).filter((key) => isWithoutGrant(key, grants))
  // A namespace without a grant cannot own a key of another source.
  const unreadableOf = (key: ResourceKey): Grant | undefined => {
    const namespace = namespaceOf(key)
    return namespace === undefined
      ? undefined
      : (grants.get(namespace) ?? { ...NOTHING_GRANTED, source: namespace, namespace })
  }
  if (grants.size === 0) return { ...own, unreadable: together(own.unreadable, ungranted), unreadableOf }
  const parts = [...grants].map(([namespace, grant]) => ({ source: namespace, grant, revision: read(namespace) }))
  const merged = mergeRevisions([{ source: home, revision: own }, ...parts])
  // There is one estate, which the operator's own namespace declares.
  const estates = own.declarations.filter(({ kind }) => kind === 'Estate')
  const uid = (estates[0]?.spec as { readonly uid?: string } | undefined)?.uid
  const declared = new Set(merged.declarations.map(({ key }) => key))
  const refused = parts.flatMap(({ revision }) =>
    [...revision.declarations.map(({ key }) => key), ...revision.unreadable].filter((key) => !declared.has(key)),
  )
  return {
    ...merged,
    declarations: [...estates, ...merged.declarations],
    unreadable: together(merged.unreadable, [...refused, ...ungranted]),
    unreadableOf,
    sourceOf: () => ({ place: '', ...(uid === undefined ? {} : { uid }) }),
  }
}

function together(some: readonly ResourceKey[], more: readonly ResourceKey[]): readonly ResourceKey[] {
  return [...new Set([...some, ...more])].sort()
}

/** The namespace in a key: `Machine/team-a/web`. Those of the operator's own namespace have none. */
function namespaceOf(key: ResourceKey): string | undefined {
  const [, namespace, name] = ownerOf(key).split('/')
  return name === undefined ? undefined : namespace
}

function isWithoutGrant(key: ResourceKey, grants: NamespaceGrants): boolean {
  const namespace = namespaceOf(key)
  return namespace !== undefined && !grants.has(namespace)
}

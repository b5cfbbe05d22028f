import { isFields } from '../manifest.ts'
import { PatchFailed } from './json-patch.ts'
import type { MergeSchema } from './merge-keys.ts'

type MergedFields = Readonly<Record<string, unknown>>

/** Deleted altogether by `$patch: delete`. */
export const DELETED = Symbol('deleted')

/**
 * How lists are merged: by the schema of the kind, as kustomize does (`undefined`: it has none, lists are replaced), or
 * by name, for croft's own kinds.
 */
export type Merging = { readonly shape: MergeSchema | undefined } | 'by-name'

/** Lays a strategic merge patch over a tree: fields win one by one, null removes, directives are followed. */
export function mergePatch(base: unknown, patch: unknown, merging: Merging): unknown {
  if (patch === null) return DELETED
  if (isFields(patch)) return mergeFields(base, patch, merging)
  if (!Array.isArray(patch)) return patch
  if (merging === 'by-name') return isNamedList(patch) && isNamedList(base) ? mergeNamed(base, patch) : patch
  const { keys, items } = merging.shape ?? {}
  if (keys === undefined) return patch
  return keys.length === 0 ? mergeSet(base, patch) : mergeKeyed(base, patch, keys, items)
}

function mergeFields(base: unknown, patch: MergedFields, merging: Merging): unknown {
  const { $patch: directive, ...fields } = patch
  if (directive === 'delete') return DELETED
  if (directive === 'replace') return fields
  if (directive !== undefined && directive !== 'merge')
    throw new PatchFailed(
      `$patch: ${JSON.stringify(directive).slice(0, 50)} is not known; delete, replace and merge are`,
    )
  const merged: Record<string, unknown> = Object.assign(Object.create(null), isFields(base) ? withoutNulls(base) : {})
  for (const [name, value] of Object.entries(fields)) {
    if (name.startsWith('$setElementOrder/')) continue
    if (name === '$retainKeys' || name.startsWith('$deleteFromPrimitiveList/'))
      throw new PatchFailed(`${name} is not read in a patch; write the list as it shall be`)
    const inner = mergePatch(merged[name], value, within(merging, name))
    if (inner === DELETED) delete merged[name]
    else merged[name] = inner
  }
  return merged
}

/** kustomize visits the whole object when it merges, which drops fields with null. */
function withoutNulls(fields: MergedFields): MergedFields {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, isFields(value) ? withoutNulls(value) : value]),
  )
}

function within(merging: Merging, name: string): Merging {
  if (merging === 'by-name') return merging
  const fields = merging.shape?.fields
  return { shape: fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined }
}

function mergeSet(base: unknown, patch: readonly unknown[]): readonly unknown[] {
  return [...new Set([...patch, ...(Array.isArray(base) ? base : [])])]
}

/**
 * Merges lists by key. Entries of the patch come first, in its order, then the rest. If a second key (a protocol) is
 * given on one side only, kustomize treats the two as one item and keeps the complete side.
 */
function mergeKeyed(
  base: unknown,
  patch: readonly unknown[],
  keys: readonly string[],
  items: MergeSchema | undefined,
): readonly unknown[] {
  const replaced = patch.some((item) => isFields(item) && item.$patch === 'replace' && Object.keys(item).length === 1)
  if (replaced) return patch.filter((item) => !(isFields(item) && item.$patch === 'replace'))
  const old = Array.isArray(base) ? (base as readonly unknown[]) : []
  const merged: { readonly item: unknown; readonly at: number }[] = []
  for (const values of identities([...patch, ...old], keys)) {
    const is = (item: unknown) =>
      isFields(item) && keys.every((key, at) => values[at] === '' || word(item[key]) === values[at])
    const over = patch.find(is)
    const before = old.find(is)
    const result = over === undefined ? before : mergePatch(before, over, { shape: items })
    if (result !== DELETED && result !== undefined)
      merged.push({ item: result, at: before === undefined ? -1 : old.indexOf(before) })
  }
  // With a second key in use, old items stay behind new ones.
  const several =
    keys.filter((key) => [...patch, ...old].some((item) => isFields(item) && word(item[key]) !== '')).length > 1
  const ordered = several ? merged.toSorted((a, b) => a.at - b.at) : merged
  return ordered.map(({ item }) => item)
}

function identities(list: readonly unknown[], keys: readonly string[]): readonly (readonly string[])[] {
  const found: (readonly string[])[] = []
  for (const item of list) {
    const values = keys.map((key) => (isFields(item) ? word(item[key]) : ''))
    const at = found.findIndex(
      (one) => one.some((value, i) => value !== '' && value === values[i]) && agree(one, values),
    )
    if (at < 0) found.push(values)
    else found[at] = (found[at] ?? []).map((value, i) => (value === '' ? (values[i] ?? '') : value))
  }
  return found
}

function agree(a: readonly string[], b: readonly string[]): boolean {
  return a.every((value, i) => value === b[i] || value === '' || b[i] === '')
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function mergeNamed(base: readonly MergedFields[], patch: readonly MergedFields[]): readonly MergedFields[] {
  const rest = new Map(patch.map((item) => [item.name, item]))
  const merged = base.flatMap((item) => {
    const over = rest.get(item.name)
    rest.delete(item.name)
    if (over === undefined) return [item]
    const inner = mergePatch(item, over, 'by-name')
    return inner === DELETED ? [] : [inner as MergedFields]
  })
  return [...merged, ...[...rest.values()].filter((item) => item.$patch !== 'delete')]
}

function isNamedList(value: unknown): value is readonly MergedFields[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => isFields(item) && typeof item.name === 'string')
  )
}

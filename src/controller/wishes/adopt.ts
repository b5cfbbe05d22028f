import { isDeepStrictEqual } from 'node:util'
import type { Change, Resource } from '../../model/resource.ts'
import { type Leaf, leavesOf, withLeaf } from '../../source/yaml/edit-yaml.ts'

/** A text with the observed values, and the fields that could not be changed. */
export type Adopted =
  | { readonly text: string; readonly fields: readonly string[] }
  | { readonly cannot: readonly string[] }

/**
 * Changes a manifest's text so that it declares the observed values, one scalar per change. Tries each candidate scalar
 * and takes only one that changes exactly this value of the desired state to the observed one, so it needs no map of
 * fields. `read` returns a text's desired state, or undefined if it is invalid.
 */
export function adoptChanges(
  text: string,
  changes: readonly Change[],
  read: (text: string) => Resource['desired'] | undefined,
): Adopted {
  let current = text
  const fields: string[] = []
  const cannot: string[] = []
  for (const change of changes) {
    const next = change.secret === true ? undefined : adoptOne(current, change, read)
    if (next === undefined) cannot.push(change.path)
    else {
      current = next
      fields.push(change.path)
    }
  }
  return cannot.length > 0 ? { cannot } : { text: current, fields }
}

function adoptOne(
  text: string,
  change: Change,
  read: (text: string) => Resource['desired'] | undefined,
): string | undefined {
  const before = read(text)
  if (before === undefined) return undefined
  for (const leaf of leavesOf(text)) {
    for (const value of candidates(leaf, change)) {
      const edited = withLeaf(text, leaf, value)
      const desired = read(edited)
      if (desired !== undefined && isExactly(differences(before, desired), change)) return edited
    }
  }
  return undefined
}

/** Returns the values that this scalar would need. */
function candidates({ value }: Leaf, { from, to }: Change): readonly (string | number | boolean)[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof from !== 'string' && typeof from !== 'number' && typeof from !== 'boolean') return []
  if (value === to || String(value) === String(to))
    return [typeof value === 'number' && /^-?\d+$/.test(String(from)) ? Number(from) : from]
  // 4Gi for 4096: keeps the unit if possible.
  const sized = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*(Ki|Mi|Gi|Ti|K|M|G|T)B?$/.exec(value) : null
  if (sized === null || typeof from !== 'number') return []
  return [`${from}Mi`, `${from / 1024}Gi`, `${from}Gi`, `${from}M`, `${from}G`]
}

/** Exactly one leaf differs: it was what is declared and becomes what was seen. */
function isExactly(found: readonly FieldDifference[], { path, from, to }: Change): boolean {
  const [only] = found
  if (only === undefined || found.length !== 1) return false
  const name = path.split('.').at(-1)
  return only.name === name && same(only.after, from) && same(only.before, to)
}

function same(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b) || String(a) === String(b)
}

interface FieldDifference {
  readonly name: string
  readonly before: unknown
  readonly after: unknown
}

function differences(a: unknown, b: unknown, name = ''): readonly FieldDifference[] {
  if (isDeepStrictEqual(a, b)) return []
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return [{ name, before: a, after: b }]
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])]
  return names.flatMap((one) =>
    differences((a as Readonly<Record<string, unknown>>)[one], (b as Readonly<Record<string, unknown>>)[one], one),
  )
}

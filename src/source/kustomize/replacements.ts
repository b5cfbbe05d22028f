import { LIMITS } from '../../lib/limits.ts'
import type { Budget } from '../budget.ts'
import { isFields } from '../manifest.ts'
import { groupVersionOf } from './field-paths.ts'
import { PatchFailed } from './json-patch.ts'
import { changed, identitiesOf, isSelected, type KustomizeItem, type ObjectFields, wordOf } from './objects.ts'
import type { PatchTarget, Replacement } from './schema.ts'

type ReplacementOptions = Replacement['targets'] extends (infer T)[] | undefined
  ? T extends { options?: infer O }
    ? O
    : never
  : never

/** Copies a value of one object, or a given one, to fields of others. */
export function replace(
  items: readonly KustomizeItem[],
  replacement: Replacement,
  budget: Budget,
): readonly KustomizeItem[] {
  const { source, sourceValue, targets } = replacement
  if (targets === undefined || (source === undefined) === (sourceValue === undefined))
    throw new PatchFailed('a replacement has targets and either source or sourceValue')
  const value = sourceValue ?? sourceValueOf(items, source ?? {})
  return targets.reduce<readonly KustomizeItem[]>((all, { select, reject, fieldPaths, options }) => {
    const paths =
      fieldPaths === null || fieldPaths === undefined || fieldPaths.length === 0 ? ['metadata.name'] : fieldPaths
    return all.map((item) => {
      budget.match()
      if (!isMeant(item, select) || (reject ?? []).some((one) => isMeant(item, one))) return item
      const object = paths.reduce<unknown>((tree, path) => {
        let hits = 0
        const put = (before: unknown) => {
          hits++
          budget.nodes(value)
          return placed(before, value, options)
        }
        const after = editPath(tree, splitPath(path), put, options?.create === true)
        if (hits === 0)
          throw new PatchFailed(
            `a replacement finds no field ${path} in ${wordOf(item.object.kind)}/${identitiesOf(item).at(-1)?.name ?? ''}`,
          )
        return after
      }, item.object)
      return changed(item, object as ObjectFields)
    })
  }, items)
}

/** A selector of replacements means exact names, of any time; of patches, patterns. Labels are the same. */
function isMeant(item: KustomizeItem, target: PatchTarget): boolean {
  const { name, namespace, ...rest } = target
  if (!isSelected(item, rest)) return false
  return identitiesOf(item).some(
    (one) =>
      (name ?? one.name) === one.name && (namespace ?? (one.namespace || 'default')) === (one.namespace || 'default'),
  )
}

function sourceValueOf(items: readonly KustomizeItem[], source: NonNullable<Replacement['source']>): unknown {
  const { group, version, kind, name, namespace, fieldPath = 'metadata.name', options } = source
  const found = items.filter((item) => {
    const own = groupVersionOf(item.object.apiVersion)
    return (
      (group ?? own.group) === own.group &&
      (version ?? own.version) === own.version &&
      (kind ?? item.object.kind) === item.object.kind &&
      identitiesOf(item).some(
        (one) =>
          (name ?? one.name) === one.name &&
          (namespace ?? (one.namespace || 'default')) === (one.namespace || 'default'),
      )
    )
  })
  const called = `${kind ?? 'an object'} ${name ?? ''}`.trim()
  const [only] = found
  if (only === undefined || found.length > 1)
    throw new PatchFailed(`the source of a replacement, ${called}, is there ${found.length} times`)
  const value = splitPath(fieldPath).reduce<unknown>(stepInto, only.object)
  if (value === undefined || value === null)
    throw new PatchFailed(`the source of a replacement, ${called}, has no ${fieldPath}`)
  const { delimiter, index = 0 } = options ?? {}
  if (delimiter === undefined || delimiter === '') return value
  const part = plain(value).split(delimiter)[index]
  if (part === undefined) throw new PatchFailed(`${fieldPath} of ${called} has no part ${index}`)
  return part
}

function placed(before: unknown, value: unknown, options: ReplacementOptions | null | undefined): unknown {
  const { delimiter, index = 0 } = options ?? {}
  if (delimiter !== undefined && delimiter !== '') {
    const parts = before === undefined ? [''] : plain(before).split(delimiter)
    if (index < 0) parts.unshift(plain(value))
    else if (index >= parts.length) parts.push(plain(value))
    else parts[index] = plain(value)
    const text = parts.join(delimiter)
    if (text.length > LIMITS.builtTextLength)
      throw new PatchFailed(`a replacement makes a text of more than ${LIMITS.builtTextLength} characters`)
    return text
  }
  // The target keeps its type: a number stays a number, a text a text.
  if (typeof before === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof before === 'number' && typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)) return Number(value)
  return value
}

function plain(value: unknown): string {
  if (isFields(value) || Array.isArray(value)) throw new PatchFailed('a delimiter can only be used with plain values')
  return String(value)
}

/** `spec.template.spec.containers.[name=web].env.0.value`, `a\.b` and `[a.b/c]` for names with dots. */
export function splitPath(path: string): readonly string[] {
  return (path.match(/(?:\\.|\[[^\]]*\]|[^.\\[])+/g) ?? []).map((part) => {
    const name = part.replaceAll('\\.', '.')
    return /^\[[^=\]]*\]$/.test(name) ? name.slice(1, -1) : name
  })
}

export function stepInto(tree: unknown, name: string): unknown {
  if (Array.isArray(tree)) {
    const index = tree.findIndex((one, at) => isElement(one, at, name, tree.length))
    return index < 0 ? undefined : (tree[index] as unknown)
  }
  return isFields(tree) && Object.hasOwn(tree, name) ? tree[name] : undefined
}

function isElement(one: unknown, at: number, name: string, length: number): boolean {
  const [, key, value] = /^\[([^=]+)=(.*)\]$/.exec(name) ?? []
  if (key !== undefined) return isFields(one) && String(one[key]) === value
  return name === '*' || name === String(at) || (name === '-' && at === length - 1)
}

function editPath(
  tree: unknown,
  names: readonly string[],
  put: (before: unknown) => unknown,
  create: boolean,
): unknown {
  const [name, ...rest] = names
  if (name === undefined) return put(tree)
  if (Array.isArray(tree))
    return tree.map((one: unknown, at) =>
      isElement(one, at, name, tree.length) ? editPath(one, rest, put, create) : one,
    )
  if (name === '*' && isFields(tree))
    return Object.fromEntries(Object.entries(tree).map(([key, one]) => [key, editPath(one, rest, put, create)]))
  const base = tree === undefined || tree === null ? (create ? {} : undefined) : tree
  if (!isFields(base)) return tree
  if (!Object.hasOwn(base, name) && !create) return tree
  return { ...base, [name]: editPath(base[name], rest, put, create) }
}

import { isRecord } from '../../src/lib/is-record.ts'
import type { ManagedFields, Tree } from './object.ts'
import { MERGE_KEYS } from './patch.ts'

const JOINT = '\u0000'
const SETS = new Set(['finalizers'])
/** Maps of built-in kinds that the server keeps as one: a selector is owned whole, or not at all. */
const WHOLE = new Set(
  (
    'selector podSelector namespaceSelector labelSelector nodeSelector secretKeyRef configMapKeyRef fieldRef ' +
    'resourceFieldRef'
  ).split(' '),
)
/** Fields that every object has and no manager owns. */
const NOBODYS = new Set(['apiVersion', 'kind'])
const NOBODYS_META = new Set(
  (
    'name namespace uid resourceVersion generation creationTimestamp managedFields deletionTimestamp ' +
    'deletionGracePeriodSeconds generateName'
  ).split(' '),
)

export function keyOfEntry(field: string, entry: unknown): string | undefined {
  const key = MERGE_KEYS[field]?.split('|').find((one) => isRecord(entry) && one in entry)
  if (key === undefined || !isRecord(entry)) return undefined
  if (field !== 'ports') return `k:${JSON.stringify({ [key]: entry[key] })}`
  return `k:${JSON.stringify({ [key]: entry[key], protocol: entry.protocol ?? 'TCP' })}`
}

function isBuiltIn({ apiVersion }: Tree): boolean {
  const [group = ''] = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/') : []
  return !group.includes('.') || group.endsWith('.k8s.io')
}

/** Returns every field of an object that a manager can own, with its value. */
export function leaves(object: Tree, wanted: (top: string) => boolean = () => true): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const builtIn = isBuiltIn(object)
  const walk = (value: unknown, path: readonly string[], field: string) => {
    const whole = builtIn && WHOLE.has(field) && path.length > 1
    if (isRecord(value) && Object.keys(value).length > 0 && !whole) {
      for (const [key, one] of Object.entries(value)) {
        if (path.length === 0 && (NOBODYS.has(key) || !wanted(key))) continue
        if (path.length === 1 && path[0] === 'f:metadata' && NOBODYS_META.has(key)) continue
        walk(one, [...path, `f:${key}`], key)
      }
      return
    }
    if (Array.isArray(value) && value.length > 0) {
      const steps = value.map((entry) => (SETS.has(field) ? `v:${JSON.stringify(entry)}` : keyOfEntry(field, entry)))
      if (steps.every((step) => step !== undefined)) {
        for (const [index, entry] of value.entries()) walk(entry, [...path, steps[index] ?? ''], '')
        return
      }
    }
    found.set(path.join(JOINT), value)
  }
  walk(object, [], '')
  return found
}

export function toFieldsV1(paths: Iterable<string>): Tree {
  const root: Record<string, unknown> = {}
  for (const path of paths) {
    let at = root
    for (const step of path.split(JOINT)) {
      if (step.startsWith('k:') && at['.'] === undefined && !(step in at)) at[step] = { '.': {} }
      at[step] ??= {}
      at = at[step] as Record<string, unknown>
    }
  }
  return root
}

export function fromFieldsV1(fields: Tree): Set<string> {
  const found = new Set<string>()
  const walk = (value: unknown, path: readonly string[]) => {
    const entries = Object.entries(isRecord(value) ? value : {}).filter(([key]) => key !== '.')
    if (entries.length === 0 && path.length > 0) found.add(path.join(JOINT))
    for (const [key, one] of entries) walk(one, [...path, key])
  }
  walk(fields, [])
  return found
}

/** `.spec.template.spec.containers[name="c"].image` */
export function readable(path: string): string {
  return path
    .split(JOINT)
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`
      if (step.startsWith('v:')) return `[=${step.slice(2)}]`
      const entries = Object.entries(JSON.parse(step.slice(2)) as Record<string, unknown>)
      return `[${entries.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`
    })
    .join('')
}

export interface Writer {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time: string
  readonly subresource?: string
}

export function isSame(entry: ManagedFields, writer: Writer): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === writer.operation &&
    (entry.subresource ?? '') === (writer.subresource ?? '')
  )
}

/** Makes the writer of an update the owner of the fields it changed, and drops owners of removed fields. */
export function noteUpdate(
  before: Tree | undefined,
  after: Tree,
  entries: readonly ManagedFields[],
  writer: Writer,
): readonly ManagedFields[] {
  const top = (key: string) => (writer.subresource === 'status' ? key === 'status' : key !== 'status')
  const old = before === undefined ? new Map<string, unknown>() : leaves(before)
  const now = leaves(after)
  const changed = new Set<string>()
  for (const [path, value] of leaves(after, top))
    if (!old.has(path) || JSON.stringify(old.get(path)) !== JSON.stringify(value)) changed.add(path)
  const mine = entries.find((entry) => isSame(entry, writer))
  const kept = entries
    .filter((entry) => entry !== mine)
    .flatMap((entry) => {
      const owned = [...fromFieldsV1(entry.fieldsV1)].filter((path) => now.has(path) && !changed.has(path))
      return owned.length === 0 ? [] : [{ ...entry, fieldsV1: toFieldsV1(owned) }]
    })
  const had = mine === undefined ? [] : [...fromFieldsV1(mine.fieldsV1)].filter((path) => now.has(path))
  const owned = new Set([...had, ...changed])
  if (owned.size === 0) return kept
  if (changed.size === 0 && mine !== undefined) return [...kept, { ...mine, fieldsV1: toFieldsV1(owned) }]
  return [...kept, entryOf(writer, owned)]
}

export function entryOf(writer: Writer, owned: Iterable<string>): ManagedFields {
  const { manager, operation, apiVersion, time, subresource } = writer
  return {
    manager,
    operation,
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: toFieldsV1(owned),
    ...(subresource === undefined ? {} : { subresource }),
  }
}

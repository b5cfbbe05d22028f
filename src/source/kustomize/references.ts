import { isFields } from '../manifest.ts'
import { editAt, type FieldSpec, namesOf, speaksOf } from './field-paths.ts'
import type { ReferenceTable } from './field-tables.ts'
import { PatchFailed } from './json-patch.ts'
import {
  effectiveNamespace,
  identitiesOf,
  identityOf,
  isClusterScoped,
  type KustomizeItem,
  nameOf,
  type ObjectFields,
} from './objects.ts'

/** Updates references to renamed objects. */
export function followNames(
  items: readonly KustomizeItem[],
  references: readonly ReferenceTable[],
): readonly KustomizeItem[] {
  const moved = items.filter(({ previous }) => previous.length > 0)
  if (moved.length === 0) return items
  const tables = references
    .map((table) => ({ table, byName: byOldName(moved, table) }))
    .filter(({ byName }) => byName.size > 0)
  return items.map((item) => {
    const object = tables.reduce<ObjectFields>(
      (all, { table, byName }) =>
        table.fields
          .filter((spec) => speaksOf(spec, item.object))
          .reduce<ObjectFields>((one, spec) => followField(one, item, spec, byName), all),
      item.object,
    )
    return object === item.object ? item : { ...item, object }
  })
}

function byOldName(
  moved: readonly KustomizeItem[],
  table: ReferenceTable,
): ReadonlyMap<string, readonly KustomizeItem[]> {
  const found = new Map<string, KustomizeItem[]>()
  for (const item of moved) {
    if (!speaksOf(table, item.object)) continue
    for (const name of new Set(item.previous.map((one) => one.name))) {
      const same = found.get(name)
      if (same === undefined) found.set(name, [item])
      else same.push(item)
    }
  }
  return found
}

function followField(
  object: ObjectFields,
  referrer: KustomizeItem,
  spec: FieldSpec,
  byName: ReadonlyMap<string, readonly KustomizeItem[]>,
): ObjectFields {
  return editAt(object, namesOf(spec.path), (value) => {
    if (typeof value === 'string') {
      const found = referred(value, referrer, spec, byName.get(value) ?? [])
      return found === undefined ? value : identityOf(found.object).name
    }
    if (!isFields(value) || typeof value.name !== 'string') return value
    const { namespace } = value
    const called = byName.get(value.name) ?? []
    const near = typeof namespace === 'string' ? inNamespace(called, namespace) : called
    const found = referred(value.name, referrer, spec, near)
    if (found === undefined) return value
    const now = identityOf(found.object)
    return { ...value, name: now.name, ...(now.namespace === '' ? {} : { namespace: now.namespace }) }
  }) as ObjectFields
}

/** Returns the candidates that were first in this namespace; otherwise those that are in it now. */
function inNamespace(candidates: readonly KustomizeItem[], namespace: string): readonly KustomizeItem[] {
  const at = (item: KustomizeItem, which: 0 | -1) =>
    effectiveNamespace(item.object, identitiesOf(item).at(which)?.namespace ?? '')
  const first = candidates.filter((item) => at(item, 0) === namespace)
  return first.length > 0 ? first : candidates.filter((item) => at(item, -1) === namespace)
}

function referred(
  name: string,
  referrer: KustomizeItem,
  spec: FieldSpec,
  candidates: readonly KustomizeItem[],
): KustomizeItem | undefined {
  const { roleRef } = referrer.object
  const here = effectiveNamespace(referrer.object, identityOf(referrer.object).namespace)
  const fits = candidates.filter(
    (item) =>
      (!spec.path.endsWith('roleRef/name') || !isFields(roleRef) || roleRef.kind === item.object.kind) &&
      (isClusterScoped(referrer.object) ||
        isClusterScoped(item.object) ||
        item.object.kind === 'ServiceAccount' ||
        effectiveNamespace(item.object, identityOf(item.object).namespace) === here),
  )
  if (fits.length <= 1) return fits[0]
  const near = fits.filter((item) => sameLayer(item, referrer, true))
  const nearest = near.length > 1 ? near.filter((item) => sameLayer(item, referrer, false)) : near
  const names = new Set(nearest.map(({ object }) => JSON.stringify(identityOf(object))))
  if (names.size > 1)
    throw new PatchFailed(`${nameOf(referrer.object)} calls ${name}, and more than one object was called so`)
  return nearest[0]
}

/** Two objects of one layer of overlays have the same last prefixes and suffixes. */
function sameLayer(a: KustomizeItem, b: KustomizeItem, emptyFits: boolean): boolean {
  const same = (one: readonly string[], other: readonly string[]) => {
    const length = Math.min(one.length, other.length)
    if (length === 0) return emptyFits || one.length === other.length
    return one.slice(-length).join('\n') === other.slice(-length).join('\n')
  }
  return same(a.prefixes, b.prefixes) && same(a.suffixes, b.suffixes)
}

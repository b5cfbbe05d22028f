import type { Budget } from '../budget.ts'
import { isFields, readAsKustomize, readDocuments } from '../manifest.ts'
import { jsonPatch, PatchFailed } from './json-patch.ts'
import { shapeOf } from './merge-keys.ts'
import { DELETED, mergePatch } from './merge-patch.ts'
import { changed, isCalled, isSelected, type KustomizeItem, nameOf, type ObjectFields, wordOf } from './objects.ts'
import type { PatchEntry, PatchTarget } from './schema.ts'

/**
 * An entry that is text, as patchesStrategicMerge has them: what is wrong and what to write, for the path of a field in a
 * kustomization.
 */
export function plainPatch(
  place: readonly PropertyKey[],
  kustomization: unknown,
): readonly [string, string] | undefined {
  const [field, index] = place
  if (place.length !== 2 || (field !== 'patches' && field !== 'patchesJson6902') || !isFields(kustomization))
    return undefined
  const entry: unknown = Object(kustomization[field])[Number(index)]
  if (typeof entry !== 'string') return undefined
  const isPath = /^[\w./-]{1,200}$/.test(entry)
  return [
    `${field}.${Number(index)} is plain text; a patch is a block with path: (a file) or patch: (the patch itself)`,
    isPath ? `write "- path: ${entry}"` : 'write "- patch: |-" and the patch indented below it',
  ]
}

/** Lays a patch, of whichever form, onto every item that it is for. */
export function patch(
  items: readonly KustomizeItem[],
  entry: PatchEntry,
  text: string,
  budget: Budget,
): readonly KustomizeItem[] {
  const patches = readAsKustomize(text).flatMap((read) =>
    // Lists of operations are read by kubectl's reader, patches by kustomize's own.
    Array.isArray(read.value) ? readDocuments(read.document.text, 'kubectl') : [read],
  )
  const broken = patches.flatMap((one) => one.findings)[0]
  if (broken !== undefined) throw new PatchFailed(`a patch cannot be read: ${broken.message}`)
  const { target } = entry
  if (target !== undefined && patches.length > 1 && patches.every(({ value }) => !Array.isArray(value)))
    throw new PatchFailed('a patch with a target is one document: write an entry for each')
  if (target !== undefined && missesElsewhere(items, target)) {
    const { kind = 'object', name, namespace } = target
    const called = [namespace, name].filter((one) => one !== undefined).join('/')
    throw new PatchFailed(
      `a patch is for a ${kind} called ${called}, and none is; if a base of another repository renames it, write the new name`,
    )
  }
  return patches.reduce<readonly KustomizeItem[]>((all, { value }) => layOne(all, entry, value, budget), items)
}

/**
 * Reports whether a target may miss an object of a remote base. A target matches all earlier names, which are unknown
 * for those: an unpatched object must be reported.
 */
function missesElsewhere(items: readonly KustomizeItem[], target: PatchTarget): boolean {
  if (target.name === undefined && target.namespace === undefined) return false
  return items.some(({ elsewhere }) => elsewhere === true) && !items.some((item) => isSelected(item, target))
}

function layOne(
  items: readonly KustomizeItem[],
  entry: PatchEntry,
  value: unknown,
  budget: Budget,
): readonly KustomizeItem[] {
  const { target, options } = entry
  if (Array.isArray(value)) {
    if (target === undefined) throw new PatchFailed('a JSON patch needs a target')
    return items.map((item) => {
      budget.match()
      if (!isSelected(item, target)) return item
      budget.nodes(value)
      return changed(item, jsonPatch(item.object, value, budget) as ObjectFields)
    })
  }
  if (!isFields(value)) throw new PatchFailed('a patch is neither a manifest nor a list of operations')
  const meant = new Set(
    items.filter((item) => {
      budget.match()
      return target === undefined ? isCalled(item, value) : isSelected(item, target)
    }),
  )
  if (target === undefined && meant.size !== 1) {
    const why = meant.size === 0 ? 'is not there' : `is there ${meant.size} times`
    throw new PatchFailed(`a patch is for ${nameOf(value)} (${wordOf(value.apiVersion)}), which ${why}`)
  }
  const over = withoutIdentity(value, options ?? {})
  return items.flatMap((item) => {
    if (!meant.has(item)) return [item]
    budget.nodes(over)
    const own = wordOf(item.object.apiVersion).startsWith('croft.dev/')
    const laid = mergePatch(item.object, over, own ? 'by-name' : { shape: shapeOf(item.object) })
    return laid === DELETED ? [] : [changed(item, laid as ObjectFields)]
  })
}

/** Removes the name and kind of a patch, which only select its target, unless the options allow a change. */
function withoutIdentity(
  value: ObjectFields,
  options: { readonly allowNameChange?: boolean | undefined; readonly allowKindChange?: boolean | undefined },
): ObjectFields {
  const { apiVersion, kind, metadata, ...rest } = value
  const typed = options.allowKindChange === true ? { apiVersion, kind } : {}
  if (!isFields(metadata)) return { ...rest, ...typed }
  const { name, namespace: _, ...others } = metadata
  const named = options.allowNameChange === true ? { name, ...others } : others
  return { ...rest, ...typed, ...(Object.keys(named).length === 0 ? {} : { metadata: named }) }
}

import { type Foreign, isRecord } from '../../kubernetes/objects.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { KubeObject } from '../../model/kube-object.ts'
import type { Change } from '../../model/resource.ts'
import { createLists, type Lists, placesAbove, placesOf } from './field-sets.ts'
import {
  allFields,
  carriesValues,
  type FieldTree,
  leavesOf,
  MANAGER,
  ownedBy,
  shownPath,
  spreadValues,
} from './fields.ts'
import { isMarkField } from './marks.ts'
import { previewChanges } from './preview.ts'

/**
 * Returns the differences between a declared and a live object, by field. Compares declared fields, and fields that
 * croft owned and that are no longer declared. `applied`: this text was applied before, so a field that croft still
 * owns has the server's form (`1000m` became `1`), and only a field with another owner has drifted.
 */
export function fieldChanges(
  declared: KubeObject,
  live: Foreign,
  applied: boolean,
  ours: FieldTree | undefined = ownedBy(live, MANAGER),
): readonly Change[] {
  const schema = allFields(live)
  const mine = leavesOf(ours)
  const holdMine = placesOf(mine)
  const lists = createLists()
  const changes: Change[] = []
  const wanted = new Set<string>()
  const empty = new Set<string>()

  const leaf = (path: string, from: unknown, to: unknown) => {
    wanted.add(path)
    if (changes.length >= LIMITS.objectChanges || same(from, to) || (applied && isOurs(path, mine, holdMine))) return
    const values = path === VALUES && carriesValues(declared.kind) ? valueChanges(declared, live) : []
    if (values.length > 0) {
      changes.push(...values)
      return
    }
    if (declared.kind === 'Secret' && HIDDEN.test(path)) {
      changes.push({ path: shownPath(path), from: '***', to: '***', effect: 'live', secret: true })
      return
    }
    const effect = effectOf(declared.kind, path)
    const entries = entryChanges(from, to).map((one) => ({ ...one, path: `${shownPath(path)}${one.path}`, effect }))
    changes.push(...(entries.length > 0 ? entries : [{ path: shownPath(path), from, to, effect }]))
  }

  // A map that the server treats as one (a selector) has no fields below it: it is one leaf.
  const walk = (to: unknown, from: unknown, tree: FieldTree, path: string, kept = false): void => {
    if (to === null || to === undefined) return
    if (isRecord(to)) {
      const names = Object.keys(to)
      if (names.length === 0) {
        empty.add(path)
        if (from === undefined || isRecord(from)) return
      } else if (!(kept && Object.keys(tree).length === 0) && names.every((name) => isShort(path, name))) {
        for (const name of names) {
          if (path === '' && (name === 'apiVersion' || name === 'kind' || name === 'status')) continue
          if (path === 'f:metadata' && (name === 'name' || name === 'namespace')) continue
          const step = `f:${name}`
          walk(to[name], isRecord(from) ? from[name] : undefined, below(tree, step), under(path, step), step in tree)
        }
        return
      }
    }
    if (Array.isArray(to)) {
      const keys = Object.keys(tree).filter((step) => step.startsWith('k:'))
      const there: readonly unknown[] = Array.isArray(from) ? from : []
      // The owner keeps the list as a whole: compare it so, or a removed entry would be missed.
      const whole = kept && Object.keys(tree).length === 0
      if (keys.length > 0 || (!whole && to.length > 0 && to.every(isNamed) && there.every(isNamed))) {
        const steps = to.map((entry) => lists.stepOf(entry, keys) ?? nameStep(entry))
        if (steps.some((step) => step === undefined || !isShort(path, step))) leaf(path, from, to)
        for (const [index, step] of steps.entries())
          if (step !== undefined && isShort(path, step))
            walk(to[index], lists.entry(there, step), below(tree, step), under(path, step))
        return
      }
      if (Object.keys(tree).some((step) => step.startsWith('v:'))) {
        const steps = to.map((entry) => `v:${JSON.stringify(entry)}`)
        if (!steps.every((step) => isShort(path, step))) leaf(path, from, to)
        for (const [index, step] of steps.entries())
          if (isShort(path, step)) leaf(under(path, step), lists.entry(there, step), to[index])
        return
      }
    }
    leaf(path, from, to)
  }

  walk(declared, live, schema, '')
  if (!applied) changes.push(...given(mine, { wanted, empty }, live, declared.kind, lists))
  // Another text was applied before, and nothing visible differs: a value changed, or a key of one.
  if (!applied && changes.length === 0 && declared.kind === 'Secret' && declared.data !== undefined)
    return [{ path: 'data', from: '***', to: '***', effect: 'live', secret: true }]
  return changes
}

/** Reports whether a path is short enough: a name may be as long as a document. */
function isShort(path: string, step: string): boolean {
  return path.length + step.length < LIMITS.fieldPathLength
}

function under(path: string, step: string): string {
  return path === '' ? step : `${path}\n${step}`
}

/** Values of a Secret: never read, so only their field manager shows whether they are the declared ones. */
const HIDDEN = /^f:(?:data|stringData)(?:\n|$)/

const VALUES = 'f:spec\nf:valuesContent'

/** Returns the changed values of a chart; none if unknown, and then the whole text is shown. */
function valueChanges(declared: KubeObject, live: Foreign): readonly Change[] {
  const [from, to] = [live, declared as Foreign].map((one) => spreadValues(one).spec)
  if (!isRecord(from) || !isRecord(to) || !isRecord(from.valuesContent) || !isRecord(to.valuesContent)) return []
  const only = (valuesContent: unknown) => ({ spec: { valuesContent } })
  return previewChanges(only(from.valuesContent), only(to.valuesContent))
}

/** Returns the changed entries of a named list for display; none if that shows nothing. */
function entryChanges(from: unknown, to: unknown): readonly Change[] {
  if (!Array.isArray(from) || !Array.isArray(to) || ![...from, ...to].every(isNamed)) return []
  const inner = previewChanges({ l: from }, { l: to }).map((one) => ({ ...one, path: one.path.slice(1) }))
  // Omitting a server's default does not remove it.
  return inner.filter((one) => one.to !== undefined || one.path.endsWith('].name'))
}

/** Fields that croft owned and that are no longer declared: applying removes them. */
function given(
  mine: ReadonlySet<string>,
  { wanted, empty }: { readonly wanted: ReadonlySet<string>; readonly empty: ReadonlySet<string> },
  live: Foreign,
  kind: string,
  lists: Lists,
): readonly Change[] {
  let holdWanted: ReadonlySet<string> | undefined
  const changes: Change[] = []
  for (const path of mine) {
    if (changes.length >= LIMITS.objectChanges) break
    if (wanted.has(path) || empty.has(path) || isMarkField(path) || isBelow(path, wanted)) continue
    const from = valueAt(live, path, lists)
    // The field's subject may be gone already; a list's key goes with its entry.
    if (from === undefined) continue
    if (path.includes('\nk:')) {
      holdWanted ??= placesOf(wanted)
      if (isKeyOfWanted(path, holdWanted)) continue
    }
    changes.push({ path: shownPath(path), from, to: undefined, effect: effectOf(kind, path) })
  }
  return changes
}

function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (const place of placesAbove(path)) if (paths.has(place)) return true
  return false
}

function isKeyOfWanted(path: string, holdWanted: ReadonlySet<string>): boolean {
  const steps = path.split('\n')
  const last = steps.findLastIndex((step) => step.startsWith('k:'))
  if (last < 0 || last !== steps.length - 2) return false
  const entry = steps.slice(0, last + 1).join('\n')
  const name = steps.at(-1)?.slice(2) ?? ''
  return (steps[last] ?? '').includes(JSON.stringify(name)) && holdWanted.has(entry)
}

function valueAt(live: unknown, path: string, lists: Lists): unknown {
  let here: unknown = live
  for (const step of path.split('\n')) {
    if (step.startsWith('f:')) here = isRecord(here) ? here[step.slice(2)] : undefined
    else here = Array.isArray(here) ? lists.entry(here, step) : undefined
  }
  return here
}

/** Reports whether a field is ours, or inside a leaf that the server treats as one. */
function isOurs(path: string, mine: ReadonlySet<string>, holdMine: ReadonlySet<string>): boolean {
  // A leaf of ours may be a map for the server: the fields inside `limits: {}` own it.
  return mine.has(path) || holdMine.has(path) || isBelow(path, mine)
}

function below(tree: FieldTree, step: string): FieldTree {
  const inner = tree[step]
  return isRecord(inner) ? inner : {}
}

function isNamed(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.name === 'string'
}

function nameStep(entry: unknown): string | undefined {
  return isRecord(entry) && typeof entry.name === 'string' ? `k:${JSON.stringify({ name: entry.name })}` : undefined
}

/** Compares as the server does: empty equals absent, and a number may return as text. */
function same(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => same(one, b[i]))
  if (isRecord(a) && isRecord(b)) {
    // The server adds defaults; compare declared fields only.
    return Object.entries(b).every(([name, value]) => same(a[name], value))
  }
  return a === b
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return (Array.isArray(value) && value.length === 0) || (isRecord(value) && Object.keys(value).length === 0)
}

/** Immutable fields by kind: only a new object can have another value. */
const FIXED: Readonly<Record<string, RegExp>> = {
  Deployment: /^spec\.selector/,
  DaemonSet: /^spec\.selector/,
  StatefulSet: /^spec\.(?:selector|serviceName|volumeClaimTemplates|podManagementPolicy)/,
  Job: /^spec\.(?:template|selector|completionMode)/,
  RoleBinding: /^roleRef/,
  ClusterRoleBinding: /^roleRef/,
  StorageClass: /^(?:provisioner|parameters|reclaimPolicy|volumeBindingMode)/,
  PersistentVolumeClaim: /^spec\.(?:accessModes|storageClassName|volumeMode)/,
  Secret: /^type/,
  CSIDriver: /^spec\.(?:attachRequired|fsGroupPolicy)/,
}

function effectOf(kind: string, path: string): Change['effect'] {
  return FIXED[kind]?.test(shownPath(path)) === true ? 'replace' : 'live'
}

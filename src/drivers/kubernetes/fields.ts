import { type Foreign, isRecord, recordsOf } from '../../kubernetes/objects.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'

/** A tree of fields in the form of Kubernetes's managedFields: `f:spec`, `k:{"name":"c"}`, `v:"x"`. */
export type FieldTree = Foreign

export const MANAGER = 'croft'

/** The field manager that suspends a keeper before its deletion: what croft applies to it as itself stays. */
export const REST_MANAGER = `${MANAGER}-rest`

/** Returns our fields of an object, by its managedFields; undefined without an entry of ours. */
export function ownedBy(object: Foreign, manager: string): FieldTree | undefined {
  const entry = entriesOf(object).find((one) => one.manager === manager && one.operation === 'Apply')
  return entry === undefined || !isRecord(entry.fieldsV1) ? undefined : entry.fieldsV1
}

/** Returns the fields of matching managers, with any operation. */
export function fieldsKeptBy(object: Foreign, isMeant: (manager: string) => boolean): FieldTree {
  const all = emptyTree()
  for (const { manager, fieldsV1 } of entriesOf(object))
    if (typeof manager === 'string' && isMeant(manager) && isRecord(fieldsV1)) join(all, fieldsV1, 0)
  return all
}

/** Returns the field managers' entries, without status, which belongs to its controller. */
export function entriesOf(object: Foreign): readonly Foreign[] {
  const metadata = isRecord(object.metadata) ? object.metadata : {}
  return recordsOf(metadata.managedFields).filter((entry) => entry.subresource !== 'status')
}

/** Returns all owned fields: they show how the server identifies entries of each list. */
export function allFields(object: Foreign): FieldTree {
  const all = emptyTree()
  for (const { fieldsV1 } of entriesOf(object)) if (isRecord(fieldsV1)) join(all, fieldsV1, 0)
  return all
}

type FieldNames = Record<string, unknown>

/** Without a prototype, since the names come from the cluster. */
function emptyTree(): FieldNames {
  return Object.create(null) as FieldNames
}

/** Most fields are leaves: they share one tree. */
const NO_FIELDS: FieldNames = Object.freeze(emptyTree())

function join(into: FieldNames, tree: FieldTree, depth: number): void {
  if (depth > LIMITS.fieldDepth) return
  for (const step of Object.keys(tree)) {
    const inner = tree[step]
    const known = into[step]
    if (!isRecord(inner) || Object.keys(inner).length === 0) {
      if (!isRecord(known)) into[step] = NO_FIELDS
      continue
    }
    const there = isRecord(known) && known !== NO_FIELDS ? (known as FieldNames) : emptyTree()
    if (there !== known) into[step] = there
    join(there, inner, depth + 1)
  }
}

/** Returns the leaves of a tree as texts of steps. A leaf with too long a path counts as one with its parent. */
export function leavesOf(tree: FieldTree | undefined): ReadonlySet<string> {
  const found = new Set<string>()
  const walk = (value: unknown, path: string) => {
    const steps = Object.keys(isRecord(value) ? value : {}).filter((step) => step !== '.')
    const long = steps.some((step) => path.length + step.length >= LIMITS.fieldPathLength)
    if ((steps.length === 0 || long) && path !== '') {
      found.add(path)
      return
    }
    for (const step of steps) walk((value as FieldTree)[step], path === '' ? step : `${path}\n${step}`)
  }
  walk(tree ?? {}, '')
  return found
}

/** Formats a path for people: `spec.template.spec.containers[name=c].image`. */
export function shownPath(path: string): string {
  return path
    .split('\n')
    .map((step) => {
      if (step.startsWith('f:')) return `.${step.slice(2)}`
      if (!step.startsWith('k:')) return `[${step.slice(2)}]`
      const parts = Object.entries(recordIn(step.slice(2)) ?? {}).map(([name, value]) => `${name}=${String(value)}`)
      return `[${parts.join(',') || '?'}]`
    })
    .join('')
    .replace(/^\./, '')
}

/**
 * Returns a HelmChart or HelmChartConfig with its values as a tree, since a person wants to see the changed ones. On
 * the wire they are one text; a text that is no JSON was not written by croft and stays a text.
 */
export function spreadValues(object: Foreign): Foreign {
  const { spec } = object
  if (!isRecord(spec) || typeof spec.valuesContent !== 'string' || !carriesValues(object.kind)) return object
  const values = recordIn(spec.valuesContent)
  return values === undefined ? object : { ...object, spec: { ...spec, valuesContent: values } }
}

export function carriesValues(kind: unknown): boolean {
  return kind === 'HelmChart' || kind === 'HelmChartConfig'
}

import { isFields } from '../manifest.ts'

/** A place in objects of some kinds, as kustomize's own tables name it: `/` between fields, lists are walked through. */
export interface FieldSpec {
  readonly path: string
  readonly kind?: string
  readonly group?: string
  readonly version?: string
  /** Creates the field if it is missing. */
  readonly create?: boolean
}

/** Reports whether a field spec applies to this object. An omitted part matches everything. */
export function speaksOf(
  spec: Pick<FieldSpec, 'kind' | 'group' | 'version'>,
  object: Record<string, unknown>,
): boolean {
  const { group, version } = groupVersionOf(object.apiVersion)
  return (
    (spec.kind === undefined || spec.kind === object.kind) &&
    (spec.group === undefined || spec.group === group) &&
    (spec.version === undefined || spec.version === version)
  )
}

/** `apps/v1` in its two parts; the core group is the empty one. */
export function groupVersionOf(apiVersion: unknown): { readonly group: string; readonly version: string } {
  const text = typeof apiVersion === 'string' ? apiVersion : ''
  const slash = text.indexOf('/')
  return slash < 0 ? { group: '', version: text } : { group: text.slice(0, slash), version: text.slice(slash + 1) }
}

/** The names of a path; a slash that belongs to a name is written `\/`. */
export function namesOf(path: string): readonly string[] {
  return path.split(/(?<!\\)\//).map((name) => name.replaceAll('\\/', '/'))
}

/**
 * Edits all values at a path. Lists on the way are traversed implicitly. A missing field is created only if `create`
 * supplies it; a name that ends in `[]` is never created.
 */
export function editAt(
  tree: unknown,
  names: readonly string[],
  edit: (value: unknown) => unknown,
  create?: unknown,
): unknown {
  const [name, ...rest] = names
  if (Array.isArray(tree))
    return sameOr(
      tree,
      tree.map((one) => editAt(one, names, edit, create)),
    )
  if (name === undefined) return edit(tree)
  if (!isFields(tree)) return tree
  const list = name.endsWith('[]')
  const field = list ? name.slice(0, -2) : name
  const there = Object.hasOwn(tree, field) && tree[field] !== null
  if (!there && (create === undefined || list)) return tree
  const before = there ? tree[field] : rest.length === 0 ? create : {}
  const after = editAt(before, rest, edit, create)
  return there && after === before ? tree : { ...tree, [field]: after }
}

function sameOr(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  return after.every((one, index) => one === before[index]) ? before : after
}

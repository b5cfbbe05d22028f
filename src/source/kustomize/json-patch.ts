import type { Budget } from '../budget.ts'
import { isFields } from '../manifest.ts'

/** A plain tree, as the YAML reader gives it. */
export type PatchValue = unknown
type PatchedFields = Readonly<Record<string, unknown>>

/** A patch that does not fit what it is laid upon. */
export class PatchFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatchFailed'
  }
}

interface JsonPatchOperation {
  readonly op: string
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

/** RFC 6902: operations one after another. */
export function jsonPatch(base: PatchValue, operations: PatchValue, budget: Budget): PatchValue {
  if (!Array.isArray(operations)) throw new PatchFailed('a JSON patch is a list of operations')
  return operations.reduce<PatchValue>((tree, operation: unknown) => {
    if (!isFields(operation) || typeof operation.op !== 'string' || typeof operation.path !== 'string')
      throw new PatchFailed('every operation of a JSON patch has op and path')
    return apply(tree, operation as unknown as JsonPatchOperation, budget)
  }, base)
}

function apply(tree: PatchValue, { op, path, value, from }: JsonPatchOperation, budget: Budget): PatchValue {
  const at = pointer(path)
  switch (op) {
    case 'add':
      return change(tree, at, path, (parent, name) => insert(parent, name, value, path))
    case 'replace':
      // As in kustomize, a missing field is set; a missing item is not.
      return change(tree, at, path, (parent, name) => set(parent, name, value))
    case 'remove':
      return change(tree, at, path, (parent, name) => {
        if (read(parent, name) === undefined) throw new PatchFailed(`${path} is not there to be removed`)
        return remove(parent, name)
      })
    case 'test': {
      const found = at.reduce<unknown>((here, name) => read(here, name), tree)
      if (JSON.stringify(found) !== JSON.stringify(value))
        throw new PatchFailed(`${path} is not what the patch expects`)
      return tree
    }
    case 'move':
    case 'copy': {
      const source = pointer(from ?? '')
      const found = source.reduce<unknown>((here, name) => read(here, name), tree)
      if (found === undefined) throw new PatchFailed(`${from ?? ''} is not there`)
      if (op === 'copy') budget.nodes(found)
      const left = op === 'move' ? apply(tree, { op: 'remove', path: from ?? '' }, budget) : tree
      return apply(left, { op: 'add', path, value: found }, budget)
    }
    default:
      throw new PatchFailed(`${op} is not an operation of a JSON patch`)
  }
}

function pointer(path: string): readonly string[] {
  if (!path.startsWith('/')) throw new PatchFailed(`${path} is not a JSON pointer`)
  const names = path
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (names.includes('__proto__')) throw new PatchFailed(`${path} cannot be patched`)
  return names
}

function change(
  tree: PatchValue,
  [name = '', ...rest]: readonly string[],
  path: string,
  edit: (parent: PatchValue, name: string) => PatchValue,
): PatchValue {
  if (rest.length === 0) return edit(tree, name)
  const inner = read(tree, name)
  if (inner === undefined) throw new PatchFailed(`${path}: there is no ${name}`)
  return set(tree, name, change(inner, rest, path, edit))
}

function read(parent: PatchValue, name: string): unknown {
  if (Array.isArray(parent)) return parent[indexOf(name, parent.length)]
  return isFields(parent) && Object.hasOwn(parent, name) ? parent[name] : undefined
}

function set(parent: PatchValue, name: string, value: unknown): PatchValue {
  if (Array.isArray(parent)) return parent.with(indexOf(name, parent.length), value)
  return Object.assign(Object.create(null), parent, { [name]: value }) as PatchValue
}

function insert(parent: PatchValue, name: string, value: unknown, path: string): PatchValue {
  if (Array.isArray(parent)) {
    const at = name === '-' ? parent.length : indexOf(name, parent.length + 1)
    return parent.toSpliced(at, 0, value)
  }
  if (!isFields(parent)) throw new PatchFailed(`${path}: nothing can be put there`)
  return set(parent, name, value)
}

function remove(parent: PatchValue, name: string): PatchValue {
  if (Array.isArray(parent)) return parent.toSpliced(indexOf(name, parent.length), 1)
  return without(parent as PatchedFields, name)
}

function indexOf(name: string, length: number): number {
  const index = /^(?:0|[1-9]\d{0,6})$/.test(name) ? Number(name) : Number.NaN
  if (!(index < length)) throw new PatchFailed(`${name} is not a place in the list`)
  return index
}

function without(fields: PatchedFields, name: string): PatchedFields {
  const rest: Record<string, unknown> = Object.assign(Object.create(null), fields)
  delete rest[name]
  return rest
}

import type { FieldProblem } from '../../kinds/kind.ts'
import { isFields } from '../manifest.ts'
import { fieldPath, type MergePolicy, type PathSegment, shapeAt, valueAt, withValue } from './field-path.ts'
import { goText, plainValue, withIntegers } from './go-values.ts'
import { isCroftTemplate, statusShape } from './graph.ts'
import { templateShape } from './known-shapes.ts'
import { ANYTHING, type DocumentFields, type ProblemPath, shapeWord, TEXT, type ValueShape } from './shape.ts'
import { formatted, TransformMistake, transformOf } from './transforms.ts'

export type Complain = (path: ProblemPath, message: string, hint?: string) => void

/** The object that a patch reads or writes: the composite, a resource made of it, or the pipeline's environment. */
type PatchEnd = 'composite' | 'resource' | 'environment'

/** One copy of values from one end to another. */
export interface Patch {
  readonly from: PatchEnd
  readonly to: PatchEnd
  readonly sources: readonly (readonly PathSegment[])[]
  readonly target: readonly PathSegment[]
  /** Format for combining several values. */
  readonly format?: string
  readonly transforms: readonly ReturnType<typeof transformOf>[]
  /** Keeps whole numbers as int64; false in a pipeline. */
  readonly integers: boolean
  readonly required: boolean
  /** Resources whose status the value comes from, by name. */
  readonly late: readonly string[]
  /** How to merge with an existing value. Absent: replace it. */
  readonly merge?: MergePolicy
  readonly path: ProblemPath
}

/** Returns the shape of a resource that patches read, before it exists. */
function resourceShape(base: DocumentFields): ValueShape {
  return {
    type: 'object',
    properties: { status: isCroftTemplate(base) ? statusShape(base) : ANYTHING },
    additionalProperties: true,
  }
}

/** Named as in patch-and-transform; the last two are older names. */
const MERGES: Readonly<Record<string, MergePolicy>> = {
  MergeObjects: { force: false, append: false },
  MergeObjectsAppendArrays: { force: false, append: true },
  ForceMergeObjects: { force: true, append: false },
  ForceMergeObjectsAppendArrays: { force: true, append: true },
  MergeObject: { force: false, append: false },
  AppendArray: { force: true, append: true },
}

interface PatchType {
  readonly from: PatchEnd
  readonly to: PatchEnd
  readonly combines: boolean
}

type PatchTypes = Readonly<Record<string, PatchType>>

/** Types of the patches of a resource. */
export const RESOURCE_PATCHES: PatchTypes = {
  FromCompositeFieldPath: { from: 'composite', to: 'resource', combines: false },
  ToCompositeFieldPath: { from: 'resource', to: 'composite', combines: false },
  CombineFromComposite: { from: 'composite', to: 'resource', combines: true },
  CombineToComposite: { from: 'resource', to: 'composite', combines: true },
  FromEnvironmentFieldPath: { from: 'environment', to: 'resource', combines: false },
  ToEnvironmentFieldPath: { from: 'resource', to: 'environment', combines: false },
  CombineFromEnvironment: { from: 'environment', to: 'resource', combines: true },
  CombineToEnvironment: { from: 'resource', to: 'environment', combines: true },
}

/** Patch types of an environment: there the same names copy between composite and environment. */
export const ENVIRONMENT_PATCHES: PatchTypes = {
  FromCompositeFieldPath: { from: 'composite', to: 'environment', combines: false },
  ToEnvironmentFieldPath: { from: 'composite', to: 'environment', combines: false },
  CombineFromComposite: { from: 'composite', to: 'environment', combines: true },
  ToCompositeFieldPath: { from: 'environment', to: 'composite', combines: false },
  FromEnvironmentFieldPath: { from: 'environment', to: 'composite', combines: false },
  CombineToComposite: { from: 'environment', to: 'composite', combines: true },
}

/** Reads a patch, typed by its ends. Undefined: invalid, which has been reported. */
export function patchOf(
  patch: DocumentFields,
  path: ProblemPath,
  {
    types,
    base = {},
    composite,
  }: {
    readonly types: PatchTypes
    /** The template of the resource that it belongs to. */
    readonly base?: DocumentFields
    readonly composite: ValueShape
  },
  wrong: Complain,
): Patch | undefined {
  const type = patch.type === undefined ? 'FromCompositeFieldPath' : goText(patch.type)
  const known = Object.hasOwn(types, type) ? types[type] : undefined
  if (known === undefined) {
    const all = [...Object.keys(types), ...(types === RESOURCE_PATCHES ? ['PatchSet'] : [])]
    wrong([...path, 'type'], `patches of the type ${type} are not supported here: ${all.join(', ')} are`)
    return undefined
  }
  const combine = fieldsOf(patch.combine)
  const from = known.combines
    ? listOf(combine.variables).map((one, index) => ({
        text: fieldsOf(one).fromFieldPath,
        at: [...path, 'combine', 'variables', index, 'fromFieldPath'],
      }))
    : [{ text: patch.fromFieldPath, at: [...path, 'fromFieldPath'] }]
  const sources = from.map(({ text, at }) => {
    const found = typeof text === 'string' ? fieldPath(text) : undefined
    if (found === undefined) wrong(at, `${JSON.stringify(text)} is not a path of a field`)
    return { found, at, text: String(text) }
  })
  const written = patch.toFieldPath ?? patch.fromFieldPath
  const target = typeof written === 'string' ? fieldPath(written) : undefined
  if (target === undefined) wrong([...path, 'toFieldPath'], `${JSON.stringify(written)} is not a path of a field`)
  if (known.to === 'composite' && target?.[0] === 'status' && shapeAt(composite, target) === undefined)
    wrong(
      [...path, patch.toFieldPath === undefined ? 'fromFieldPath' : 'toFieldPath'],
      `a composite has no field ${String(written)}: its definition does not name it`,
    )
  let shape: ValueShape = known.combines ? TEXT : ANYTHING
  for (const { found, at, text } of sources) {
    if (found === undefined) continue
    // The content of an environment is known only with an instance.
    if (known.from === 'environment') continue
    if (known.from === 'resource') {
      if (shapeAt(resourceShape(base), found) === undefined)
        wrong(at, `${goText(base.kind)} has no field ${text}: its status has ${statusFields(base)}`)
      continue
    }
    const there = shapeAt(composite, found)
    if (there === undefined) wrong(at, `a composite has no field ${text}: its definition does not name it`)
    else if (!known.combines) shape = there
  }
  if (known.combines) {
    const { strategy, string, variables } = combine
    if (strategy !== 'string')
      wrong([...path, 'combine', 'strategy'], `${JSON.stringify(strategy)} is not a strategy: string is`)
    else if (typeof fieldsOf(string).fmt !== 'string')
      wrong([...path, 'combine', 'string'], 'combine has no string.fmt')
    if (listOf(variables).length === 0) wrong([...path, 'combine', 'variables'], 'combine has no variable')
    if (patch.toFieldPath === undefined)
      wrong([...path, 'toFieldPath'], `a patch of the type ${type} has no toFieldPath`)
  }
  const policy = fieldsOf(patch.policy)
  if (policy.fromFieldPath !== undefined && policy.fromFieldPath !== 'Required' && policy.fromFieldPath !== 'Optional')
    wrong(
      [...path, 'policy', 'fromFieldPath'],
      `${goText(policy.fromFieldPath)} is not a policy: Optional, Required are`,
    )
  const merge = policy.toFieldPath === undefined ? undefined : MERGES[goText(policy.toFieldPath)]
  if (policy.toFieldPath !== undefined && policy.toFieldPath !== 'Replace' && merge === undefined)
    wrong(
      [...path, 'policy', 'toFieldPath'],
      `${goText(policy.toFieldPath)} is not a policy: Replace, ${Object.keys(MERGES).join(', ')} are`,
    )
  const transforms = listOf(patch.transforms).flatMap((entry, index) => {
    try {
      const transform = transformOf(entry)
      // Most computations keep whole numbers whole: only the value can tell.
      shape = transform.type.type === 'number' ? ANYTHING : transform.type
      return [transform]
    } catch (error) {
      if (!(error instanceof TransformMistake)) throw error
      wrong([...path, 'transforms', index], error.message)
      return []
    }
  })
  const wanted = known.to === 'resource' && target !== undefined ? templateShape(base, target) : undefined
  if (wanted !== undefined && shape.type !== undefined && !wanted.includes(shape.type) && shape.type !== 'number')
    wrong(
      [...path, 'toFieldPath'],
      `${String(written)} must be ${wanted.map((word) => shapeWord({ type: word })).join(' or ')}, and the patch brings ${shapeWord(shape)}`,
      'convert it with a transform',
    )
  if (target === undefined || sources.some(({ found }) => found === undefined)) return undefined
  const format = fieldsOf(combine.string).fmt
  return {
    from: known.from,
    to: known.to,
    sources: sources.flatMap(({ found }) => (found === undefined ? [] : [found])),
    target,
    ...(known.combines ? { format: typeof format === 'string' ? format : '%s' } : {}),
    transforms,
    integers: true,
    required: policy.fromFieldPath === 'Required',
    late: [],
    ...(merge === undefined ? {} : { merge }),
    path,
  }
}

function statusFields(base: DocumentFields): string {
  return Object.keys(statusShape(base).properties ?? {}).join(', ')
}

/** Reports whether one path is a prefix of the other. */
export function meet(one: readonly PathSegment[], other: readonly PathSegment[]): boolean {
  return one.every((step, index) => index >= other.length || other[index] === step)
}

/** The result of a patch: a value, a field that is missing so far, or an error. */
export type Patched =
  | { readonly value: unknown }
  | { readonly lacking: readonly PathSegment[] }
  | { readonly problem: FieldProblem }

/** Returns the target with the patch applied. Drops fields that become null, as the API server does. */
export function applied(
  { to, sources, format, transforms, integers, target, merge, path }: Patch,
  from: unknown,
  onto: unknown,
): Patched {
  try {
    const found = sources.map((source) => valueAt(from, source))
    const lacking = sources[found.indexOf(undefined)]
    if (lacking !== undefined) return { lacking }
    const values = integers ? found.map(withIntegers) : found
    const first = format === undefined ? values[0] : formatted(format, values)
    const put = plainValue(transforms.reduce((value, transform) => transform.apply(value), first))
    const gone = put === null && to !== 'environment'
    return { value: gone ? withValue(onto, target, undefined) : withValue(onto, target, put, merge) }
  } catch (error) {
    if (!(error instanceof TransformMistake)) throw error
    return { problem: { code: 'bad-composition', path, message: error.message } }
  }
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function fieldsOf(value: unknown): DocumentFields {
  return isFields(value) ? value : {}
}

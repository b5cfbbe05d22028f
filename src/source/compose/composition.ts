import type { FieldProblem } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import { isFields } from '../manifest.ts'
import type { ComposedDocument, LiveObjects, MissingValue } from './api.ts'
import type { GraphExpansion } from './expand-graph.ts'
import { typeOfExpression } from './expression-type.ts'
import { fieldPath, type MergePolicy, type PathSegment, shapeAt, valueAt, withValue } from './field-path.ts'
import { goText, plainValue, withIntegers } from './go-values.ts'
import { isCroftTemplate, SELF, statusShape } from './graph.ts'
import { inOrder } from './in-order.ts'
import { templateShape } from './known-shapes.ts'
import { kubernetesProblems } from './kubernetes-shapes.ts'
import { ANYTHING, type DocumentFields, type ProblemPath, shapeWord, TEXT, type ValueShape } from './shape.ts'
import { formatted, TransformMistake, transformOf } from './transforms.ts'

/** One copy of values between a composite and a resource that is made of it. */
interface Patch {
  readonly to: 'resource' | 'composite'
  readonly sources: readonly (readonly PathSegment[])[]
  readonly target: readonly PathSegment[]
  /** How several values become one text. */
  readonly format?: string
  readonly transforms: readonly ReturnType<typeof transformOf>[]
  /** Whole numbers are whole for Go: not in a pipeline. */
  readonly integers: boolean
  readonly required: boolean
  /** Resources whose status the value comes from, by name. */
  readonly late: readonly string[]
  /** How the value comes together with what stands there. Absent: it takes its place. */
  readonly merge?: MergePolicy
  readonly path: ProblemPath
}

/** One resource of a composition. */
export interface CompositionPart {
  readonly name: string
  readonly base: DocumentFields
  /** The way to the base in the composition. */
  readonly path: ProblemPath
  readonly patches: readonly Patch[]
  readonly readyWhen: readonly string[]
  /** Names of parts that write what it reads. */
  readonly uses: readonly string[]
}

/** Reads what patch-and-transform would make, typed before there is an instance. What is wrong has the path of its field. */
export function partsOf(
  composition: DocumentFields,
  shapes: { readonly spec: ValueShape; readonly status: ValueShape },
): { readonly parts: readonly CompositionPart[]; readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  const wrong = (path: ProblemPath, message: string, hint?: string) =>
    problems.push({ code: 'bad-composition', path, message, ...(hint === undefined ? {} : { hint }) })
  const composite = compositeShape(shapes)
  const parts: CompositionPart[] = []
  const inPipeline = isPipeline(composition)
  const withoutEffect = (patch: Patch): boolean => {
    if (!inPipeline || patch.to !== 'composite' || patch.target[0] === 'status') return false
    problems.push({
      code: 'not-kept',
      path: [...patch.path, 'toFieldPath'],
      severity: 'warning',
      message: 'a function can change only the status of a composite: this patch has no effect',
    })
    return true
  }
  for (const { resources, patchSets, path } of inputsOf(composition, wrong)) {
    const sets = new Map(
      listOf(patchSets).map((set, index) => [String(fieldsOf(set).name), { set: fieldsOf(set), index }]),
    )
    for (const [index, entry] of listOf(resources).entries()) {
      const at = [...path, 'resources', index]
      const { name, base, patches, readinessChecks, connectionDetails } = fieldsOf(entry)
      if (listOf(connectionDetails).length > 0)
        problems.push({
          code: 'not-kept',
          path: [...at, 'connectionDetails'],
          severity: 'warning',
          message: 'connection details are not supported: croft writes no Secret for them',
        })
      const known = typeof name === 'string' && name !== '' ? name : `resource-${index}`
      if (!isFields(base)) {
        wrong([...at, 'base'], `${known} has no base`)
        continue
      }
      if (inPipeline && known !== name) wrong(at, 'a resource needs a name')
      if (typeof base.apiVersion !== 'string' || typeof base.kind !== 'string')
        wrong([...at, 'base'], `the base of ${known} needs apiVersion and kind`)
      // Only warnings: a patch may yet write over what is wrong here.
      for (const found of kubernetesProblems(base, [...at, 'base'])) problems.push({ ...found, severity: 'warning' })
      if (parts.some((one) => one.name === known)) wrong([...at, 'name'], `two resources are called ${known}`)
      const written = listOf(patches).flatMap(
        (patch, number): { readonly patch: DocumentFields; readonly at: ProblemPath }[] => {
          const one = fieldsOf(patch)
          if (one.type !== 'PatchSet') return [{ patch: one, at: [...at, 'patches', number] }]
          const found = sets.get(String(one.patchSetName))
          if (found === undefined) {
            wrong(
              [...at, 'patches', number, 'patchSetName'],
              `there is no patch set called ${String(one.patchSetName)}`,
            )
            return []
          }
          return listOf(found.set.patches).flatMap((inner, deep) => {
            const where = [...path, 'patchSets', found.index, 'patches', deep]
            if (fieldsOf(inner).type !== 'PatchSet') return [{ patch: fieldsOf(inner), at: where }]
            wrong([...where, 'type'], 'a patch set cannot name another')
            return []
          })
        },
      )
      parts.push({
        name: known,
        base,
        path: [...at, 'base'],
        patches: written
          .flatMap(({ patch, at: where }) => patchOf(patch, where, base, composite, wrong) ?? [])
          .filter((patch) => !withoutEffect(patch))
          .map((patch) => ({ ...patch, integers: !inPipeline })),
        readyWhen: listOf(readinessChecks).flatMap((check, number) =>
          checkOf(fieldsOf(check), base, [...at, 'readinessChecks', number], wrong),
        ),
        uses: [],
      })
    }
  }
  const { ordered, circle } = inOrder(withUses(parts, wrong), ({ name }) => name)
  if (circle.length > 0)
    wrong(['spec'], `${circle.join(', ')} take values from each other: none of them could be first`)
  return { parts: ordered, problems }
}

/** What patches may read of a composite. */
function compositeShape({ spec, status }: { readonly spec: ValueShape; readonly status: ValueShape }): ValueShape {
  const texts: ValueShape = { type: 'object', additionalProperties: TEXT }
  return {
    type: 'object',
    properties: {
      apiVersion: TEXT,
      kind: TEXT,
      metadata: {
        type: 'object',
        properties: { name: TEXT, namespace: TEXT, uid: TEXT, labels: texts, annotations: texts },
      },
      spec,
      status,
    },
  }
}

/** What patches may read of a resource, and what is known of it before there is one. */
function resourceShape(base: DocumentFields): ValueShape {
  return {
    type: 'object',
    properties: { status: isCroftTemplate(base) ? statusShape(base) : ANYTHING },
    additionalProperties: true,
  }
}

function isPipeline({ spec: written }: DocumentFields): boolean {
  const { mode, pipeline } = fieldsOf(written)
  return mode === 'Pipeline' || pipeline !== undefined
}

type Complain = (path: ProblemPath, message: string, hint?: string) => void

/** Where resources stand: in the composition itself, or in the input of a step of its pipeline. */
function inputsOf(composition: DocumentFields, wrong: Complain) {
  const spec = fieldsOf(composition.spec)
  if (!isPipeline(composition))
    return [{ resources: spec.resources, patchSets: spec.patchSets, path: ['spec'] as ProblemPath }]
  return listOf(spec.pipeline).flatMap((entry, index) => {
    const { functionRef, input } = fieldsOf(entry)
    const name = String(fieldsOf(functionRef).name)
    // A function may be installed under any name; the group of its input is its own.
    const takes = String(fieldsOf(input).apiVersion)
    const path: ProblemPath = ['spec', 'pipeline', index, 'input']
    // It only says that a composite is ready when its parts are, which croft knows itself.
    if (/function-auto-ready(?:-|$)/.test(name)) return []
    if (!takes.startsWith('pt.fn.crossplane.io/') && !/function-patch-and-transform(?:-|$)/.test(name)) {
      wrong(
        ['spec', 'pipeline', index, 'functionRef', 'name'],
        `croft runs no functions, so it cannot tell what ${name} makes`,
        'use function-patch-and-transform',
      )
      return []
    }
    const { resources, patchSets, environment } = fieldsOf(input)
    if (environment !== undefined) wrong([...path, 'environment'], 'environments are not supported')
    return [{ resources, patchSets, path }]
  })
}

/** By the words of patch-and-transform; the last two are older names. */
const MERGES: Readonly<Record<string, MergePolicy>> = {
  MergeObjects: { force: false, append: false },
  MergeObjectsAppendArrays: { force: false, append: true },
  ForceMergeObjects: { force: true, append: false },
  ForceMergeObjectsAppendArrays: { force: true, append: true },
  MergeObject: { force: false, append: false },
  AppendArray: { force: true, append: true },
}

const TYPES: Readonly<Record<string, Pick<Patch, 'to'> & { readonly combines: boolean }>> = {
  FromCompositeFieldPath: { to: 'resource', combines: false },
  ToCompositeFieldPath: { to: 'composite', combines: false },
  CombineFromComposite: { to: 'resource', combines: true },
  CombineToComposite: { to: 'composite', combines: true },
}

function patchOf(
  patch: DocumentFields,
  path: ProblemPath,
  base: DocumentFields,
  composite: ValueShape,
  wrong: Complain,
): Patch | undefined {
  const type = patch.type === undefined ? 'FromCompositeFieldPath' : goText(patch.type)
  const known = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (known === undefined) {
    wrong(
      [...path, 'type'],
      `patches of the type ${type} are not supported: ${Object.keys(TYPES).join(', ')}, PatchSet are`,
    )
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
    if (known.to === 'composite') {
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
      // Whole numbers stay whole in most sums: only the value can tell.
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

/** A readiness check as an expression about `self`. */
function checkOf(check: DocumentFields, base: DocumentFields, path: ProblemPath, wrong: Complain): readonly string[] {
  const { type, fieldPath: field, matchString, matchInteger } = check
  const condition = fieldsOf(check.matchCondition)
  const quoted = (value: unknown) => JSON.stringify(String(value))
  const at = `self.${String(field)}`
  const expression = {
    None: 'true',
    NonEmpty: `has(${at})`,
    MatchString: `${at} == ${quoted(matchString)}`,
    MatchInteger: `${at} == ${Number(matchInteger)}`,
    MatchTrue: `${at} == true`,
    MatchFalse: `${at} == false`,
    MatchCondition: `self.status.conditions.exists(c, c.type == ${quoted(condition.type)} && c.status == ${quoted(condition.status)})`,
  }[String(type)]
  if (expression === undefined) {
    wrong([...path, 'type'], `${String(type)} is not a type of a readiness check`)
    return []
  }
  // That it is Ready is waited for anyway.
  if (type === 'None' || (type === 'MatchCondition' && condition.type === 'Ready' && condition.status === 'True'))
    return []
  const typed = typeOfExpression(expression, { self: isCroftTemplate(base) ? SELF : ANYTHING })
  if (!('problem' in typed)) return [expression]
  wrong([...path, 'fieldPath'], `${expression}: ${typed.problem}`)
  return []
}

function statusFields(base: DocumentFields): string {
  return Object.keys(statusShape(base).properties ?? {}).join(', ')
}

/** Who reads of the composite what another writes to it comes after that one, and waits for what comes from its status. */
function withUses(parts: readonly CompositionPart[], wrong: Complain): readonly CompositionPart[] {
  const writes = parts.flatMap(({ name, patches }) =>
    patches.flatMap(({ to, target, sources }) =>
      to === 'composite' ? [{ name, target, late: sources.some(([first]) => first === 'status') }] : [],
    ),
  )
  return parts.map((part) => {
    const uses = new Set<string>()
    const patches = part.patches.map((patch) => {
      if (patch.to === 'composite') return patch
      const late = new Set<string>()
      for (const source of patch.sources) {
        const writers = writes.filter(({ target }) => meet(target, source))
        for (const writer of writers) {
          if (writer.name !== part.name) uses.add(writer.name)
          if (writer.late) late.add(writer.name)
        }
        if (writers.length === 0 && source[0] === 'status')
          wrong([...patch.path, 'fromFieldPath'], `no patch of this composition writes ${source.join('.')}`)
      }
      if (late.has(part.name))
        wrong(
          [...patch.path, 'fromFieldPath'],
          `${part.name} takes a value from its own status, which it has only later`,
        )
      return { ...patch, late: [...late] }
    })
    return { ...part, patches, uses: [...uses] }
  })
}

/** Does one of two paths lead to where the other passes? */
function meet(one: readonly PathSegment[], other: readonly PathSegment[]): boolean {
  return one.every((step, index) => index >= other.length || other[index] === step)
}

/** What a patch gives: a value, a field that is not there yet, or why it cannot be done. */
type Patched =
  | { readonly value: unknown }
  | { readonly lacking: readonly PathSegment[] }
  | { readonly problem: FieldProblem }

/** What a patch makes of what it writes to. What becomes null is not there: so the server leaves it. */
function applied(
  { sources, format, transforms, integers, target, merge, path }: Patch,
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
    return { value: put === null ? withValue(onto, target, undefined) : withValue(onto, target, put, merge) }
  } catch (error) {
    if (!(error instanceof TransformMistake)) throw error
    return { problem: { code: 'bad-composition', path, message: error.message } }
  }
}

/** What a resource waits for where a patch has no value: it comes later, or it must be there. */
function waitsFor(
  { late, required, target }: Patch,
  lacking: readonly PathSegment[],
  base: ProblemPath,
): readonly MissingValue[] {
  if (late.length === 0 && !required) return []
  const why = late.length > 0 ? undefined : 'the patch requires it, and the composite does not say it'
  return [{ expression: lacking.join('.'), path: [...base, ...target], of: late, ...defined({ why }) }]
}

/**
 * What a composite becomes. Pure: what is there is given. A resource waits for a value that comes from the status of another
 * and is not there yet, and for a field of the composite that one of its patches requires.
 */
export function expandComposition(
  parts: readonly CompositionPart[],
  instance: DocumentFields,
  live: LiveObjects,
): GraphExpansion {
  let composite: unknown = instance
  const documents: ComposedDocument[] = []
  for (const { name, base, path, patches, readyWhen, uses } of parts) {
    let value: unknown = base
    const missing: MissingValue[] = []
    for (const patch of patches.filter(({ to }) => to === 'resource')) {
      const next = applied(patch, composite, value)
      if ('problem' in next) return next
      if ('value' in next) value = next.value
      else if (next.lacking.join('.') === 'metadata.uid') return { problem: noUid(patch) }
      else missing.push(...waitsFor(patch, next.lacking, path))
    }
    const made = named(fieldsOf(value), instance, name)
    const object = missing.length > 0 ? undefined : live.made({ id: name, value: made, path, index: 0, count: 1 })
    for (const patch of patches.filter(({ to }) => to === 'composite')) {
      const next = applied(patch, object ?? made, composite)
      if ('problem' in next) return next
      if ('value' in next) composite = next.value
    }
    documents.push({ id: name, value: made, path, uses, readyWhen, ...(missing.length === 0 ? {} : { missing }) })
  }
  return { documents }
}

/** Does a resource of it take values that only another can say? */
export function readsStatus(parts: readonly CompositionPart[]): boolean {
  return parts.some(({ patches }) => patches.some(({ late }) => late.length > 0))
}

/** What patches write to the status of a composite from the objects that were made for it. Pure. */
export function statusOfComposite(
  parts: readonly CompositionPart[],
  made: ReadonlyMap<string, readonly DocumentFields[]>,
): DocumentFields {
  let composite: unknown = {}
  for (const { name, patches } of parts) {
    const [object] = made.get(name) ?? []
    if (object === undefined) continue
    for (const patch of patches.filter(({ to, target }) => to === 'composite' && target[0] === 'status')) {
      const put = applied(patch, object, composite)
      if ('value' in put) composite = put.value
    }
  }
  return fieldsOf(fieldsOf(composite).status)
}

function noUid({ path }: Patch): FieldProblem {
  return { code: 'bad-composition', path, message: 'an instance in a file has no uid', hint: 'use metadata.name' }
}

/** Crossplane gives names by chance; here the same composite always has the same parts. */
function named(base: DocumentFields, { metadata }: DocumentFields, part: string): DocumentFields {
  const own = fieldsOf(base.metadata)
  const { name, namespace } = fieldsOf(metadata)
  const { generateName: _, ...rest } = own
  return {
    ...base,
    metadata: defined({ name: `${String(name)}-${part}`.toLowerCase(), namespace, ...rest }),
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function fieldsOf(value: unknown): DocumentFields {
  return isFields(value) ? value : {}
}

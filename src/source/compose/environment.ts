import type { FieldProblem } from '../../kinds/kind.ts'
import { isFields } from '../manifest.ts'
import { fieldPath, type PathSegment, shapeAt, valueAt, withValue } from './field-path.ts'
import { applied, type Complain, fieldsOf, listOf, type Patch } from './patch.ts'
import type { DocumentFields, ProblemPath, ValueShape } from './shape.ts'

/** An EnvironmentConfig: what several compositions take values from. */
export interface EnvironmentData {
  readonly name: string
  /** The whole object: a selector may sort by any field of it. */
  readonly object: DocumentFields
}

/** A label that an EnvironmentConfig must have. */
interface LabelMatch {
  readonly key: string
  readonly value: { readonly text: string } | { readonly from: readonly PathSegment[]; readonly optional: boolean }
  readonly path: ProblemPath
}

type EnvironmentSource = {
  readonly path: ProblemPath
  /** Target path in the environment. Absent: the top. */
  readonly target?: readonly PathSegment[]
} & (
  | { readonly by: 'name'; readonly name: string }
  | {
      readonly by: 'labels'
      readonly labels: readonly LabelMatch[]
      readonly single: boolean
      readonly min: number
      readonly max: number
      readonly sortBy: readonly PathSegment[]
    }
)

/** An effect of a pipeline step on the environment. */
export type EnvironmentStep =
  | {
      readonly does: 'select'
      readonly defaults: DocumentFields
      readonly optional: boolean
      readonly sources: readonly EnvironmentSource[]
      readonly path: ProblemPath
    }
  | { readonly does: 'patch'; readonly patches: readonly Patch[]; readonly path: ProblemPath }

/** Reads the input of function-environment-configs. What is wrong has the path of its field. */
export function selectionOf(
  input: DocumentFields,
  path: ProblemPath,
  composite: ValueShape,
  wrong: Complain,
): EnvironmentStep {
  const { defaultData, environmentConfigs, policy } = fieldsOf(input.spec)
  const { resolution } = fieldsOf(policy)
  if (resolution !== undefined && resolution !== 'Required' && resolution !== 'Optional')
    wrong(
      [...path, 'spec', 'policy', 'resolution'],
      `${JSON.stringify(resolution)} is not a policy: Required, Optional are`,
    )
  return {
    does: 'select',
    defaults: fieldsOf(defaultData),
    optional: resolution === 'Optional',
    sources: listOf(environmentConfigs).flatMap(
      (one, index) => sourceOf(fieldsOf(one), [...path, 'spec', 'environmentConfigs', index], composite, wrong) ?? [],
    ),
    path,
  }
}

function sourceOf(
  { type = 'Reference', ref, selector, toFieldPath }: DocumentFields,
  path: ProblemPath,
  composite: ValueShape,
  wrong: Complain,
): EnvironmentSource | undefined {
  const target = typeof toFieldPath === 'string' && toFieldPath !== '' ? fieldPath(toFieldPath) : undefined
  if (target === undefined && toFieldPath !== undefined && toFieldPath !== '')
    wrong([...path, 'toFieldPath'], `${JSON.stringify(toFieldPath)} is not a path of a field`)
  const common = { path, ...(target === undefined ? {} : { target }) }
  if (type === 'Reference') {
    const { name } = fieldsOf(ref)
    if (typeof name === 'string' && name !== '') return { ...common, by: 'name', name }
    wrong([...path, 'ref'], 'a reference to an EnvironmentConfig needs ref.name')
    return undefined
  }
  if (type !== 'Selector') {
    wrong([...path, 'type'], `${JSON.stringify(type)} is not a type: Reference, Selector are`)
    return undefined
  }
  const { mode = 'Single', maxMatch, minMatch, sortByFieldPath = 'metadata.name', matchLabels } = fieldsOf(selector)
  const at = [...path, 'selector']
  if (mode !== 'Single' && mode !== 'Multiple')
    wrong([...at, 'mode'], `${JSON.stringify(mode)} is not a mode: Single, Multiple are`)
  const count = (name: string, value: unknown, otherwise: number): number => {
    if (value === undefined) return otherwise
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    wrong([...at, name], `${JSON.stringify(value)} is not a whole number`)
    return otherwise
  }
  const sortBy = typeof sortByFieldPath === 'string' ? fieldPath(sortByFieldPath) : undefined
  if (sortBy === undefined)
    wrong([...at, 'sortByFieldPath'], `${JSON.stringify(sortByFieldPath)} is not a path of a field`)
  const labels = listOf(matchLabels).flatMap(
    (one, index) => labelOf(fieldsOf(one), [...at, 'matchLabels', index], composite, wrong) ?? [],
  )
  return {
    ...common,
    by: 'labels',
    labels,
    single: mode === 'Single',
    min: count('minMatch', minMatch, 0),
    max: count('maxMatch', maxMatch, Number.POSITIVE_INFINITY),
    sortBy: sortBy ?? [],
  }
}

function labelOf(
  { type = 'FromCompositeFieldPath', key, value, valueFromFieldPath, fromFieldPathPolicy }: DocumentFields,
  path: ProblemPath,
  composite: ValueShape,
  wrong: Complain,
): LabelMatch | undefined {
  if (typeof key !== 'string' || key === '') {
    wrong(path, 'a label needs a key')
    return undefined
  }
  if (type === 'Value') {
    if (typeof value === 'string') return { key, value: { text: value }, path }
    wrong([...path, 'value'], `the label ${key} needs a value, a text`)
    return undefined
  }
  if (type !== 'FromCompositeFieldPath') {
    wrong([...path, 'type'], `${JSON.stringify(type)} is not a type: FromCompositeFieldPath, Value are`)
    return undefined
  }
  const at = [...path, 'valueFromFieldPath']
  const from = typeof valueFromFieldPath === 'string' ? fieldPath(valueFromFieldPath) : undefined
  if (from === undefined) {
    wrong(at, `${JSON.stringify(valueFromFieldPath)} is not a path of a field`)
    return undefined
  }
  const shape = shapeAt(composite, from)
  if (shape === undefined)
    wrong(at, `a composite has no field ${String(valueFromFieldPath)}: its definition does not name it`)
  else if (shape.type !== undefined && shape.type !== 'string')
    wrong(at, `a label is a text, and ${String(valueFromFieldPath)} is not`)
  if (fromFieldPathPolicy !== undefined && fromFieldPathPolicy !== 'Required' && fromFieldPathPolicy !== 'Optional')
    wrong(
      [...path, 'fromFieldPathPolicy'],
      `${JSON.stringify(fromFieldPathPolicy)} is not a policy: Optional, Required are`,
    )
  return { key, value: { from, optional: fromFieldPathPolicy === 'Optional' }, path }
}

/** The environment before and after each step, and the composite with what they write to its status. */
export type Environments =
  | { readonly states: readonly DocumentFields[]; readonly composite: DocumentFields }
  | { readonly problem: FieldProblem }

/** Returns the environments that the steps make for a composite. Pure. */
export function environmentsOf(
  steps: readonly EnvironmentStep[],
  instance: DocumentFields,
  configs: readonly EnvironmentData[],
): Environments {
  let composite = instance
  const states: DocumentFields[] = [named({})]
  for (const step of steps) {
    let environment = states.at(-1) ?? {}
    if (step.does === 'select') {
      const selected = merged(step, environment, instance, configs)
      if ('problem' in selected) return selected
      environment = selected.environment
    } else
      for (const patch of step.patches) {
        const from = patch.from === 'composite' ? instance : environment
        const next = applied(patch, from, patch.to === 'composite' ? composite : environment)
        if ('problem' in next) return next
        if ('lacking' in next) {
          if (!patch.required) continue
          const what = next.lacking.join('.')
          const who = patch.from === 'composite' ? 'the composite' : 'the environment'
          return problem(patch.path, `the patch requires ${what}, and ${who} does not have it`)
        }
        if (patch.to === 'composite') composite = fieldsOf(next.value)
        else environment = fieldsOf(next.value)
      }
    states.push(environment)
  }
  return { states, composite }
}

function problem(path: ProblemPath, message: string): { readonly problem: FieldProblem } {
  return { problem: { code: 'bad-composition', path, message } }
}

/** Gives the environment the apiVersion and kind that patches see, unless its data set them. */
function named(data: DocumentFields): DocumentFields {
  const { apiVersion = '', kind = '' } = data
  if (apiVersion !== '' || kind !== '') return data
  return { ...data, apiVersion: 'internal.crossplane.io/v1alpha1', kind: 'Environment' }
}

type SelectStep = EnvironmentStep & { readonly does: 'select' }

/** Returns the environment with the data of a step's selection: over the old data; the defaults are below both. */
function merged(
  { sources, defaults, optional }: SelectStep,
  environment: DocumentFields,
  composite: DocumentFields,
  configs: readonly EnvironmentData[],
): { readonly environment: DocumentFields } | { readonly problem: FieldProblem } {
  let data: DocumentFields = {}
  let asked = false
  for (const source of sources) {
    const found = source.by === 'name' ? byName(source, configs, optional) : byLabels(source, composite, configs)
    if (found === undefined) continue
    if ('problem' in found) return found
    asked = true
    for (const { name, object } of found.selected) {
      if (source.target === undefined && !isFields(object.data))
        return problem(source.path, `EnvironmentConfig/${name} has no data`)
      const own = source.target === undefined ? object.data : withValue({}, source.target, object.data)
      data = overlaid(data, fieldsOf(own))
    }
  }
  // If nothing is selected, the function runs only once and sets nothing, not even its defaults.
  return { environment: asked ? named(overlaid(defaults, overlaid(environment, data))) : environment }
}

type Selected = { readonly selected: readonly EnvironmentData[] } | { readonly problem: FieldProblem }

function byName(
  { name, path }: EnvironmentSource & { readonly by: 'name' },
  configs: readonly EnvironmentData[],
  optional: boolean,
): Selected {
  const selected = configs.filter((one) => one.name === name)
  if (selected.length > 0 || optional) return { selected }
  return problem([...path, 'ref', 'name'], `there is no EnvironmentConfig ${name}`)
}

/** Undefined: no required label has a value. */
function byLabels(
  { labels, single, min, max, sortBy, path }: EnvironmentSource & { readonly by: 'labels' },
  composite: DocumentFields,
  configs: readonly EnvironmentData[],
): Selected | undefined {
  const wanted = new Map<string, string>()
  for (const { key, value, path: at } of labels) {
    const text = 'text' in value ? value.text : valueAt(composite, value.from)
    if (typeof text === 'string') wanted.set(key, text)
    else if ('from' in value && !value.optional)
      return problem(
        [...at, 'valueFromFieldPath'],
        `the label ${key} takes its value from ${value.from.join('.')}, and the composite does not have it`,
      )
  }
  if (wanted.size === 0) return undefined
  const fitting = configs.filter(({ object }) => {
    const own = fieldsOf(fieldsOf(object.metadata).labels)
    return [...wanted].every(([key, text]) => own[key] === text)
  })
  const shown = [...wanted].map(([key, text]) => `${key}=${text}`).join(', ')
  const names = fitting.map(({ name }) => name).join(', ')
  if (single) {
    if (fitting.length === 1) return { selected: fitting }
    const count = fitting.length === 0 ? 'no EnvironmentConfig has' : `several EnvironmentConfigs (${names}) have`
    return problem([...path, 'selector'], `${count} the labels ${shown}; exactly one must`)
  }
  if (fitting.length < min)
    return problem(
      [...path, 'selector', 'minMatch'],
      `${fitting.length} EnvironmentConfigs have the labels ${shown}; at least ${min} must`,
    )
  const sorted = inSequence(fitting, sortBy)
  if (typeof sorted === 'string') return problem([...path, 'selector', 'sortByFieldPath'], sorted)
  return { selected: sorted.slice(0, max) }
}

/** Sorts by one field: texts or numbers. Returns a text if that fails. A missing field counts as empty or 0. */
function inSequence(
  configs: readonly EnvironmentData[],
  by: readonly PathSegment[],
): readonly EnvironmentData[] | string {
  const keyed = configs.map((config) => ({ config, key: valueAt(config.object, by) ?? undefined }))
  const types = new Set(keyed.flatMap(({ key }) => (key === undefined ? [] : [typeof key])))
  const [type] = types
  if (type === undefined) return configs
  if (types.size > 1)
    return `EnvironmentConfigs cannot be sorted by ${by.join('.')}: it is not of one type in all of them`
  if (type !== 'string' && type !== 'number')
    return `EnvironmentConfigs cannot be sorted by ${by.join('.')}: it is neither a text nor a number`
  const empty = type === 'string' ? '' : 0
  return keyed
    .toSorted(({ key: a = empty }, { key: b = empty }) => (a === b ? 0 : (a as string) < (b as string) ? -1 : 1))
    .map(({ config }) => config)
}

/** Merges two objects: nested objects are merged, all other values come from the second. */
function overlaid(under: DocumentFields, over: DocumentFields): DocumentFields {
  const together = Object.entries(over).map(([name, value]) => {
    const below = Object.hasOwn(under, name) ? under[name] : undefined
    return [name, isFields(value) && isFields(below) ? overlaid(below, value) : value] as const
  })
  return Object.fromEntries([...Object.entries(under), ...together])
}

import type { FieldProblem } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import { isFields } from '../manifest.ts'
import type { ComposedDocument, LiveObjects, MissingValue } from './api.ts'
import { type EnvironmentData, type EnvironmentStep, environmentsOf, selectionOf } from './environment.ts'
import type { GraphExpansion } from './expand-graph.ts'
import { typeOfExpression } from './expression-type.ts'
import type { PathSegment } from './field-path.ts'
import { isCroftTemplate, SELF } from './graph.ts'
import { inOrder } from './in-order.ts'
import { kubernetesProblems } from './kubernetes-shapes.ts'
import {
  applied,
  type Complain,
  ENVIRONMENT_PATCHES,
  fieldsOf,
  listOf,
  meet,
  type Patch,
  patchOf,
  RESOURCE_PATCHES,
} from './patch.ts'
import { ANYTHING, type DocumentFields, type ProblemPath, TEXT, type ValueShape } from './shape.ts'

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
  /** Number of environment steps before it. */
  readonly after: number
  /** Index among the parts as written. */
  readonly index: number
}

/** A composition as read: the resources it makes, and the steps of its pipeline that fill the environment. */
export interface ReadComposition {
  readonly parts: readonly CompositionPart[]
  readonly environment: readonly EnvironmentStep[]
}

/** Reads what patch-and-transform would make, typed before there is an instance. What is wrong has the path of its field. */
export function readComposition(
  composition: DocumentFields,
  shapes: { readonly spec: ValueShape; readonly status: ValueShape },
): ReadComposition & { readonly problems: readonly FieldProblem[] } {
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
  const environment: EnvironmentStep[] = []
  for (const { selects, input, path } of inputsOf(composition, wrong)) {
    if (selects) {
      environment.push(selectionOf(input, path, composite, wrong))
      continue
    }
    const { resources, patchSets } = input
    const written = listOf(fieldsOf(input.environment).patches)
    if (written.length > 0)
      environment.push({
        does: 'patch',
        path: [...path, 'environment'],
        patches: written
          .flatMap((one, index) => {
            const at = [...path, 'environment', 'patches', index]
            return patchOf(fieldsOf(one), at, { types: ENVIRONMENT_PATCHES, composite }, wrong) ?? []
          })
          .filter((patch) => !withoutEffect(patch))
          .map((patch) => ({ ...patch, integers: false })),
      })
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
      // Warn only: a patch may still overwrite the wrong field.
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
          .flatMap(
            ({ patch, at: where }) => patchOf(patch, where, { types: RESOURCE_PATCHES, base, composite }, wrong) ?? [],
          )
          .filter((patch) => !withoutEffect(patch))
          .map((patch) => ({ ...patch, integers: !inPipeline })),
        readyWhen: listOf(readinessChecks).flatMap((check, number) =>
          checkOf(fieldsOf(check), base, [...at, 'readinessChecks', number], wrong),
        ),
        uses: [],
        after: environment.length,
        index: parts.length,
      })
    }
  }
  lateEnvironments(parts, environment, wrong)
  const { ordered, circle } = inOrder(withUses(parts, environment, wrong), ({ name }) => name)
  if (circle.length > 0)
    wrong(['spec'], `${circle.join(', ')} take values from each other: none of them could be first`)
  return { parts: ordered, environment, problems }
}

/** Returns the shape that patches may read of a composite. */
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

function isPipeline({ spec: written }: DocumentFields): boolean {
  const { mode, pipeline } = fieldsOf(written)
  return mode === 'Pipeline' || pipeline !== undefined
}

interface StepInput {
  /** Selects an environment; otherwise lists resources. */
  readonly selects: boolean
  readonly input: DocumentFields
  readonly path: ProblemPath
}

/** Returns the inputs to read: the composition itself, or the inputs of its pipeline's steps. */
function inputsOf(composition: DocumentFields, wrong: Complain): readonly StepInput[] {
  const spec = fieldsOf(composition.spec)
  if (!isPipeline(composition)) {
    const { environment, ...input } = spec
    if (environment !== undefined)
      wrong(
        ['spec', 'environment'],
        'an environment without a pipeline is not supported',
        'select it in a step with function-environment-configs',
      )
    return [{ selects: false, input, path: ['spec'] }]
  }
  return listOf(spec.pipeline).flatMap((entry, index): StepInput[] => {
    const { functionRef, input: written } = fieldsOf(entry)
    const input = fieldsOf(written)
    const name = String(fieldsOf(functionRef).name)
    // A function may be installed under any name; its input's group identifies it.
    const takes = String(input.apiVersion)
    const path: ProblemPath = ['spec', 'pipeline', index, 'input']
    // function-auto-ready only makes a composite ready with its parts, which croft does itself.
    if (/function-auto-ready(?:-|$)/.test(name)) return []
    if (takes.startsWith('environmentconfigs.fn.crossplane.io/') || /function-environment-configs(?:-|$)/.test(name))
      return [{ selects: true, input, path }]
    if (takes.startsWith('pt.fn.crossplane.io/') || /function-patch-and-transform(?:-|$)/.test(name))
      return [{ selects: false, input, path }]
    wrong(
      ['spec', 'pipeline', index, 'functionRef', 'name'],
      `croft runs no functions, so it cannot tell what ${name} makes`,
      'use function-patch-and-transform',
    )
    return []
  })
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

/** Refuses steps that read what an earlier resource writes to the environment: they would have to run again. */
function lateEnvironments(
  parts: readonly CompositionPart[],
  environment: readonly EnvironmentStep[],
  wrong: Complain,
): void {
  for (const { name, after, patches } of parts)
    for (const { target } of patches.filter(({ to }) => to === 'environment'))
      for (const step of environment.slice(after)) {
        const touches =
          step.does === 'select' ||
          step.patches.some((one) => [one.target, ...one.sources].some((path) => meet(path, target)))
        if (touches)
          wrong(
            step.path,
            `it comes after ${name}, which writes ${target.join('.')} to the environment`,
            'put it first',
          )
      }
}

/**
 * Orders parts by their use of the composite: a part that reads a field comes after the part that writes it, and waits
 * for values from its status. The environment starts empty on each run, so only later steps read what one step writes.
 */
function withUses(
  parts: readonly CompositionPart[],
  environment: readonly EnvironmentStep[],
  wrong: Complain,
): readonly CompositionPart[] {
  const writes = parts.flatMap(({ name, index, patches }) =>
    patches.flatMap(({ to, target, sources }, number) =>
      to === 'resource'
        ? []
        : [{ name, index, number, to, target, late: sources.some(([first]) => first === 'status') }],
    ),
  )
  const given = environment.flatMap((step) =>
    step.does === 'patch' ? step.patches.filter(({ to }) => to === 'composite').map(({ target }) => target) : [],
  )
  return parts.map((part) => {
    const uses = new Set<string>()
    const patches = part.patches.map((patch, place) => {
      if (patch.to !== 'resource') return patch
      const late = new Set<string>()
      for (const source of patch.sources) {
        const writers = writes.filter(
          ({ to, target, index, number }) =>
            to === patch.from &&
            meet(target, source) &&
            (to === 'composite' || index < part.index || (index === part.index && number < place)),
        )
        for (const writer of writers) {
          if (writer.name !== part.name) uses.add(writer.name)
          else if (patch.from === 'environment')
            wrong(
              [...patch.path, 'fromFieldPath'],
              `${part.name} takes ${source.join('.')} from the environment, where it has just put it itself`,
            )
          if (writer.late) late.add(writer.name)
        }
        if (
          writers.length === 0 &&
          patch.from === 'composite' &&
          source[0] === 'status' &&
          !given.some((target) => meet(target, source))
        )
          wrong([...patch.path, 'fromFieldPath'], `no patch of this composition writes ${source.join('.')}`)
      }
      if (late.has(part.name) && patch.from === 'composite')
        wrong(
          [...patch.path, 'fromFieldPath'],
          `${part.name} takes a value from its own status, which it has only later`,
        )
      return { ...patch, late: [...late] }
    })
    return { ...part, patches, uses: [...uses] }
  })
}

/** Returns what a resource waits for if a patch has no value: a late one, or a required one. */
function waitsFor(
  { from, late, required, target }: Patch,
  lacking: readonly PathSegment[],
  base: ProblemPath,
): readonly MissingValue[] {
  if (late.length === 0 && !required) return []
  const why = late.length > 0 ? undefined : `the patch requires it, and the ${from} does not say it`
  return [{ expression: lacking.join('.'), path: [...base, ...target], of: late, ...defined({ why }) }]
}

/**
 * Returns the documents of a composite. Pure: live objects are passed in. A resource waits for a missing value from the
 * status of another one, and for a field of the composite that one of its patches requires.
 */
export function expandComposition(
  { parts, environment }: ReadComposition,
  instance: DocumentFields,
  live: LiveObjects,
  configs: readonly EnvironmentData[],
): GraphExpansion {
  const environments = environmentsOf(environment, instance, configs)
  if ('problem' in environments) return environments
  let composite: unknown = environments.composite
  /** Patches from resources to the environment, with the indexes of both. */
  const written: { readonly index: number; readonly patch: Patch; readonly object: DocumentFields }[] = []
  const documents: ComposedDocument[] = []
  for (const { name, base, path, patches, readyWhen, uses, after, index } of parts) {
    let value: unknown = base
    let around: unknown = environments.states[after]
    for (const { patch, object } of written.filter((one) => one.index < index).sort((a, b) => a.index - b.index)) {
      const next = applied(patch, object, around)
      if ('problem' in next) return next
      if ('value' in next) around = next.value
    }
    const missing: MissingValue[] = []
    for (const patch of patches.filter(({ to }) => to === 'resource')) {
      const next = applied(patch, patch.from === 'environment' ? around : composite, value)
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
    for (const patch of patches.filter(({ to }) => to === 'environment')) {
      const next = applied(patch, object ?? made, around)
      if ('problem' in next) return next
      written.push({ index, patch, object: object ?? made })
    }
    documents.push({ id: name, value: made, path, uses, readyWhen, ...(missing.length === 0 ? {} : { missing }) })
  }
  return { documents }
}

/** Reports whether a resource takes values from the status of another one. */
export function readsStatus({ parts }: ReadComposition): boolean {
  return parts.some(({ patches }) => patches.some(({ late }) => late.length > 0))
}

/** Returns the status of a composite, as patches write it from the objects made for it. Pure. */
export function statusOfComposite(
  { parts, environment }: ReadComposition,
  instance: DocumentFields,
  made: ReadonlyMap<string, readonly DocumentFields[]>,
  configs: readonly EnvironmentData[],
): DocumentFields {
  const { status: _, ...bare } = instance
  const environments = environmentsOf(environment, bare, configs)
  let composite: unknown = 'problem' in environments ? {} : { status: environments.composite.status }
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

/** Crossplane's names are random; here the same composite always has the same parts. */
function named(base: DocumentFields, { metadata }: DocumentFields, part: string): DocumentFields {
  const own = fieldsOf(base.metadata)
  const { name, namespace } = fieldsOf(metadata)
  const { generateName: _, ...rest } = own
  return {
    ...base,
    metadata: defined({ name: `${String(name)}-${part}`.toLowerCase(), namespace, ...rest }),
  }
}

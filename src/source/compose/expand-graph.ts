import type { FieldProblem } from '../../kinds/kind.ts'
import { holds } from '../../lib/cel.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ObjectReference, referenceMistake } from '../../model/foreign-object.ts'
import { isFields } from '../manifest.ts'
import type { ComposedDocument, LiveObjects, MissingValue } from './api.ts'
import type { Graph, GraphResource } from './graph.ts'
import { isWithoutNamespace } from './graph-checks.ts'
import type { DocumentFields } from './shape.ts'
import { answersFrom, evaluatedAt, filled, NOT_YET, type TemplateAnswers, TemplateMistake } from './template.ts'

export type GraphExpansion =
  | { readonly documents: readonly ComposedDocument[] }
  /** A problem of the definition, for this instance. */
  | { readonly problem: FieldProblem }

/**
 * Returns the documents that an instance becomes. `schema` is the instance with the defaults of its schema. Pure: live
 * objects are passed in. A document with a value that is not known yet waits, and so do documents that read from it.
 */
export function expandGraph(graph: Graph, schema: DocumentFields, live: LiveObjects): GraphExpansion {
  const documents: ComposedDocument[] = []
  const names: Record<string, unknown> = Object.assign(Object.create(null), { schema })
  const left = new Set<string>()
  /** Resources whose objects are not all observed: values that only those hold are unknown. */
  const unseen = new Set<string>()
  /** Resources that wait themselves. */
  const waiting = new Set<string>()
  try {
    for (const resource of graph.resources) {
      const { id, path, uses, readyWhen } = resource
      if (uses.some((one) => left.has(one))) {
        left.add(id)
        continue
      }
      const missing: MissingValue[] = []
      const answersWith =
        (more: DocumentFields) =>
        (expression: string, at: FieldProblem['path']): unknown => {
          const asked = resource.late.get(expression) ?? []
          const wait = (why?: string) => {
            const of = asked.length > 0 ? asked : uses.filter((one) => waiting.has(one))
            missing.push({ expression, path: at, of, ...(why === undefined ? {} : { why }) })
            return NOT_YET
          }
          if (asked.some((one) => unseen.has(one))) return wait()
          try {
            return evaluatedAt(expression, { ...names, ...more }, at)
          } catch (error) {
            const hopeful = asked.length > 0 || uses.some((one) => waiting.has(one))
            if (!(error instanceof TemplateMistake) || !hopeful) throw error
            return wait(error.message.replace(`${expression}: `, ''))
          }
        }
      const included = isIncluded(resource, answersWith({}))
      if (included === false) {
        left.add(id)
        continue
      }
      const copies = included === NOT_YET ? NOT_YET : copiesOf(resource, answersWith({}))
      if (copies === NOT_YET) {
        waiting.add(id)
        unseen.add(id)
        const { apiVersion, kind } = resource.template
        if (!resource.external)
          documents.push({ id, value: { apiVersion, kind }, path, uses, readyWhen, missing: [...missing] })
        continue
      }
      const values = copies.map((iterators) => {
        missing.length = 0
        const value = filled(resource.template, answersWith(iterators), path)
        return { value: withNamespace(isFields(value) ? value : {}, schema), missing: [...missing] }
      })
      if (values.some((one) => one.missing.length > 0)) waiting.add(id)
      const objects = values.map(({ value, missing: lacks }, index) => {
        if (lacks.length > 0) return undefined
        if (!resource.external) return live.made({ id, value, path, index, count: values.length })
        const reference = referenceIn(value)
        const wrong = referenceMistake(reference)
        if (wrong !== undefined) throw new TemplateMistake(path, wrong)
        const found = live.external(reference, id)
        if (typeof found === 'string') throw new TemplateMistake(path, found)
        return readyExternal(found, readyWhen)
      })
      if (objects.includes(undefined)) unseen.add(id)
      const shown = values.map(({ value }, index) => objects[index] ?? value)
      names[id] = resource.forEach.length === 0 ? shown[0] : shown
      if (resource.external) continue
      documents.push(
        ...values.map(({ value, missing: lacks }) => ({
          id,
          value,
          path,
          uses,
          readyWhen,
          ...(lacks.length === 0 ? {} : { missing: lacks }),
        })),
      )
      if (documents.length > LIMITS.composedDocuments)
        throw new TemplateMistake(path, `an instance makes at most ${LIMITS.composedDocuments} objects`)
    }
  } catch (error) {
    if (!(error instanceof TemplateMistake)) throw error
    return { problem: { code: 'bad-expression', path: error.path, message: error.message } }
  }
  return { documents }
}

function referenceIn({ apiVersion, kind, metadata }: DocumentFields): ObjectReference {
  const { name, namespace } = isFields(metadata) ? metadata : {}
  return {
    apiVersion: String(apiVersion),
    kind: String(kind),
    name: String(name),
    ...(typeof namespace === 'string' ? { namespace } : {}),
  }
}

/** Returns the external object once it meets the graph's `readyWhen`. */
function readyExternal(object: DocumentFields | undefined, readyWhen: readonly string[]): DocumentFields | undefined {
  if (object === undefined) return undefined
  return readyWhen.every((expression) => holds(expression, object, 'self') === true) ? object : undefined
}

/** Returns the status of an instance: the fields whose expressions have values. Pure. */
export function statusOfGraph(
  { status, resources }: Graph,
  schema: DocumentFields,
  made: ReadonlyMap<string, readonly DocumentFields[]>,
): DocumentFields {
  const names: Record<string, unknown> = Object.assign(Object.create(null), { schema })
  for (const { id, forEach } of resources) {
    const objects = made.get(id) ?? []
    if (forEach.length > 0) names[id] = objects
    else if (objects[0] !== undefined) names[id] = objects[0]
  }
  const answered = (value: unknown, path: FieldProblem['path']): unknown => {
    if (isFields(value)) {
      const fields = Object.entries(value).flatMap(([name, one]) => {
        const found = answered(one, [...path, name])
        return found === undefined ? [] : [[name, found] as const]
      })
      return fields.length === 0 ? undefined : Object.fromEntries(fields)
    }
    try {
      return filled(value, answersFrom(names), path)
    } catch (error) {
      if (!(error instanceof TemplateMistake)) throw error
      return undefined
    }
  }
  const found = answered(status, ['status'])
  return isFields(found) ? found : {}
}

function isIncluded({ includeWhen, path }: GraphResource, answers: TemplateAnswers): boolean | typeof NOT_YET {
  for (const [index, expression] of includeWhen.entries()) {
    const at = [...path.slice(0, -1), 'includeWhen', index]
    const value = answers(expression, at)
    if (value === NOT_YET) return NOT_YET
    if (typeof value !== 'boolean') throw new TemplateMistake(at, `${expression} is neither true nor false`)
    if (!value) return false
  }
  return true
}

/** The names of forEach in every combination, the last one changing fastest. */
function copiesOf({ forEach }: GraphResource, answers: TemplateAnswers): readonly DocumentFields[] | typeof NOT_YET {
  let copies: readonly DocumentFields[] = [{}]
  for (const { name, expression, path } of forEach) {
    const list = answers(expression, path)
    if (list === NOT_YET) return NOT_YET
    if (!Array.isArray(list)) throw new TemplateMistake(path, `${expression} is not a list`)
    if (copies.length * list.length > LIMITS.composedDocuments)
      throw new TemplateMistake(path, `an instance makes at most ${LIMITS.composedDocuments} objects`)
    copies = copies.flatMap((before) => list.map((one: unknown) => ({ ...before, [name]: one })))
  }
  return copies
}

/** Adds the instance's namespace to an object without one. */
function withNamespace(value: DocumentFields, schema: DocumentFields): DocumentFields {
  const own = isFields(value.metadata) ? value.metadata : {}
  const namespace = isFields(schema.metadata) ? schema.metadata.namespace : undefined
  if (namespace === undefined || own.namespace !== undefined || isWithoutNamespace(value)) return value
  return { ...value, metadata: { ...own, namespace } }
}

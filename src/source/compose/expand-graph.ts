import type { FieldProblem } from '../../kinds/kind.ts'
import { LIMITS } from '../../lib/limits.ts'
import { isFields } from '../manifest.ts'
import type { ComposedDocument } from './api.ts'
import type { Graph, GraphResource } from './graph.ts'
import type { DocumentFields } from './shape.ts'
import { evaluatedAt, filled, TemplateMistake } from './template.ts'

export type GraphExpansion =
  | { readonly documents: readonly ComposedDocument[] }
  /** What is wrong in the definition, for this instance. */
  | { readonly problem: FieldProblem }

/** What an instance becomes. `schema` is the instance with the defaults of its schema. Pure. */
export function expandGraph(graph: Graph, schema: DocumentFields): GraphExpansion {
  const documents: ComposedDocument[] = []
  const names: Record<string, unknown> = Object.assign(Object.create(null), { schema })
  const left = new Set<string>()
  try {
    for (const resource of graph.resources) {
      if (resource.uses.some((id) => left.has(id)) || !isIncluded(resource, names)) {
        left.add(resource.id)
        continue
      }
      const copies = copiesOf(resource, names)
      const values = copies.map((iterators) => {
        const value = filled(resource.template, { ...names, ...iterators }, resource.path)
        return withNamespace(isFields(value) ? value : {}, schema)
      })
      const { id, path, uses, readyWhen } = resource
      documents.push(...values.map((value) => ({ id, value, path, uses, readyWhen })))
      if (documents.length > LIMITS.composedDocuments)
        throw new TemplateMistake(path, `an instance makes at most ${LIMITS.composedDocuments} objects`)
      names[id] = resource.forEach.length === 0 ? values[0] : values
    }
  } catch (error) {
    if (!(error instanceof TemplateMistake)) throw error
    return { problem: { code: 'bad-expression', path: error.path, message: error.message } }
  }
  return { documents }
}

/** The status of an instance: each of its fields whose expressions can be answered by what is there. Pure. */
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
      return filled(value, names, path)
    } catch (error) {
      if (!(error instanceof TemplateMistake)) throw error
      return undefined
    }
  }
  const found = answered(status, ['status'])
  return isFields(found) ? found : {}
}

function isIncluded({ includeWhen, path }: GraphResource, names: DocumentFields): boolean {
  return includeWhen.every((expression, index) => {
    const at = [...path.slice(0, -1), 'includeWhen', index]
    const value = evaluatedAt(expression, names, at)
    if (typeof value !== 'boolean') throw new TemplateMistake(at, `${expression} is neither true nor false`)
    return value
  })
}

/** The names of forEach in every combination, the last one changing fastest. */
function copiesOf({ forEach }: GraphResource, names: DocumentFields): readonly DocumentFields[] {
  let copies: readonly DocumentFields[] = [{}]
  for (const { name, expression, path } of forEach) {
    const list = evaluatedAt(expression, names, path)
    if (!Array.isArray(list)) throw new TemplateMistake(path, `${expression} is not a list`)
    if (copies.length * list.length > LIMITS.composedDocuments)
      throw new TemplateMistake(path, `an instance makes at most ${LIMITS.composedDocuments} objects`)
    copies = copies.flatMap((before) => list.map((one: unknown) => ({ ...before, [name]: one })))
  }
  return copies
}

/** What says no namespace is in that of its instance. */
function withNamespace(value: DocumentFields, schema: DocumentFields): DocumentFields {
  const own = isFields(value.metadata) ? value.metadata : {}
  const namespace = isFields(schema.metadata) ? schema.metadata.namespace : undefined
  if (namespace === undefined || own.namespace !== undefined) return value
  return { ...value, metadata: { ...own, namespace } }
}

import { z } from 'zod'
import { findKind } from '../../kinds/registry.ts'
import { isFields } from '../manifest.ts'
import { kubernetesShape } from './kubernetes-shapes.ts'
import type { ValueShape } from './shape.ts'

type Node = Readonly<Record<string, unknown>>
type TypeWord = NonNullable<ValueShape['type']>

const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array'])
const schemas = new Map<string, Node>()

/** Returns the types that a field of a croft kind, or of a built-in kind, may have. Undefined: not known. */
export function templateShape(template: Node, path: readonly (string | number)[]): readonly TypeWord[] | undefined {
  const { apiVersion, kind } = template
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined
  const object = kubernetesShape(template)
  if (object !== undefined && path[0] !== 'metadata') return objectField(object, path)
  if (path[0] !== 'spec') return everyObject(path)
  const known = findKind(apiVersion, kind)
  if (known === undefined) return undefined
  const root =
    schemas.get(known.kind) ?? (z.toJSONSchema(known.schema, { io: 'input', unrepresentable: 'any' }) as Node)
  schemas.set(known.kind, root)
  let nodes: readonly Node[] = alternatives(root, root)
  for (const step of path.slice(1)) {
    nodes = nodes.flatMap((node) => {
      const inner = stepInto(node, step)
      return isFields(inner) ? alternatives(inner, root) : []
    })
  }
  const words = nodes.flatMap((node) => wordsOf(node))
  if (nodes.length === 0 || words.includes(undefined)) return undefined
  const found = new Set(words as readonly TypeWord[])
  if (found.has('number')) found.add('integer')
  return [...found]
}

const TEXTS: ReadonlySet<string> = new Set(['metadata.labels', 'metadata.annotations'])

/** Outside of the spec: names and texts that have the same type in every cluster. */
function everyObject(path: readonly (string | number)[]): readonly TypeWord[] | undefined {
  const [last, ...before] = path.toReversed()
  if (TEXTS.has(before.toReversed().join('.'))) return ['string']
  if (TEXTS.has(path.join('.'))) return ['object']
  return path[0] === 'metadata' && path.length === 2 && (last === 'name' || last === 'namespace')
    ? ['string']
    : undefined
}

function objectField(object: ValueShape, path: readonly (string | number)[]): readonly TypeWord[] | undefined {
  let at: ValueShape | true | undefined = object
  for (const step of path) {
    if (at === undefined || at === true) return undefined
    const { items, properties = {}, additionalProperties }: ValueShape = at
    at = typeof step === 'number' ? items : Object.hasOwn(properties, step) ? properties[step] : additionalProperties
  }
  if (at === undefined || at === true || at.type === undefined) return undefined
  return at.type === 'number' ? ['number', 'integer'] : [at.type]
}

/** Kinds of the provider read an entry for a list of one and a list of one for its entry: so does this. */
function stepInto(node: Node, step: string | number): unknown {
  const { items, properties, additionalProperties } = node
  if (typeof step === 'number') return isFields(items) ? items : isFields(properties) ? node : undefined
  if (isFields(properties) && Object.hasOwn(properties, step)) return properties[step]
  if (isFields(items) && isFields(items.properties) && Object.hasOwn(items.properties, step))
    return items.properties[step]
  return additionalProperties
}

function alternatives(node: Node, root: Node): readonly Node[] {
  if (typeof node.$ref === 'string') {
    const target = node.$ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, part) => (isFields(at) ? at[part] : undefined), root)
    return isFields(target) ? alternatives(target, root) : [{}]
  }
  const several = [node.anyOf, node.oneOf, node.allOf].flatMap((one) => (Array.isArray(one) ? one : []))
  return several.length === 0 ? [node] : several.flatMap((one) => (isFields(one) ? alternatives(one, root) : [{}]))
}

function wordsOf({ type, const: constant, enum: values }: Node): readonly (TypeWord | undefined)[] {
  if (TYPES.has(type)) return [type as TypeWord]
  const some = constant === undefined ? values : [constant]
  if (!Array.isArray(some)) return [undefined]
  return some.map((value) => {
    const word = typeof value
    return word === 'string' || word === 'number' || word === 'boolean' ? word : undefined
  })
}

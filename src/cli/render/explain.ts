import type { Kind } from '../../kinds/kind.ts'
import { nearest } from '../../lib/nearest.ts'
import { UsageError } from '../verb.ts'
import { clean, type Style } from './text.ts'

type ExplainedKind = Pick<Kind, 'kind' | 'apiVersion' | 'plural' | 'shortNames' | 'summary'>

const DEPTH = 3
/** A description goes on a separate line if its line would become longer than this. */
const WIDTH = 100

/**
 * Explains a kind and the fields of its spec, from the schema that checks manifests. With a path (`spec.upgrade`, or
 * `upgrade`), one field.
 */
export function renderExplanation(
  kind: ExplainedKind,
  schema: unknown,
  style: Style,
  path: readonly string[] = [],
): string {
  if (path.length > 0) return renderField(kind, schema, style, path[0] === 'spec' ? path.slice(1) : path)
  const names = [kind.plural, ...kind.shortNames].join(', ')
  const head = [
    `${style.paint('bold', 'KIND:')}        ${kind.kind}`,
    `${style.paint('bold', 'APIVERSION:')}  ${kind.apiVersion}`,
    `${style.paint('bold', 'NAMES:')}       ${names}`,
    '',
    kind.summary,
    '',
    style.paint('bold', 'FIELDS:'),
  ]
  return `${[...head, ...fieldLines(specOf(schema), nodeOf(schema), 1)].join('\n')}\n\nThe whole schema: croft schema ${kind.kind}\n`
}

function renderField(kind: ExplainedKind, schema: unknown, style: Style, path: readonly string[]): string {
  const root = nodeOf(schema)
  let node = specOf(schema)
  let mark = ''
  for (const [index, part] of path.entries()) {
    const within = inner(node, root)
    const properties = nodeOf(within.properties)
    const raw = Object.hasOwn(properties, part) ? properties[part] : undefined
    if (raw === undefined) {
      const at = [kind.kind, 'spec', ...path.slice(0, index)].join('.')
      const names = Object.keys(properties).map((name) => clean(name))
      const meant = nearest(part, names)
      const there = names.length === 0 ? 'It has no fields.' : `It has: ${names.join(', ')}.`
      throw new UsageError(
        `${at} has no field ${clean(part)}. ${meant === undefined ? '' : `Did you mean ${meant}? `}${there}`,
      )
    }
    mark = Array.isArray(within.required) && within.required.includes(part) ? ' -required-' : ''
    node = resolved(nodeOf(raw), root)
  }
  const fields = fieldLines(inner(node, root), root, 1)
  const lines = [
    `${style.paint('bold', 'KIND:')}   ${kind.kind}`,
    `${style.paint('bold', 'FIELD:')}  ${clean(['spec', ...path].join('.'))} <${typeOf(node, root)}>${mark}`,
    ...(typeof node.description === 'string' ? ['', clean(node.description)] : []),
    ...(node.default === undefined ? [] : ['', `Default: ${clean(JSON.stringify(node.default))}`]),
    ...(fields.length === 0 ? [] : ['', style.paint('bold', 'FIELDS:'), ...fields]),
  ]
  return `${lines.join('\n')}\n`
}

type SchemaNode = Readonly<Record<string, unknown>>

function specOf(schema: unknown): SchemaNode {
  const root = nodeOf(schema)
  const spec = nodeOf(nodeOf(root.properties).spec)
  return Object.keys(spec).length > 0 ? resolved(spec, root) : root
}

function fieldLines(node: SchemaNode, root: SchemaNode, depth: number): readonly string[] {
  const properties = Object.entries(nodeOf(node.properties))
  const required = new Set(Array.isArray(node.required) ? node.required : [])
  return properties.flatMap(([name, raw]) => {
    const field = resolved(nodeOf(raw), root)
    const mark = required.has(name) ? ' -required-' : ''
    const head = `${'  '.repeat(depth)}${clean(name)} <${typeOf(field, root)}>${mark}`
    const lines = withDescription(head, field.description, depth)
    return depth < DEPTH ? [...lines, ...fieldLines(inner(field, root), root, depth + 1)] : lines
  })
}

function withDescription(head: string, description: unknown, depth: number): readonly string[] {
  if (typeof description !== 'string') return [head]
  const line = `${head}  ${clean(description)}`
  return line.length <= WIDTH ? [line] : [head, ...wrapped(clean(description), '  '.repeat(depth + 2))]
}

function wrapped(text: string, indent: string): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > WIDTH) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

// A field that may be a list or an object (Crossplane has both) is shown by its object, a map by its values.
function inner(field: SchemaNode, root: SchemaNode): SchemaNode {
  if (field.items !== undefined) return inner(resolved(nodeOf(field.items), root), root)
  if (isMap(field)) return inner(resolved(nodeOf(field.additionalProperties), root), root)
  const branch = branches(field, root).find(
    (one) => one.properties !== undefined || one.items !== undefined || isMap(one),
  )
  return branch === undefined ? field : inner(branch, root)
}

function typeOf(field: SchemaNode, root: SchemaNode): string {
  if (Array.isArray(field.enum)) return field.enum.map(String).join('|')
  if (field.const !== undefined) return JSON.stringify(field.const)
  if (field.type === 'array') return `[]${typeOf(resolved(nodeOf(field.items), root), root)}`
  if (isMap(field)) return `map[string]${typeOf(resolved(nodeOf(field.additionalProperties), root), root)}`
  if (typeof field.type === 'string') return field.type
  const kinds = [...new Set(branches(field, root).map((one) => typeOf(one, root)))]
  return kinds.length > 0 ? kinds.join(' or ') : 'any'
}

function isMap({ properties, additionalProperties }: SchemaNode): boolean {
  return properties === undefined && Object.keys(nodeOf(additionalProperties)).length > 0
}

function branches(field: SchemaNode, root: SchemaNode): readonly SchemaNode[] {
  const many = field.anyOf ?? field.oneOf ?? field.allOf
  return Array.isArray(many) ? many.map((one) => resolved(nodeOf(one), root)) : []
}

function resolved(node: SchemaNode, root: SchemaNode): SchemaNode {
  const reference = node.$ref
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return node
  const found = reference
    .slice(2)
    .split('/')
    .reduce<unknown>((at, part) => nodeOf(at)[part], root)
  return { ...nodeOf(found), ...Object.fromEntries(Object.entries(node).filter(([name]) => name !== '$ref')) }
}

function nodeOf(value: unknown): SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as SchemaNode) : {}
}

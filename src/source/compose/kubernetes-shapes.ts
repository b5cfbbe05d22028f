import { unknownField } from '../../kinds/fields/explain.ts'
import { fieldProblem } from '../../kinds/fields/problem.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { isFields } from '../manifest.ts'
import { KUBERNETES_BLOCKS, KUBERNETES_KINDS } from './kubernetes-facts.ts'
import {
  ANYTHING,
  type DocumentFields,
  isOfType,
  type ProblemPath,
  shapeWord,
  shown,
  type ValueShape,
} from './shape.ts'
import { piecesOf } from './template.ts'

const LETTERS: Readonly<Record<string, ValueShape>> = {
  s: { type: 'string' },
  i: { type: 'integer' },
  n: { type: 'number' },
  b: { type: 'boolean' },
  '*': ANYTHING,
}
const read = new Map<string, ValueShape>()
let tables: { readonly kinds: ReadonlyMap<string, string>; readonly blocks: ReadonlyMap<string, string> } | undefined

/** Returns the shape of a built-in kind, without its metadata. Undefined for other kinds. */
export function kubernetesShape({ apiVersion, kind }: DocumentFields): ValueShape | undefined {
  tables ??= { kinds: table(KUBERNETES_KINDS), blocks: table(KUBERNETES_BLOCKS) }
  const name = `${String(apiVersion)} ${String(kind)}`
  return tables.kinds.has(name) ? blockShape(name, tables.kinds) : undefined
}

function table(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => {
        const at = line.indexOf(': ')
        return [line.slice(0, at), line.slice(at + 2)]
      }),
  )
}

function blockShape(name: string, blocks: ReadonlyMap<string, string>): ValueShape {
  const known = read.get(name)
  if (known !== undefined) return known
  const properties: Record<string, ValueShape> = {}
  const shape: ValueShape = { type: 'object', properties }
  // Register the shape before reading its fields: one of them may have the same type.
  read.set(name, shape)
  for (const field of (blocks.get(name) ?? '').split(', ')) {
    const [called = '', type = '*'] = field.split(' ')
    properties[called] = shapeOfWord(type)
  }
  return shape
}

function shapeOfWord(word: string): ValueShape {
  if (word.startsWith('[]')) return { type: 'array', items: shapeOfWord(word.slice(2)) }
  if (word.startsWith('{}')) return { type: 'object', additionalProperties: shapeOfWord(word.slice(2)) }
  return LETTERS[word] ?? blockShape(word, tables?.blocks ?? new Map())
}

/** Fields that all objects have and that are checked alike. */
const ENVELOPE: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])
/** Kubernetes reads these without quotes as true or false. */
const BOOLEAN_WORD = /^(?:y|yes|no?|on|off)$/i

/** Values of wrong types in a template are errors. Names that we do not know are warnings: a newer Kubernetes may have them. */
export function kubernetesProblems(template: DocumentFields, path: ProblemPath): readonly FieldProblem[] {
  const shape = kubernetesShape(template)
  if (shape === undefined) return []
  const body = Object.fromEntries(Object.entries(template).filter(([field]) => !ENVELOPE.has(field)))
  const problems: FieldProblem[] = []
  visit(body, shape, path, problems)
  return problems
}

function visit(value: unknown, shape: ValueShape, at: ProblemPath, problems: FieldProblem[]): void {
  const { type, properties = {}, additionalProperties, items } = shape
  if (type === undefined || value === null || value === undefined || isLeftToExpression(value)) return
  if (type === 'boolean' && typeof value === 'string' && BOOLEAN_WORD.test(value)) return
  if (!isOfType(value, type)) {
    const name = String(at.findLast((step) => typeof step === 'string') ?? 'it')
    problems.push(fieldProblem('wrong-type', at, `${name} is ${shown(value)}; it must be ${shapeWord(shape)}`))
  } else if (Array.isArray(value))
    for (const [index, one] of value.entries()) visit(one, items ?? ANYTHING, [...at, index], problems)
  else if (isFields(value))
    for (const [field, one] of Object.entries(value)) {
      const inner = Object.hasOwn(properties, field) ? properties[field] : additionalProperties
      if (inner !== undefined && inner !== true) visit(one, inner, [...at, field], problems)
      else if (inner === undefined && !field.includes('${'))
        problems.push({ ...unknownField([...at, field], field, Object.keys(properties)), severity: 'warning' })
    }
}

/** Reports whether the value is one expression, typed separately, or is unreadable, which is reported elsewhere. */
function isLeftToExpression(value: unknown): boolean {
  if (typeof value !== 'string' || !value.includes('${')) return false
  const pieces = piecesOf(value)
  return typeof pieces === 'string' || pieces.length === 1
}

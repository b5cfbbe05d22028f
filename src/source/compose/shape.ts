import { unknownField } from '../../kinds/fields/explain.ts'
import type { FieldProblem } from '../../kinds/kind.ts'
import { evaluate } from '../../lib/cel.ts'
import { foreignPattern } from '../../lib/foreign-pattern.ts'
import { isFields } from '../manifest.ts'

/** A document, or a block in one. */
export type DocumentFields = Readonly<Record<string, unknown>>
export type ProblemPath = FieldProblem['path']

/** The type of a value, in the part of JSON Schema that Kubernetes and kro use. An empty one is any value. */
export interface ValueShape {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'object' | 'array'
  readonly properties?: Readonly<Record<string, ValueShape>>
  readonly required?: readonly string[]
  readonly items?: ValueShape
  /** For maps. True: any value. */
  readonly additionalProperties?: ValueShape | true
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly uniqueItems?: boolean
  /** Conditions on the whole value. */
  readonly rules?: readonly ValueRule[]
  readonly default?: unknown
  readonly description?: string
}

/** A CEL expression about `self`, and the message if it fails. */
export interface ValueRule {
  readonly rule: string
  readonly message?: string
}

export const ANYTHING: ValueShape = {}
export const TEXT: ValueShape = { type: 'string' }

/** The value with the defaults of its shape, and what is wrong with it. */
export function conform(
  shape: ValueShape,
  value: unknown,
  path: ProblemPath,
): { readonly value: unknown; readonly problems: readonly FieldProblem[] } {
  const wrong = (message: string, code = 'bad-value') => ({ value, problems: [{ code, path, message }] })
  const name = String(path.findLast((step) => typeof step === 'string') ?? 'it')
  const { type } = shape
  if (type !== undefined && !isOfType(value, type))
    return wrong(`${name} is ${shown(value)}; it must be ${WORDS[type]}`, 'wrong-type')
  if (shape.enum !== undefined && !shape.enum.includes(value))
    return wrong(`${name} is ${shown(value)}; it may be ${shape.enum.map(shown).join(', ')}`)
  const limit = limitProblem(shape, value)
  if (limit !== undefined) return wrong(`${name} is ${shown(value)}; ${limit}`)
  const found = Array.isArray(value)
    ? conformList(shape, value, path)
    : type === 'object' && isFields(value)
      ? conformFields(shape, value, path)
      : { value, problems: [] }
  // Rules may rely on valid types.
  if (found.problems.length > 0) return found
  const broken = (shape.rules ?? []).flatMap((one) => brokenRule(one, found.value) ?? [])
  return { ...found, problems: broken.map((why) => ({ code: 'bad-value', path, message: `${name}: ${why}` })) }
}

/** Returns why a rule fails; undefined if it holds. */
function brokenRule({ rule, message }: ValueRule, self: unknown): string | undefined {
  const answer = evaluate(rule, { self })
  if ('problem' in answer) return `its rule ${rule} cannot be checked: ${answer.problem}`
  return answer.value === true ? undefined : (message ?? `it must be that ${rule}`)
}

function conformList(shape: ValueShape, value: readonly unknown[], path: ProblemPath) {
  const items = value.map((one, index) => conform(shape.items ?? ANYTHING, one, [...path, index]))
  return { value: items.map((one) => one.value), problems: items.flatMap(({ problems }) => problems) }
}

function conformFields(shape: ValueShape, value: Readonly<Record<string, unknown>>, path: ProblemPath) {
  const { properties = {}, additionalProperties, required = [] } = shape
  const result: Record<string, unknown> = Object.create(null)
  const problems: FieldProblem[] = []
  for (const [field, one] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, field) ? properties[field] : additionalProperties
    if (inner === undefined) problems.push(unknownField([...path, field], field, Object.keys(properties)))
    else {
      const found = inner === true ? { value: one, problems: [] } : conform(inner, one, [...path, field])
      result[field] = found.value
      problems.push(...found.problems)
    }
  }
  for (const [field, inner] of Object.entries(properties)) {
    if (Object.hasOwn(result, field)) continue
    const filled = defaultOf(inner)
    if (filled !== undefined) result[field] = filled
    else if (required.includes(field) && !Object.hasOwn(value, field))
      problems.push({ code: 'missing-field', path: [...path, field], message: `${field} is missing` })
  }
  return { value: result, problems }
}

/** Returns the default of an absent value: its own, or an object of its fields' defaults. */
function defaultOf({ default: own, type, properties = {} }: ValueShape): unknown {
  if (own !== undefined) return own
  if (type !== 'object') return undefined
  const inside = Object.entries(properties).flatMap(([field, inner]) => {
    const value = defaultOf(inner)
    return value === undefined ? [] : [[field, value] as const]
  })
  return inside.length === 0 ? undefined : Object.fromEntries(inside)
}

const WORDS: Readonly<Record<NonNullable<ValueShape['type']>, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a block of fields',
  array: 'a list',
}

/** A word for a shape, for messages. */
export function shapeWord({ type }: ValueShape): string {
  return type === undefined ? 'anything' : WORDS[type]
}

export function isOfType(value: unknown, type: NonNullable<ValueShape['type']>): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value)
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isFields(value)
    default:
      return typeof value === type
  }
}

function limitProblem(shape: ValueShape, value: unknown): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern } = shape
  if (typeof value === 'number') {
    if (minimum !== undefined && value < minimum) return `it must be ${minimum} or more`
    if (maximum !== undefined && value > maximum) return `it must be ${maximum} or less`
  }
  if (typeof value === 'string') {
    if (minLength !== undefined && value.length < minLength) return `it must have ${minLength} characters or more`
    if (maxLength !== undefined && value.length > maxLength) return `it must have ${maxLength} characters or fewer`
    if (pattern !== undefined && !foreignPattern(pattern).finds(value)) return `it must match ${pattern}`
  }
  if (Array.isArray(value)) {
    if (minItems !== undefined && value.length < minItems) return `it must have ${minItems} entries or more`
    if (maxItems !== undefined && value.length > maxItems) return `it must have ${maxItems} entries or fewer`
    if (shape.uniqueItems === true && new Set(value.map((one) => JSON.stringify(one))).size < value.length)
      return 'it has an entry twice'
  }
  return undefined
}

export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return isFields(value) ? 'a block of fields' : (JSON.stringify(value)?.slice(0, 80) ?? 'nothing')
}

/** Returns the shape of an OpenAPI definition, as far as croft reads it. The cluster's API server checks the rest. */
export function shapeOf(schema: unknown): ValueShape {
  if (!isFields(schema)) return ANYTHING
  const { type, properties, items, additionalProperties } = schema
  const open =
    schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true
      ? { additionalProperties: true as const }
      : isFields(additionalProperties)
        ? { additionalProperties: shapeOf(additionalProperties) }
        : {}
  const known =
    typeof type === 'string' && Object.hasOwn(WORDS, type) ? { type: type as NonNullable<ValueShape['type']> } : {}
  const fields = isFields(properties)
    ? { properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, shapeOf(inner)])) }
    : {}
  const bare = type === 'object' && !isFields(properties) && additionalProperties === undefined
  return {
    ...known,
    ...fields,
    ...(bare ? { additionalProperties: true as const } : open),
    ...(items === undefined ? {} : { items: shapeOf(items) }),
    ...limitsOf(schema),
  }
}

const NUMBERS = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const

function limitsOf(schema: Readonly<Record<string, unknown>>): ValueShape {
  const numbers = NUMBERS.flatMap((name) => (typeof schema[name] === 'number' ? [[name, schema[name]] as const] : []))
  const { required, enum: values, pattern, description } = schema
  const rules = rulesOf(schema['x-kubernetes-validations'])
  return {
    ...Object.fromEntries(numbers),
    ...(schema['x-kubernetes-list-type'] === 'set' ? { uniqueItems: true } : {}),
    ...(rules.length === 0 ? {} : { rules }),
    ...(Array.isArray(required) ? { required: required.map(String) } : {}),
    ...(Array.isArray(values) ? { enum: values } : {}),
    ...(typeof pattern === 'string' ? { pattern } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema.default === undefined ? {} : { default: schema.default }),
  }
}

/** Rules about a change need the object from before, which only a cluster has. */
function rulesOf(written: unknown): readonly ValueRule[] {
  return (Array.isArray(written) ? written : []).filter(isFields).flatMap(({ rule, message }) => {
    if (typeof rule !== 'string' || /\boldSelf\b/.test(rule)) return []
    return [{ rule, ...(typeof message === 'string' ? { message } : {}) }]
  })
}

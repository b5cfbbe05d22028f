import { type Format, type Known, splitList } from './formats/format.ts'
import { FORMATS } from './formats/registry.ts'
import type { Operation } from './operations.ts'
import { parsePropertyString } from './property-string.ts'
import type { Fields, Keys, Shape } from './shape.ts'

export type Checked = { readonly values: Record<string, unknown> } | { readonly errors: Record<string, string> }

const UNKNOWN = 'property is not defined in schema and the schema does not allow additional properties'
const MISSING = 'property is missing and it is not optional'

/**
 * What the daemon's own check says to the parameters of a call, those of the path among them.
 * Good ones come back as what they mean: integers and numbers as numbers, booleans as 0 or 1, everything else as it came.
 */
export function checkParams(
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  known: Known = {},
): Checked {
  const errors = new Map<string, string>()
  const given = new Map(Object.entries(params).filter(([, value]) => value !== undefined && value !== null))
  checkFields({ fields: operation.parameters, required: operation.required }, given, '', operation.open, {
    errors,
    known,
  })
  if (errors.size > 0) return { errors: Object.fromEntries(errors) }
  const values: Record<string, unknown> = {}
  for (const [name, value] of given) values[name] = meaningOf(value, operation.parameters.get(name)?.shape)
  return { values }
}

/** Over HTTP a list may be sent as one value and one value as a list; the daemon sets that right before it checks. */
export function withLists(operation: Operation, params: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      const shape = operation.parameters.get(name)?.shape
      if (shape?.type === 'array' && typeof value === 'string') return [name, value.split('\0')]
      const joins = shape?.type === 'string' && /-a?list$/.test(shape.format ?? '')
      return [name, joins && Array.isArray(value) ? value.join('\0') : value]
    }),
  )
}

type Errors = Map<string, string>

interface Run {
  readonly errors: Errors
  readonly known: Known
}

function checkFields(
  { fields, required }: Fields,
  given: ReadonlyMap<string, unknown>,
  path: string,
  open: boolean,
  run: Run,
): void {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  for (const { name, shape } of required) {
    const place = given.has(name) ? undefined : placeOf(shape, given)
    if (place) addError(run.errors, `${place.prefix}${at(name)}`, MISSING)
  }
  for (const [name, value] of given) {
    const field = fields.get(name)
    const place = field && placeOf(field.shape, given)
    if (!place) {
      if (field || !open) addError(run.errors, at(name), UNKNOWN)
      continue
    }
    const { requires } = place.shape
    checkValue(value, place.shape, `${place.prefix}${at(name)}`, run)
    if (requires !== undefined && !given.has(requires)) {
      addError(run.errors, at(requires), `missing property required by '${at(name)}'`)
    }
  }
}

/** A parameter that goes with certain types only is unknown to the others; that is undefined here. */
function placeOf(shape: Shape, given: ReadonlyMap<string, unknown>): { shape: Shape; prefix: string } | undefined {
  const { when } = shape
  if (!when) return { shape, prefix: '' }
  const type = given.get(when.by)
  if (type === undefined && !when.branch) return { shape, prefix: '' }
  const found = when.cases.find((one) => one.values.includes(String(type)))
  return found && { shape: found.shape ?? shape, prefix: when.branch ? `oneOf[${String(type)}].` : '' }
}

function checkValue(value: unknown, shape: Shape, path: string, run: Run): void {
  const wrongType = typeError(value, shape.type)
  if (wrongType !== undefined) {
    addError(run.errors, path, wrongType)
    return
  }
  if (Array.isArray(value)) {
    const { items } = shape
    if (items) for (const [index, item] of value.entries()) checkValue(item, items, `${path}[${index}]`, run)
    return
  }
  const complaint = textError(plainText(value), shape, path, run.known)
  if (complaint !== undefined) addError(run.errors, path, complaint)
}

function typeError(value: unknown, type: Shape['type']): string | undefined {
  if (type === 'array') return Array.isArray(value) ? undefined : "type check ('array') failed"
  if (Array.isArray(value)) return `type check ('${type}') failed - got ARRAY`
  if (typeof value === 'object') return `type check ('${type}') failed - got HASH`
  const text = plainText(value)
  if (type === 'string') return undefined
  const right =
    type === 'boolean' ? text === '0' || text === '1' : type === 'integer' ? /^[+-]?\d+$/.test(text) : isNumber(text)
  return right ? undefined : `type check ('${type}') failed - got '${text}'`
}

/** The daemon stops at the first thing that is wrong with a text, in this order. */
function textError(text: string, shape: Shape, path: string, known: Known): string | undefined {
  const badFormat = shapeFormatError(text, shape, path, known)
  if (badFormat !== undefined) return `invalid format - ${badFormat}\n`
  if (shape.pattern && !shape.pattern.test(text)) return 'value does not match the regex pattern'
  const length = [...text].length
  if (shape.maxLength !== undefined && length > shape.maxLength) {
    return `value may only be ${shape.maxLength} characters long`
  }
  if (shape.minLength !== undefined && length < shape.minLength) {
    return `value must be at least ${shape.minLength} characters long`
  }
  if (isNumber(text)) {
    const number = Number(text)
    if (shape.maximum !== undefined && number > shape.maximum)
      return `value must have a maximum value of ${shape.maximum}`
    if (shape.minimum !== undefined && number < shape.minimum)
      return `value must have a minimum value of ${shape.minimum}`
  }
  if (shape.choices && !shape.choices.includes(text)) {
    return `value '${text}' does not have a value in the enumeration '${shape.choices.join(', ')}'`
  }
  return undefined
}

function shapeFormatError(text: string, shape: Shape, path: string, known: Known): string | undefined {
  if (shape.keys) return keysError(text, { keys: shape.keys }, path, known)
  return shape.format === undefined ? undefined : formatError(text, shape.format, path, known)
}

function formatError(text: string, name: string, path: string, known: Known): string | undefined {
  const format = FORMATS[name]
  if (format) return oneFormatError(text, format, path, known)
  const list = /^(.*)-a?list$/.exec(name)?.[1]
  if (list !== undefined) return firstError(splitList(text), FORMATS[list], path, known)
  const optional = /^(.*)-opt$/.exec(name)?.[1]
  // An empty text and "0" are no value at all where the value may be missing.
  if (optional !== undefined && text !== '' && text !== '0') return firstError([text], FORMATS[optional], path, known)
  return undefined
}

function firstError(
  texts: readonly string[],
  format: Format | undefined,
  path: string,
  known: Known,
): string | undefined {
  if (!format) return undefined
  for (const text of texts) {
    const complaint = oneFormatError(text, format, path, known)
    if (complaint !== undefined) return complaint
  }
  return undefined
}

function oneFormatError(text: string, format: Format, path: string, known: Known): string | undefined {
  return 'keys' in format ? keysError(text, format, path, known) : format.judge(text)
}

function keysError(
  text: string,
  format: Extract<Format, { keys: Keys }>,
  path: string,
  known: Known,
): string | undefined {
  const parsed = parsePropertyString(text, format.keys)
  if ('complaint' in parsed) return parsed.complaint
  const errors: Errors = new Map()
  checkFields(format.keys, parsed.values, path, false, { errors, known })
  if (errors.size > 0) return `format error\n${[...errors].map(([at, why]) => `${at}: ${why}`).join('\n')}`
  return format.together?.(parsed.values, known)
}

function addError(errors: Errors, path: string, text: string): void {
  const before = errors.get(path)
  errors.set(path, before === undefined ? text : `${before}\n${text}`)
}

function meaningOf(value: unknown, shape: Shape | undefined): unknown {
  if (!shape) return value
  if (Array.isArray(value)) return value.map((item: unknown) => meaningOf(item, shape.items))
  if (shape.type === 'string') return plainText(value)
  return Number(plainText(value))
}

/** JSON bodies bring real booleans and numbers. */
function plainText(value: unknown): string {
  return value === true ? '1' : value === false ? '0' : String(value)
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)
}

import type { FieldProblem } from '../../kinds/kind.ts'
import { isFields } from '../manifest.ts'
import { typeOfExpression } from './expression-type.ts'
import { type ProblemPath, shapeWord, type ValueShape } from './shape.ts'

type CustomTypes = Readonly<Record<string, unknown>>

const BASIC: Readonly<Record<string, ValueShape>> = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  float: { type: 'number' },
  number: { type: 'number' },
  object: { type: 'object', additionalProperties: true },
  any: {},
}
const DEPTH = 20

/** kro's short form of a schema: `replicas: integer | default=1 minimum=1`. */
export function simpleSchema(
  fields: unknown,
  types: unknown,
  path: ProblemPath,
): { readonly shape: ValueShape; readonly problems: readonly FieldProblem[] } {
  const problems: FieldProblem[] = []
  const custom = isFields(types) ? types : {}
  const shape = block(isFields(fields) ? fields : {}, custom, path, problems, [])
  return { shape, problems }
}

function block(
  fields: Readonly<Record<string, unknown>>,
  types: CustomTypes,
  path: ProblemPath,
  problems: FieldProblem[],
  within: readonly string[],
): ValueShape {
  const required: string[] = []
  const properties: Record<string, ValueShape> = Object.create(null)
  for (const [name, written] of Object.entries(fields)) {
    const at = [...path, name]
    if (isFields(written)) properties[name] = block(written, types, at, problems, within)
    else if (typeof written === 'string') {
      const field = fieldOf(written, types, at, problems, within)
      properties[name] = field.shape
      if (field.required) required.push(name)
    } else problems.push(bad(at, `${name} is not a type; write one like string | required=true`))
  }
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

function fieldOf(
  written: string,
  types: CustomTypes,
  path: ProblemPath,
  problems: FieldProblem[],
  within: readonly string[],
): { readonly shape: ValueShape; readonly required: boolean } {
  const bar = written.indexOf('|')
  const named = (bar < 0 ? written : written.slice(0, bar)).trim()
  const type = typeNamed(named, types, path, problems, within)
  const marks = new Map(marksIn(bar < 0 ? '' : written.slice(bar + 1)))
  let shape = type
  for (const [mark, text] of marks) {
    const more = marked(mark, text, type)
    if (more === undefined) problems.push(bad(path, `${mark} is not a marker of kro's schemas`))
    else if (typeof more === 'string') problems.push(bad(path, more))
    else shape = { ...shape, ...more }
  }
  return { shape, required: marks.get('required') === 'true' }
}

function typeNamed(
  name: string,
  types: CustomTypes,
  path: ProblemPath,
  problems: FieldProblem[],
  within: readonly string[],
): ValueShape {
  const inner = (of: string) => typeNamed(of.trim(), types, path, problems, within)
  if (name.startsWith('[]')) return { type: 'array', items: inner(name.slice(2)) }
  const map = /^map\[string\](.+)$/.exec(name)
  if (map?.[1] !== undefined) return { type: 'object', additionalProperties: inner(map[1]) }
  if (Object.hasOwn(BASIC, name)) return BASIC[name] ?? {}
  const own = Object.hasOwn(types, name) ? types[name] : undefined
  if (within.includes(name) || within.length > DEPTH) {
    problems.push(bad(path, `the type ${name} contains itself`))
    return {}
  }
  if (isFields(own)) return block(own, types, path, problems, [...within, name])
  if (typeof own === 'string') return fieldOf(own, types, path, problems, [...within, name]).shape
  problems.push(
    bad(path, `${JSON.stringify(name)} is not a type: string, integer, boolean, float, object, []…, map[string]…`),
  )
  return {}
}

const NUMERIC: ReadonlySet<string> = new Set(['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'])

/** Returns the shape with a marker applied, or a text with the problem; undefined for an unknown marker. */
function marked(mark: string, text: string, type: ValueShape): ValueShape | string | undefined {
  if (NUMERIC.has(mark)) {
    const number = Number(text)
    return Number.isFinite(number) && text !== '' ? { [mark]: number } : `${mark}=${text} is not a number`
  }
  switch (mark) {
    case 'default': {
      const value = readValue(text, type)
      return value === undefined ? `default=${text} is not what the type says` : { default: value }
    }
    case 'enum':
      return { enum: text.split(',').map((one) => readValue(one.trim(), type) ?? one.trim()) }
    case 'pattern':
      return { pattern: text }
    case 'description':
      return { description: text }
    case 'uniqueItems':
      return text === 'true' ? { uniqueItems: true } : {}
    case 'validation': {
      const typed = typeOfExpression(text, { self: type })
      if ('problem' in typed) return `validation=${JSON.stringify(text)}: ${typed.problem}`
      const answers = typed.type.type
      if (answers !== undefined && answers !== 'boolean')
        return `validation=${JSON.stringify(text)} answers ${shapeWord(typed.type)}, not true or false`
      return { rules: [{ rule: text }] }
    }
    case 'required':
    // Needs the previous object, which only a cluster has.
    case 'immutable':
      return {}
    default:
      return undefined
  }
}

function readValue(text: string, { type }: ValueShape): unknown {
  if (type === 'string') return text
  try {
    const value: unknown = JSON.parse(text)
    const fits =
      type === undefined ||
      (type === 'array' && Array.isArray(value)) ||
      (type === 'object' && isFields(value)) ||
      (type === 'integer' && Number.isInteger(value)) ||
      typeof value === type
    return fits ? value : undefined
  } catch {
    return undefined
  }
}

/** `default="a b" minimum=1`: names, and values with or without quotes. */
function marksIn(text: string): readonly (readonly [string, string])[] {
  const marks = [...text.matchAll(/([A-Za-z]+)=("(?:[^"\\]|\\.)*"|'[^']*'|\{[^}]*\}|\[[^\]]*\]|[^\s]+)/g)]
  return marks.map(([, name = '', value = '']) => [name, unquoted(value)] as const)
}

function unquoted(value: string): string {
  if (value.startsWith("'")) return value.slice(1, -1)
  return value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1') : value
}

function bad(path: ProblemPath, message: string): FieldProblem {
  return { code: 'bad-value', path, message }
}

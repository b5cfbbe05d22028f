import type { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import { nearest } from '../../lib/nearest.ts'
import type { FieldProblem } from '../kind.ts'
import { badValue, fieldPath, fieldProblem, missingField } from './problem.ts'

type FieldPath = readonly (string | number)[]
type Issue = z.core.$ZodIssue
type Aliases = Readonly<Record<string, string>>

/** Explains schema errors: the expected value, the found one, and what to do. */
export function explain(
  schema: z.ZodType,
  error: z.ZodError,
  input: unknown,
  base: FieldPath,
  aliases: Aliases = {},
): readonly FieldProblem[] {
  return error.issues.flatMap((issue) => {
    const problems = explainIssue(schema, issue, input, base, aliases)
    const steps = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
    const foreign = isExpression(valueAt(input, steps, aliases))
    return foreign ? problems.map((one) => ({ ...one, hint: EXPRESSION })) : problems
  })
}

const EXPRESSION = 'it is an expression of Terraform, which nothing works out here: write the value itself'

/** A value that only another program would have filled in: `${proxmox_virtual_environment_vm.a.vm_id}`. */
function isExpression(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[a-z_]+[.(][^}]*\}$/.test(value)
}

/** Returns the schema's names at a path, for suggestions. Empty if any name is allowed. */
export function knownFields(schema: z.ZodType, path: FieldPath): readonly string[] {
  const found = schemaAt(schema, path)
  return found?._zod.def.type === 'object' ? Object.keys((found as z.ZodObject).shape) : []
}

function explainIssue(
  schema: z.ZodType,
  issue: Issue,
  input: unknown,
  base: FieldPath,
  aliases: Aliases,
): readonly FieldProblem[] {
  const inner = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  const path = [...base, ...inner]
  const name = fieldName(path)
  const found = valueAt(input, inner, aliases)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const problem = unknownField([...path, key], key, knownFields(schema, inner))
        const places = placesOf(schema, key).map((place) => [...base, place].join('.'))
        const near = problem.hint?.startsWith('did you mean') === true
        return near || places.length === 0 ? problem : { ...problem, hint: `write it as ${listed(places)}` }
      })
    case 'invalid_type':
      return [wrongType(path, name, issue.expected, found, schemaAt(schema, inner))]
    case 'too_small':
    case 'too_big':
      return [outOfRange(path, name, issue, found)]
    case 'invalid_value': {
      const allowed = issue.values.map(String)
      const meant = typeof found === 'string' ? nearest(found, allowed) : undefined
      return [
        badValue(
          path,
          `${name} is ${show(found)}; it may be ${listed(allowed)}`,
          meant === undefined ? undefined : `did you mean ${meant}?`,
        ),
      ]
    }
    case 'invalid_key':
      return [badValue(path, `${name} is not a name that may stand here`)]
    default:
      return [
        badValue(
          path,
          `${name} is ${show(found)}; expected ${issue.message}`,
          nearlyRight(schemaAt(schema, inner), found),
        ),
      ]
  }
}

/** Returns the text in the nearest accepted form. */
function nearlyRight(schema: z.core.$ZodType | undefined, found: unknown): string | undefined {
  if (typeof found !== 'string' || schema === undefined) return undefined
  const shapes = [
    found.trim(),
    found.trim().toLowerCase().replaceAll(/[_ ]/g, '-'),
    found.replace(/\/\d{1,3}$/, ''),
    found.replace(/^(\d+) ?([KMGT])(?:i?B?|b)$/i, (_, size: string, unit: string) => `${size}${unit.toUpperCase()}i`),
    ...(/^\d{1,3}(?:\.\d{1,3}){3}$/.test(found) ? [`${found}/24`] : []),
  ]
  const fits = shapes.find((shape) => shape !== found && (schema as z.ZodType).safeParse(shape).success)
  return fits === undefined ? undefined : `did you mean ${fits}?`
}

export function unknownField(path: FieldPath, key: string, known: readonly string[]): FieldProblem {
  const meant = nearest(key, known)
  return {
    code: 'unknown-field',
    path,
    message: `${show(key)} is not a field of ${fieldName(path.slice(0, -1)) || 'this object'}`,
    ...(meant !== undefined
      ? { hint: `did you mean ${meant}?` }
      : known.length > 0 && known.length <= 12
        ? { hint: `known fields: ${known.join(', ')}` }
        : {}),
  }
}

/** Returns the paths of fields with this name, unless there are many: `cpu.cores`, `disks[].image`. */
function placesOf(schema: z.ZodType, name: string): readonly string[] {
  const found: string[] = []
  const search = (at: z.core.$ZodType | undefined, path: string, depth: number): void => {
    const here = unwrap(at)
    const def = here?._zod.def as { readonly type: string; readonly element?: z.core.$ZodType } | undefined
    if (def?.type === 'array') search(def.element, `${path}[]`, depth)
    if (def?.type !== 'object' || depth === 0) return
    for (const [field, inner] of Object.entries((here as z.ZodObject).shape)) {
      const place = path === '' ? field : `${path}.${field}`
      if (field === name) found.push(place)
      search(inner as z.core.$ZodType, place, depth - 1)
    }
  }
  search(schema, '', MOST_LEVELS)
  return found.length <= MOST_PLACES ? found : []
}

const MOST_LEVELS = 3
const MOST_PLACES = 2

function wrongType(
  path: FieldPath,
  name: string,
  asked: string,
  found: unknown,
  schema: z.core.$ZodType | undefined,
): FieldProblem {
  const expected = isWhole(schema) ? 'int' : asked
  const wanted = NAMES[expected] ?? expected
  if (found === undefined) {
    const pattern = expected === 'string' ? patternOf(schema) : undefined
    return missingField(path, `${name} is missing; it is ${pattern ?? wanted}`)
  }
  if (found === null) {
    return badValue(path, `${name} is empty; it is ${wanted}`, 'give it a value or leave the field out')
  }
  const fields = schema?._zod.def.type === 'object' ? Object.keys((schema as z.ZodObject).shape) : []
  if (typeof found !== 'object' && fields.includes('env') && fields.includes('file')) {
    // The value may be the secret itself: it is not repeated.
    return {
      code: SECRET_IN_MANIFEST,
      path,
      message: `${name} must say where the secret is found, and never the secret itself`,
      hint: `write ${path.at(-1)}: {env: NAME} or {file: /path}; if this was the secret, make a new one`,
    }
  }
  const hint = typeHint(expected, found, schema, fields)
  const wanting = expected === 'string' && hint?.startsWith(IN_QUOTES) !== true ? (patternOf(schema) ?? wanted) : wanted
  return defined(fieldProblem('wrong-type', path, `${name} is ${show(found)}; expected ${wanting}`, hint))
}

/** Problems with this code are shown without their source lines. */
export const SECRET_IN_MANIFEST = 'secret-in-manifest'

/** Returns the message of the text's own rule. No valid text begins with this control character. */
function patternOf(schema: z.core.$ZodType | undefined): string | undefined {
  if (schema?._zod.def.type !== 'string') return undefined
  const issue = (schema as z.ZodType).safeParse('\u0000').error?.issues[0]
  return issue?.code === 'invalid_format' && !issue.message.startsWith('Invalid') ? issue.message : undefined
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a block of fields',
  record: 'a block of fields',
  array: 'a list',
}

const IN_QUOTES = 'write it in quotes'
/** Below this number people mean gibibytes, above it mebibytes. */
const FEW = 128

function typeHint(
  expected: string,
  found: unknown,
  schema: z.core.$ZodType | undefined,
  fields: readonly string[],
): string | undefined {
  if (expected === 'string' && (typeof found === 'number' || typeof found === 'boolean')) {
    const quoted = schema === undefined || (schema as z.ZodType).safeParse(String(found)).success
    if (quoted) return `${IN_QUOTES}: "${String(found)}"`
    const withUnit = `${String(found)}${Number(found) < FEW ? 'Gi' : 'Mi'}`
    return (schema as z.ZodType).safeParse(withUnit).success ? `add the unit: ${withUnit}` : undefined
  }
  if (expected === 'object' && fields.length > 0 && fields.length <= 12) return `its fields are ${fields.join(', ')}`
  if (expected === 'array' && typeof found !== 'object') return `write it as a list: [${show(found)}]`
  if (expected === 'array' && !Array.isArray(found)) return 'begin each entry with a dash'
  if (expected === 'boolean' && typeof found === 'string') {
    if (/^(?:yes|y|on|true)$/i.test(found)) return 'write true'
    if (/^(?:no|n|off|false)$/i.test(found)) return 'write false'
  }
  if ((expected === 'number' || expected === 'int') && typeof found === 'string' && /^[0-9]+$/.test(found)) {
    return `write it without quotes: ${found}`
  }
  return undefined
}

function outOfRange(
  path: FieldPath,
  name: string,
  issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig,
  found: unknown,
): FieldProblem {
  const small = issue.code === 'too_small'
  const bound = String(small ? issue.minimum : issue.maximum)
  const size = Array.isArray(found) || typeof found === 'string' ? found.length : undefined
  const unit = issue.origin === 'string' ? 'characters' : 'entries'
  const message =
    issue.origin === 'string' || issue.origin === 'array'
      ? `${name} has ${size ?? 'too many'} ${unit}; at ${small ? 'least' : 'most'} ${bound}`
      : `${name} is ${show(found)}; it may be ${small ? 'no less' : 'no more'} than ${bound}`
  return fieldProblem('out-of-range', path, message)
}

/** The part of a path that a person needs: `spec.forProvider.cpu.cores` is `cpu.cores`. */
function fieldName(path: FieldPath): string {
  const short = path[0] === 'spec' && path.length > 1 ? path.slice(1) : path
  const inner = (short[0] === 'forProvider' || short[0] === 'initProvider') && short.length > 1 ? short.slice(1) : short
  return fieldPath(inner)
}

/** A value as a person wrote it, cut short and free of anything that moves a cursor. */
export function show(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'a list'
  if (value !== null && typeof value === 'object') return 'a block of fields'
  const text =
    typeof value === 'number' ? String(value) : JSON.stringify(typeof value === 'string' ? value.slice(0, 60) : value)
  return text.replaceAll(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?')
}

function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`
}

/** Follows a path through the input; a list of one counts as its element, as `block` reads it. */
function valueAt(input: unknown, path: FieldPath, aliases: Aliases): unknown {
  let current = input
  for (const step of path) {
    if (Array.isArray(current) && typeof step === 'string' && current.length === 1) current = current[0]
    if (step === 0 && !Array.isArray(current)) continue
    if (current === null || typeof current !== 'object') return undefined
    const alias = Object.hasOwn(aliases, step) ? aliases[step] : undefined
    const name = Object.hasOwn(current, step) ? step : (alias ?? step)
    current = Object.hasOwn(current, name) ? (current as Record<string | number, unknown>)[name] : undefined
  }
  return current
}

function schemaAt(schema: z.ZodType, path: FieldPath): z.core.$ZodType | undefined {
  let current: z.core.$ZodType | undefined = schema
  for (const step of path) current = inside(unwrap(current), step)
  return unwrap(current)
}

/** To the schema a whole number is a number with a format; to a person it is what must be written. */
function isWhole(schema: z.core.$ZodType | undefined): boolean {
  const def = schema?._zod.def as { readonly type: string; readonly format?: string } | undefined
  return def?.type === 'number' && def.format === 'safeint'
}

function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let current = schema
  for (let depth = 0; current !== undefined && depth < 20; depth++) {
    const def = current._zod.def as {
      type: string
      innerType?: z.core.$ZodType
      in?: z.core.$ZodType
      out?: z.core.$ZodType
    }
    if (def.innerType !== undefined) current = def.innerType
    else if (def.type === 'pipe') current = def.in?._zod.def.type === 'transform' ? def.out : def.in
    else return current
  }
  return current
}

function inside(schema: z.core.$ZodType | undefined, step: string | number): z.core.$ZodType | undefined {
  const def = schema?._zod.def as { type: string; element?: z.core.$ZodType; valueType?: z.core.$ZodType } | undefined
  if (def?.type === 'object') return (schema as z.ZodObject).shape[String(step)]
  if (def?.type === 'array') return typeof step === 'number' ? def.element : undefined
  if (def?.type === 'record') return def.valueType
  return undefined
}

import { isRecord } from '../../lib/is-record.ts'
import { VALIDATIONS } from '../fields/validations.ts'

type Schema = Readonly<Record<string, unknown>>

const KEPT = [
  'description',
  'format',
  'maxItems',
  'maxLength',
  'maximum',
  'minItems',
  'minLength',
  'minimum',
  'required',
  VALIDATIONS,
] as const

const ANYTHING = { 'x-kubernetes-preserve-unknown-fields': true }

/**
 * Converts a JSON Schema to the structural one that CustomResourceDefinitions need. It is laxer where it cannot express
 * a rule: croft judges objects by the full schema, and reports refusals on the object. Defaults are left out, so that
 * an object stays as its author wrote it. Pure.
 */
export function structural(schema: Schema): Schema {
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options)) return { ...pick(schema, ['description']), ...union(options.filter(isRecord)) }
  const choices = schema.const === undefined ? schema.enum : [schema.const]
  const type = schema.type ?? (Array.isArray(choices) ? typeOf(choices) : undefined)
  if (typeof type !== 'string') return { ...pick(schema, ['description']), ...ANYTHING }
  return {
    type,
    ...pick(schema, KEPT),
    ...(Array.isArray(choices) ? { enum: choices } : {}),
    ...patternOf(schema.pattern),
    ...(type === 'array' ? { items: isRecord(schema.items) ? structural(schema.items) : ANYTHING } : {}),
    ...(type === 'object' ? fieldsOf(schema) : {}),
  }
}

function fieldsOf(schema: Schema): Schema {
  if (isRecord(schema.properties)) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [
      name,
      isRecord(field) ? structural(field) : ANYTHING,
    ])
    return { properties: Object.fromEntries(fields) as Schema }
  }
  const { additionalProperties: values } = schema
  const known = isRecord(values) && Object.keys(values).length > 0
  return known ? { additionalProperties: withoutRules(structural(values)) } : ANYTHING
}

/** A map has no bound there, and a rule that might run without end is refused. */
function withoutRules(schema: Schema): Schema {
  const { [VALIDATIONS]: _, ...rest } = schema
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, isRecord(value) ? withoutRules(value) : value]),
  )
}

/** Merges the types of a union: structural schemas cannot choose between types. Text alone stays text. */
function union(options: readonly Schema[]): Schema {
  const all = options.map(structural)
  const types = new Set(all.map(({ type }) => type))
  if (types.size === 1 && types.has('string')) {
    const choices = all.map((one) => one.enum)
    const lists = choices.filter((list): list is readonly unknown[] => Array.isArray(list))
    const lengths = all.map(({ maxLength }) => maxLength)
    const longest = lengths.every((length) => typeof length === 'number') ? Math.max(...lengths.map(Number)) : undefined
    return {
      type: 'string',
      ...(lists.length === all.length ? { enum: [...new Set(lists.flat())] } : {}),
      ...(longest === undefined ? {} : { maxLength: longest }),
    }
  }
  const isIntOrString = types.size === 2 && types.has('string') && types.has('integer')
  return isIntOrString ? { 'x-kubernetes-int-or-string': true } : ANYTHING
}

function typeOf(choices: readonly unknown[]): string | undefined {
  const types = new Set(choices.map((choice) => typeof choice))
  return types.size === 1 && types.has('string')
    ? 'string'
    : types.size === 1 && types.has('boolean')
      ? 'boolean'
      : undefined
}

/** Go escapes code points differently and has no lookahead: croft itself checks those patterns. */
function patternOf(pattern: unknown): Schema {
  if (typeof pattern !== 'string' || /\(\?[=!<]/.test(pattern)) return {}
  return { pattern: pattern.replaceAll(/\\u([0-9a-fA-F]{4})/g, '\\x{$1}') }
}

function pick(schema: Schema, names: readonly string[]): Schema {
  return Object.fromEntries(names.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])))
}

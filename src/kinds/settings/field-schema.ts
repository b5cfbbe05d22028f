import { z } from 'zod'
import type { Field } from '../../model/rest.ts'
import { secretReference } from '../fields/ssh.ts'
import { dnsName, matching } from '../fields/text.ts'

/** Texts for people: any characters but those that move a cursor. They reach no shell and no property string. */
export const freeText = z.registry<{ readonly free: true }>()
/** Texts that are the whole of a file: they go by standard input or as base64, and no shell ever reads them. */
export const fileContents = z.registry<{ readonly contents: true }>()

const CONTROLS = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069'

function free(pattern: string, max: number, error: string) {
  const schema = z.string().max(max).regex(new RegExp(pattern), { error })
  schema.register(freeText, { free: true })
  return schema
}

const prose = () => free(`^[^${CONTROLS}\\n\\t]*$`, 2000, 'one line without control characters')
export const pages = (max = 8000) => free(`^[^${CONTROLS}]*$`, max, 'text without control characters')
/** Inside `a=1,b=2` a comma would begin another property. */
const part = () => free(`^[^${CONTROLS}\\n\\t,]*$`, 500, 'one line without commas or control characters')

/** Names, addresses, paths, patterns: nothing that a shell, an option or a property string would read as its own. */
const word = (more: string) =>
  matching(
    new RegExp(`^(?:(?!.*\\.\\.)[A-Za-z0-9_/+@%:#][A-Za-z0-9_.:/@!+%*?~#{}()[\\]${more}-]*)?$`),
    'letters, digits and signs that have no other meaning, not beginning with a dash or a dot',
    500,
  )

/** Returns the schema of a definition's field in manifests. */
export function fieldSchema(name: string, field: Field): z.ZodType {
  switch (field.type) {
    case 'text':
      return field.choices === undefined ? word(' ') : z.enum(field.choices as [string, ...string[]])
    case 'prose':
      return name === 'description' || name === 'consentText' ? pages() : prose()
    case 'number':
      return z
        .int()
        .min(field.min ?? 0)
        .max(field.max ?? Number.MAX_SAFE_INTEGER)
    case 'flag':
      return z.boolean()
    case 'seconds':
      return matching(
        /^(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?$/,
        'a time like 2030-01-31T00:00:00Z',
      )
    case 'list':
    case 'numbered':
    case 'repeated':
      return z.array(word('').min(1)).max(field.type === 'numbered' ? (field.max ?? 1) : 1000)
    case 'properties':
      return partsSchema(field)
    case 'blocks':
      return z.array(partsSchema(field)).max(256)
    case 'rules':
      return z.array(ruleSchema(field)).max(1000)
    case 'entries':
      return z.array(rowSchema(field, word(''))).max(5000)
    case 'lines':
      return z.record(matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable', 200), part())
    case 'hosts':
      return z.array(z.strictObject({ address: word('').min(1), hostnames: z.array(dnsName).min(1).max(64) })).max(2000)
    case 'pem':
      return matching(
        /^(?:-----BEGIN CERTIFICATE-----\r?\n[A-Za-z0-9+/=\r\n]+-----END CERTIFICATE-----\s*)+$/,
        'one or more certificates in PEM',
        65_536,
      )
    case 'secret':
      return secretReference
  }
}

function partsSchema(field: Field): z.ZodType {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(field.parts ?? {}).map(([name, inner]) => {
        const schema = inner.type === 'text' && inner.choices === undefined ? part() : fieldSchema(name, inner)
        return [name, inner.required === true ? schema : schema.optional()]
      }),
    ),
  )
}

function ruleSchema(field: Field): z.ZodType {
  return rowSchema(field, word(',')).refine((rule) => (rule.action === undefined) !== (rule.group === undefined), {
    error: 'a rule with one of action and group',
  })
}

function rowSchema(field: Field, text: z.ZodType) {
  return z.strictObject(
    Object.fromEntries(
      Object.entries(field.parts ?? {}).map(([name, inner]) => {
        const schema = inner.type === 'text' && inner.choices === undefined ? text : fieldSchema(name, inner)
        return [name, inner.required === true ? schema : schema.optional()]
      }),
    ),
  )
}

export const idSchema = word(' ').min(1)
export const scopeWord = word('').min(1)

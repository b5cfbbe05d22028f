import { createHash } from 'node:crypto'
import { foreignPattern } from '../../lib/foreign-pattern.ts'
import { isFields } from '../manifest.ts'
import { ANYTHING, type DocumentFields, TEXT, type ValueShape } from './shape.ts'

/** What a value becomes; `type` is what is known of that before there is a value. */
interface Transform {
  readonly type: ValueShape
  apply(value: unknown): unknown
}

/** Why a transform cannot be done, or has no answer. */
export class TransformMistake extends Error {}

type Reader = (settings: DocumentFields) => Transform

/** Reads one entry of `transforms`. Throws `TransformMistake` for what Crossplane does not have either. */
export function transformOf(entry: unknown): Transform {
  const { type } = isFields(entry) ? entry : {}
  const read = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (read === undefined || !isFields(entry)) throw new TransformMistake(`${String(type)} is not a type of transform`)
  const settings = entry[String(type)]
  if (!isFields(settings)) throw new TransformMistake(`the transform has no ${String(type)}`)
  return read(settings)
}

const READERS: Readonly<Record<string, Reader>> = {
  map: (pairs) => ({
    type: ANYTHING,
    apply: (value) => {
      if (Object.hasOwn(pairs, String(value))) return pairs[String(value)]
      throw new TransformMistake(`map has nothing for ${JSON.stringify(value)}`)
    },
  }),
  match: matching,
  math: ({ type = 'Multiply', multiply, clampMin, clampMax }) => {
    const by = type === 'Multiply' ? multiply : type === 'ClampMin' ? clampMin : clampMax
    if (typeof by !== 'number') throw new TransformMistake(`math of the type ${String(type)} has no number`)
    return {
      type: { type: 'number' },
      apply: (value) => {
        if (typeof value !== 'number')
          throw new TransformMistake(`math needs a number, and this is ${JSON.stringify(value)}`)
        return type === 'Multiply' ? value * by : type === 'ClampMin' ? Math.max(value, by) : Math.min(value, by)
      },
    }
  },
  string: texts,
  convert: ({ toType, format = 'none' }) => {
    const type = TYPES[String(toType)]
    if (type === undefined) throw new TransformMistake(`convert cannot make ${JSON.stringify(toType)}`)
    return { type, apply: (value) => converted(value, String(toType), String(format)) }
  },
}

function matching({ patterns, fallbackValue, fallbackTo = 'Value' }: DocumentFields): Transform {
  const known = (Array.isArray(patterns) ? patterns : []).map((one: unknown) => {
    if (!isFields(one)) throw new TransformMistake('a pattern of match is not a block of fields')
    return one
  })
  return {
    type: ANYTHING,
    apply: (value) => {
      for (const { type = 'literal', literal, regexp, result } of known) {
        const hit =
          type === 'regexp' ? foreignPattern(String(regexp)).finds(String(value)) : String(literal) === String(value)
        if (hit) return result
      }
      return fallbackTo === 'Input' ? value : fallbackValue
    },
  }
}

function texts(settings: DocumentFields): Transform {
  const { type = 'Format', fmt, convert, trim, regexp, join, replace } = settings
  const of = (apply: (value: unknown) => unknown): Transform => ({ type: TEXT, apply })
  switch (type) {
    case 'Format':
      return of((value) => goFormat(String(fmt), [value]))
    case 'Convert':
      return of((value) => convertedText(value, String(convert)))
    case 'TrimPrefix':
      return of((value) =>
        String(value).startsWith(String(trim)) ? String(value).slice(String(trim).length) : String(value),
      )
    case 'TrimSuffix':
      return of((value) =>
        String(value).endsWith(String(trim))
          ? String(value).slice(0, String(value).length - String(trim).length)
          : String(value),
      )
    case 'Join': {
      const between = isFields(join) && typeof join.separator === 'string' ? join.separator : ''
      return of((value) => (Array.isArray(value) ? value.map(String).join(between) : String(value)))
    }
    case 'Replace': {
      const { search = '', replace: by = '' } = isFields(replace) ? replace : {}
      return of((value) => String(value).replaceAll(String(search), () => String(by)))
    }
    case 'Regexp': {
      // Only whether a pattern is found can be asked in linear time, not where.
      throw new TransformMistake(
        `string of the type Regexp (${String(isFields(regexp) ? regexp.match : '')}) is not supported`,
      )
    }
    default:
      throw new TransformMistake(`${String(type)} is not a type of the transform string`)
  }
}

function convertedText(value: unknown, how: string): string {
  const text = shown(value)
  const hashed = /^To(Sha1|Sha256|Sha512)$/.exec(how)?.[1]
  if (hashed !== undefined) return createHash(hashed.toLowerCase()).update(text).digest('hex')
  switch (how) {
    case 'ToUpper':
      return text.toUpperCase()
    case 'ToLower':
      return text.toLowerCase()
    case 'ToBase64':
      return Buffer.from(text).toString('base64')
    case 'FromBase64':
      return Buffer.from(text, 'base64').toString('utf8')
    case 'ToJson':
      return JSON.stringify(value)
    case 'ToAdler32':
      return String(adler32(Buffer.from(text)))
    default:
      throw new TransformMistake(`${how} is not a conversion of the transform string`)
  }
}

/** The checksum of zlib (RFC 1950). */
function adler32(bytes: Uint8Array): number {
  const [low, high] = bytes.reduce<readonly [number, number]>(
    ([a, b], byte) => [(a + byte) % 65_521, (b + a + byte) % 65_521],
    [1, 0],
  )
  return high * 65_536 + low
}

const TYPES: Readonly<Record<string, ValueShape>> = {
  string: TEXT,
  bool: { type: 'boolean' },
  int: { type: 'integer' },
  int64: { type: 'integer' },
  float64: { type: 'number' },
  object: { type: 'object', additionalProperties: true },
  array: { type: 'array' },
}

const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'True', 'true'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'FALSE', 'False', 'false'])

function converted(value: unknown, to: string, format: string): unknown {
  const cannot = () => new TransformMistake(`${JSON.stringify(value)} cannot be converted to ${to}`)
  if (to === 'string') return shown(value)
  if (to === 'bool') {
    if (typeof value === 'boolean') return value
    if (typeof value === 'number') return value === 1
    if (TRUE.has(String(value))) return true
    if (FALSE.has(String(value))) return false
    throw cannot()
  }
  if (to === 'object' || to === 'array') {
    if (typeof value !== 'string' || format !== 'json') throw cannot()
    try {
      return JSON.parse(value) as unknown
    } catch {
      throw cannot()
    }
  }
  const number =
    typeof value === 'boolean' ? Number(value) : format === 'quantity' ? quantity(String(value)) : Number(value)
  if (!Number.isFinite(number) || value === '') throw cannot()
  return to === 'float64' ? number : Math.trunc(number)
}

const SUFFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E']

function quantity(text: string): number {
  const match = /^([+-]?\d+(?:\.\d+)?)(m|[kMGTPE]|[KMGTPE]i)?$/.exec(text)
  if (match === null) return Number.NaN
  const [, number = '', suffix = ''] = match
  if (suffix === 'm') return Number(number) / 1000
  const power = SUFFIXES.indexOf(suffix.replace('Ki', 'k').replace('i', ''))
  return Number(number) * (suffix.endsWith('i') ? 1024 : 1000) ** power
}

/** The verbs of Go's fmt that compositions use. */
export function goFormat(format: string, values: readonly unknown[]): string {
  let next = 0
  return format.replaceAll(
    /%(0?)(\d*)(?:\.(\d+))?([%a-zA-Z])/g,
    (whole, zero: string, width: string, digits: string | undefined, verb: string) => {
      if (verb === '%') return '%'
      if (next >= values.length) throw new TransformMistake(`${whole} has no value`)
      const value = values[next++]
      const text = shownBy(verb, value, digits)
      if (text === undefined) throw new TransformMistake(`${whole} cannot show ${JSON.stringify(value)}`)
      return text.padStart(Number(width || 0), zero === '0' ? '0' : ' ')
    },
  )
}

/** A text as it is, everything else as JSON. */
export function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function shownBy(verb: string, value: unknown, digits: string | undefined): string | undefined {
  switch (verb) {
    case 's':
    case 'v':
    case 't':
      return shown(value)
    case 'q':
      return JSON.stringify(String(value))
    case 'd':
      return Number.isInteger(value) ? String(value) : undefined
    case 'f':
      return typeof value === 'number' ? value.toFixed(Number(digits ?? 6)) : undefined
    case 'x':
    case 'X': {
      const hex = typeof value === 'number' ? value.toString(16) : Buffer.from(String(value)).toString('hex')
      return verb === 'X' ? hex.toUpperCase() : hex
    }
    default:
      return undefined
  }
}

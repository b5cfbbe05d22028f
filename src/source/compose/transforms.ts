import { createHash } from 'node:crypto'
import { foreignPattern, PatternRefused } from '../../lib/foreign-pattern.ts'
import { isFields } from '../manifest.ts'
import { decimal, FormatMistake, goFormat, goJson, goText, shownValue } from './go-values.ts'
import { ANYTHING, type DocumentFields, TEXT, type ValueShape } from './shape.ts'

/** A conversion of values; `type` is the known type of its result. */
interface Transform {
  readonly type: ValueShape
  apply(value: unknown): unknown
}

/** Thrown if a transform is invalid or has no result. */
export class TransformMistake extends Error {}

type Reader = (settings: DocumentFields) => Transform

/** Reads one entry of `transforms`. Throws `TransformMistake` for what patch-and-transform does not have either. */
export function transformOf(entry: unknown): Transform {
  const { type } = isFields(entry) ? entry : {}
  const read = typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (read === undefined || !isFields(entry)) throw new TransformMistake(`${String(type)} is not a type of transform`)
  const settings = entry[String(type)]
  if (!isFields(settings)) throw new TransformMistake(`the transform has no ${String(type)}`)
  return read(settings)
}

/** Several values as one text. Throws `TransformMistake` where Go would write a complaint into it. */
export function formatted(format: string, values: readonly unknown[]): string {
  try {
    return goFormat(format, values)
  } catch (error) {
    throw error instanceof FormatMistake ? new TransformMistake(error.message) : error
  }
}

const READERS: Readonly<Record<string, Reader>> = {
  map(pairs) {
    if (Object.keys(pairs).length === 0) throw new TransformMistake('map has no pair')
    return {
      type: ANYTHING,
      apply: (value) => {
        if (typeof value !== 'string') throw new TransformMistake(`map takes a text, and this is ${shownValue(value)}`)
        if (Object.hasOwn(pairs, value) && pairs[value] !== null) return pairs[value]
        throw new TransformMistake(`map has nothing for ${shownValue(value)}`)
      },
    }
  },
  match: matching,
  math: calculated,
  string: texts,
  convert: ({ toType, format = 'none' }) => {
    const type = TYPES[String(toType)]
    if (type === undefined) throw new TransformMistake(`convert cannot make ${JSON.stringify(toType)}`)
    if (format !== 'none' && format !== 'quantity' && format !== 'json')
      throw new TransformMistake(`${JSON.stringify(format)} is not a format of convert: none, quantity, json are`)
    return { type, apply: (value) => converted(value, String(toType), format) }
  },
}

function matching({ patterns, fallbackValue, fallbackTo = 'Value' }: DocumentFields): Transform {
  if (!Array.isArray(patterns) || patterns.length === 0) throw new TransformMistake('match has no pattern')
  if (fallbackTo !== 'Value' && fallbackTo !== 'Input')
    throw new TransformMistake(`fallbackTo is ${JSON.stringify(fallbackTo)}: Value, Input are`)
  if (fallbackTo === 'Input' && fallbackValue !== undefined)
    throw new TransformMistake('match has a fallbackValue and falls back to its input: only one of them can be')
  const known = patterns.map((one: unknown) => {
    if (!isFields(one)) throw new TransformMistake('a pattern of match is not a block of fields')
    const { type = 'literal', result } = one
    if (type !== 'literal' && type !== 'regexp')
      throw new TransformMistake(`${JSON.stringify(type)} is not a type of a pattern: literal, regexp are`)
    const written = one[type]
    if (typeof written !== 'string') throw new TransformMistake(`a pattern of the type ${type} has no ${type}`)
    const pattern = type === 'regexp' ? patternOf(written) : undefined
    const hits = (value: string) => pattern?.finds(value) ?? written === value
    return { hits, result }
  })
  return {
    type: ANYTHING,
    apply: (value) => {
      if (typeof value !== 'string') throw new TransformMistake(`match takes a text, and this is ${shownValue(value)}`)
      for (const { hits, result } of known) if (hits(value)) return result ?? null
      return fallbackTo === 'Input' ? value : (fallbackValue ?? null)
    },
  }
}

function patternOf(source: string): ReturnType<typeof foreignPattern> {
  try {
    return foreignPattern(source)
  } catch (error) {
    throw error instanceof PatternRefused ? new TransformMistake(`${source}: ${error.message}`) : error
  }
}

/** Uses whole numbers only; clamping compares without the fraction, as patch-and-transform does. */
function calculated({ type = 'Multiply', multiply, clampMin, clampMax }: DocumentFields): Transform {
  if (type !== 'Multiply' && type !== 'ClampMin' && type !== 'ClampMax')
    throw new TransformMistake(`${JSON.stringify(type)} is not a type of math: Multiply, ClampMin, ClampMax are`)
  const by = type === 'Multiply' ? multiply : type === 'ClampMin' ? clampMin : clampMax
  if (typeof by !== 'number') throw new TransformMistake(`math of the type ${type} has no number`)
  if (!Number.isInteger(by)) throw new TransformMistake(`math of the type ${type} has ${by}, which is not whole`)
  return {
    type: { type: 'number' },
    apply: (value) => {
      if (typeof value !== 'number' && typeof value !== 'bigint')
        throw new TransformMistake(`math needs a number, and this is ${shownValue(value)}`)
      if (type === 'Multiply') return typeof value === 'bigint' ? value * BigInt(by) : value * by
      const whole = typeof value === 'bigint' ? value : Math.trunc(value)
      return (type === 'ClampMin' ? whole < by : whole > by) ? BigInt(by) : value
    },
  }
}

function texts(settings: DocumentFields): Transform {
  const { type = 'Format', fmt, convert, trim, regexp, join, replace } = settings
  const of = (apply: (value: unknown) => string): Transform => ({ type: TEXT, apply })
  const text = (value: unknown, name: string): string => {
    if (typeof value === 'string') return value
    throw new TransformMistake(`string of the type ${String(type)} has no ${name}`)
  }
  switch (type) {
    case 'Format': {
      const format = text(fmt, 'fmt')
      return of((value) => formatted(format, [value]))
    }
    case 'Convert': {
      const how = text(convert, 'convert')
      const make = Object.hasOwn(CONVERSIONS, how) ? CONVERSIONS[how] : undefined
      if (make === undefined) throw new TransformMistake(`${how} is not a conversion of the transform string`)
      return of(make)
    }
    case 'TrimPrefix': {
      const away = text(trim, 'trim')
      return of((value) => (goText(value).startsWith(away) ? goText(value).slice(away.length) : goText(value)))
    }
    case 'TrimSuffix': {
      const away = text(trim, 'trim')
      return of((value) =>
        goText(value).endsWith(away) ? goText(value).slice(0, goText(value).length - away.length) : goText(value),
      )
    }
    case 'Join':
      return of(joinedBy(text(isFields(join) ? join.separator : undefined, 'join.separator')))
    case 'Replace': {
      const { search, replace: by = '' } = isFields(replace) ? replace : {}
      const wanted = text(search, 'replace.search')
      if (wanted === '') throw new TransformMistake('string of the type Replace has an empty replace.search')
      const put = text(by, 'replace.replace')
      return of((value) => goText(value).replaceAll(wanted, () => put))
    }
    case 'Regexp':
      return of(caughtBy(isFields(regexp) ? regexp : {}))
    default:
      throw new TransformMistake(`${String(type)} is not a type of the transform string`)
  }
}

/** Like patch-and-transform, removes only one character at the end, for any separator. */
function joinedBy(separator: string): (value: unknown) => string {
  return (value) => {
    if (!Array.isArray(value)) throw new TransformMistake(`Join takes a list, and this is ${shownValue(value)}`)
    const all = value.map((one: unknown) => `${goText(one)}${separator}`).join('')
    return separator === '' ? all : all.slice(0, -1)
  }
}

/** The first match, or what one of its groups caught. */
function caughtBy({ match, group = 0 }: DocumentFields): (value: unknown) => string {
  if (typeof match !== 'string' || match === '') throw new TransformMistake('string of the type Regexp has no match')
  if (typeof group !== 'number' || !Number.isInteger(group) || group < 0)
    throw new TransformMistake(`the group of a Regexp is ${JSON.stringify(group)}; it is a whole number from 0`)
  const pattern = patternOf(match)
  return (value) => {
    const groups = pattern.groups(goText(value))
    if (groups === undefined || group >= groups.length)
      throw new TransformMistake(`${match} catches nothing for group ${group} in ${shownValue(value)}`)
    return groups[group] ?? ''
  }
}

const hashed = (algorithm: string) => (value: unknown) => createHash(algorithm).update(plainOrJson(value)).digest('hex')
const plainOrJson = (value: unknown) => (typeof value === 'string' ? value : goJson(value))

const CONVERSIONS: Readonly<Record<string, (value: unknown) => string>> = {
  ToUpper: (value) => letterByLetter(value, (letter) => letter.toUpperCase()),
  ToLower: (value) => letterByLetter(value, (letter) => letter.toLowerCase()),
  ToBase64: (value) => Buffer.from(goText(value)).toString('base64'),
  FromBase64(value) {
    const text = goText(value).replaceAll(/[\r\n]/g, '')
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
      throw new TransformMistake(`${shownValue(value)} is not base64`)
    return Buffer.from(text, 'base64').toString('utf8')
  },
  ToJson: goJson,
  ToSha1: hashed('sha1'),
  ToSha256: hashed('sha256'),
  ToSha512: hashed('sha512'),
  ToAdler32: (value) => String(adler32(Buffer.from(plainOrJson(value)))),
}

/** Maps letters one to one: Go keeps `ß`, because its upper case has two letters. */
function letterByLetter(value: unknown, change: (letter: string) => string): string {
  return [...goText(value)].map((letter) => ([...change(letter)].length === 1 ? change(letter) : letter)).join('')
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

/** Converts as patch-and-transform does: between texts, numbers and booleans, and from JSON and quantities in texts. */
function converted(value: unknown, to: string, format: 'none' | 'quantity' | 'json'): unknown {
  const cannot = () =>
    new TransformMistake(
      `${shownValue(value)} cannot be converted to ${to}${format === 'none' ? '' : ` with the format ${format}`}`,
    )
  const made =
    typeof value === 'string' ? fromText(value, to, format) : format === 'none' ? fromOther(value, to) : undefined
  if (made === undefined) throw cannot()
  return made
}

function fromText(text: string, to: string, format: 'none' | 'quantity' | 'json'): unknown {
  if (to === 'string') return text
  if (format === 'json') {
    const read = to === 'object' || to === 'array' ? parsed(text) : undefined
    if (read === null) return null
    return to === 'array' ? (Array.isArray(read) ? read : undefined) : isFields(read) ? read : undefined
  }
  if (format === 'quantity') return to === 'float64' ? quantity(text) : undefined
  if (to === 'bool') return TRUE.has(text) ? true : FALSE.has(text) ? false : undefined
  if (to === 'float64') return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
  return to.startsWith('int') && /^[+-]?\d+$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    ? BigInt(text)
    : undefined
}

function fromOther(value: unknown, to: string): unknown {
  if (typeof value === 'boolean') {
    if (to === 'bool') return value
    return to === 'string'
      ? String(value)
      : to === 'object' || to === 'array'
        ? undefined
        : to === 'float64'
          ? Number(value)
          : BigInt(value)
  }
  if (typeof value === 'bigint') {
    if (to === 'string') return String(value)
    if (to === 'bool') return value === 1n
    return to === 'float64' ? Number(value) : to.startsWith('int') ? value : undefined
  }
  if (typeof value !== 'number') return undefined
  if (to === 'string') return decimal(value)
  if (to === 'bool') return value === 1
  if (to === 'float64') return value
  return to.startsWith('int') && Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const SMALL: Readonly<Record<string, number>> = { n: 1e-9, u: 1e-6, m: 1e-3 }
const SUFFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E']

/** A quantity of Kubernetes. */
function quantity(text: string): number | undefined {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))([num]|[kMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(text)
  if (match === null) return undefined
  const [, number = '', suffix = ''] = match
  if (/^[eE]./.test(suffix) && suffix !== 'Ei') return Number(`${number}${suffix}`)
  const small = SMALL[suffix]
  if (small !== undefined) return Number(number) * small
  const power = SUFFIXES.indexOf(suffix.replace('Ki', 'k').replace('i', ''))
  return Number(number) * (suffix.endsWith('i') ? 1024 : 1000) ** power
}

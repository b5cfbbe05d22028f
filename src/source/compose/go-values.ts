import { isFields } from '../manifest.ts'

/*
 * Prints values as Go does, as far as compositions show it. A bigint is an int64 and a number a float64, whole or not:
 * a function gets all numbers of a composite as float64, and only a transform makes an int64 of one.
 */

/** Converts whole numbers to int64, as Crossplane did before there were functions. */
export function withIntegers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withIntegers)
  if (isFields(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withIntegers(one)]))
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}

/** Converts to JSON values. */
export function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plainValue)
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainValue(one)]))
}

/** For messages. */
export function shownValue(value: unknown): string {
  return JSON.stringify(plainValue(value)) ?? String(value)
}

/** Thrown if Go would print an error into the text, or nothing useful. */
export class FormatMistake extends Error {}

/** Prints like `%v`. */
export function goText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return goNumber(value)
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isFields(value)) return JSON.stringify(value)
  return `map[${namesOf(value)
    .map((name) => `${name}:${goText(value[name])}`)
    .join(' ')}]`
}

/** Prints like `%v`: the shortest form that reads back equal, with an exponent from a million on and below 1e-04. */
function goNumber(value: number): string {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e-4 && size < 1e6) return decimal(value)
  const [digits = '', exponent = '0'] = value.toExponential().split('e')
  return `${digits}e${exponent.startsWith('-') ? '-' : '+'}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`
}

/** Prints a number without an exponent. */
export function decimal(value: number): string {
  const plain = String(value)
  if (!plain.includes('e')) return plain
  const [digits = '', exponent = '0'] = plain.split('e')
  const [whole = '', part = ''] = digits.replace('-', '').split('.')
  const sign = value < 0 ? '-' : ''
  const shift = Number(exponent)
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - 1)}${whole}${part}`
  return `${sign}${whole}${part.padEnd(shift, '0')}`
}

/** Prints JSON like Go's encoder: sorted fields, and escapes for characters that could end a script. */
export function goJson(value: unknown): string {
  return JSON.stringify(sorted(plainValue(value))).replaceAll(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  return isFields(value) ? Object.fromEntries(namesOf(value).map((name) => [name, sorted(value[name])])) : value
}

/** Returns field names sorted by bytes. */
function namesOf(fields: object): readonly string[] {
  return Object.keys(fields).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

const OTHER_FORMS: Readonly<Record<string, string>> = { x: '0x', X: '0X' }

const VERB = /%([-+ 0#]*)(\d*)(?:\.(\d*))?(?:\[(\d+)\])?(.)|%$/gsu

/** A format is short, and what it makes must not fill the memory. */
const WIDEST = 1_000

/**
 * The verbs of Go's fmt that compositions use. Where Go writes a complaint into the text, as `%!d(string=x)`, this throws
 * FormatMistake.
 */
export function goFormat(format: string, values: readonly unknown[]): string {
  let next = 0
  let chosen = false
  const text = format.replaceAll(
    VERB,
    (
      whole,
      flags = '',
      width = '',
      digits: string | undefined,
      place: string | undefined,
      verb: string | undefined,
    ) => {
      if (verb === undefined) throw new FormatMistake('% at the end of a format has no verb')
      if (verb === '%') return '%'
      if (Number(width) > WIDEST || Number(digits ?? 0) > WIDEST)
        throw new FormatMistake(`${whole} is wider than ${WIDEST} characters`)
      if (place !== undefined) {
        next = Number(place) - 1
        chosen = true
      }
      if (next < 0 || next >= values.length) throw new FormatMistake(`${whole} has no value`)
      const value = values[next++]
      // The other form of a value, which only hexadecimal numbers have here.
      const prefix = flags.includes('#') ? OTHER_FORMS[verb] : ''
      if (prefix === undefined) throw new FormatMistake(`${whole} is not supported; leave # out`)
      const plain = shownBy(verb, value, digits === '' ? '0' : digits)
      const shown = plain === undefined ? undefined : plain.replace(/^-?/, (sign) => `${sign}${prefix}`)
      if (shown === undefined)
        throw new FormatMistake(`${whole} cannot show ${shownValue(value)}; ${hintFor(verb, value)}`)
      return padded(signed(shown, flags, value), flags, Number(width || 0), value)
    },
  )
  if (next < values.length && !chosen)
    throw new FormatMistake(`${JSON.stringify(format)} has no place for ${shownValue(values[next])}`)
  return text
}

/** In a pipeline every number of a composite has a fraction for Go, even if that is zero. */
function hintFor(verb: string, value: unknown): string {
  return verb === 'd' && Number.isInteger(value)
    ? '%v shows it, and so does %d after the transform convert to int64'
    : '%v shows everything'
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function signed(text: string, flags: string, value: unknown): string {
  if (!isNumber(value) || text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

function padded(text: string, flags: string, width: number, value: unknown): string {
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0')) return text.padStart(width)
  const sign = isNumber(value) ? (/^[-+ ]/.exec(text)?.[0] ?? '') : ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

/** Undefined: the verb is not one for such a value. */
function shownBy(verb: string, value: unknown, digits: string | undefined): string | undefined {
  switch (verb) {
    case 'v':
      return goText(value)
    case 's':
      return isText(value) ? cut(goText(value), digits) : undefined
    case 't':
      return typeof value === 'boolean' ? String(value) : undefined
    case 'q':
      return typeof value === 'string' ? JSON.stringify(value) : undefined
    case 'd':
      if (Array.isArray(value)) return value.every((one) => typeof one === 'bigint') ? goText(value) : undefined
      return typeof value === 'bigint' ? String(value).padStart(Number(digits ?? 0), '0') : undefined
    case 'b':
    case 'o':
      return typeof value === 'bigint' ? value.toString(verb === 'b' ? 2 : 8) : undefined
    case 'f':
    case 'F':
      return typeof value === 'number' ? value.toFixed(Math.min(Number(digits ?? 6), 100)) : undefined
    case 'x':
      return hexOf(value)
    case 'X':
      return hexOf(value)?.toUpperCase()
    default:
      return undefined
  }
}

function isText(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isText)
  return typeof value === 'string' || (isFields(value) && Object.values(value).every(isText))
}

function cut(text: string, digits: string | undefined): string {
  return digits === undefined ? text : [...text].slice(0, Number(digits)).join('')
}

function hexOf(value: unknown): string | undefined {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  return typeof value === 'bigint' ? value.toString(16) : undefined
}

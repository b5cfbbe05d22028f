import { createHmac } from 'node:crypto'

/** What an `otpauth://` address says. */
interface Totp {
  readonly secret: Uint8Array
  readonly digits: number
  readonly period: number
  readonly algorithm: string
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ALGORITHMS: ReadonlySet<string> = new Set(['sha1', 'sha256', 'sha512'])

/** The address taken apart, or why it cannot be. */
export function parseTotp(uri: string): Totp | string {
  const prefix = 'otpauth://totp/'
  if (!uri.startsWith(prefix)) return 'not an otpauth uri'
  const mark = uri.indexOf('?')
  if (mark < 0) return "missing '?' in otp uri"
  const found = { secret: new Uint8Array(), digits: 6, period: 30, algorithm: 'sha1' }
  for (const part of uri.slice(mark + 1).split('&')) {
    const equals = part.indexOf('=')
    if (equals < 0) return 'bad value in otpauth uri'
    const [name, value] = [decodePercent(part.slice(0, equals)), decodePercent(part.slice(equals + 1))]
    if (name === 'secret') {
      const secret = decodeBase32(value)
      if (secret === undefined) return 'failed to decode otp secret in otpauth url'
      found.secret = secret
    } else if (name === 'digits' || name === 'period') {
      const why = complaintOfNumber(value, name === 'digits' ? 255 : Number.MAX_SAFE_INTEGER)
      if (why !== undefined) return `failed to parse value '${name}': ${why}`
      found[name] = Number(value)
    } else if (name === 'algorithm') {
      const algorithm = value.toLowerCase()
      if (!ALGORITHMS.has(algorithm)) return `failed to parse value 'algorithm': unsupported algorithm: '${value}'`
      found.algorithm = algorithm
    } else if (name !== 'issuer') return `unknown otpauth uri parameter: '${name}'`
  }
  return found.secret.length === 0 ? 'missing secret in otpauth url' : found
}

function complaintOfNumber(text: string, largest: number): string | undefined {
  if (text === '') return 'cannot parse integer from empty string'
  if (!/^\+?\d+$/.test(text)) return 'invalid digit found in string'
  return Number(text) > largest ? 'number too large to fit in target type' : undefined
}

/** What is no such sign stays as it is. */
function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (signs) => Buffer.from(signs.replaceAll('%', ''), 'hex').toString('utf8'))
}

function decodeBase32(text: string): Uint8Array<ArrayBuffer> | undefined {
  let bits = ''
  for (const letter of text.toUpperCase()) {
    const value = BASE32.indexOf(letter)
    if (value < 0) return undefined
    bits += value.toString(2).padStart(5, '0')
  }
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

/** Whether a number is the one of now, of the step before or of the one after. */
export function isCodeOf(totp: Totp, value: string, nowMs: number): boolean {
  return stepOf(totp, value, nowMs) >= 0
}

/** The step of time that a number is of; below zero: of none about now. */
export function stepOf(totp: Totp, value: string, nowMs: number): number {
  const step = Math.floor(nowMs / 1000 / totp.period)
  return [step - 1, step, step + 1].find((count) => codeAt(totp, count) === value) ?? -1
}

/** The number of one step of time, after RFC 6238. */
export function codeAt({ secret, digits, algorithm }: Totp, count: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(count))
  const hash = createHmac(algorithm, secret).update(counter).digest()
  const at = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

import { createHmac } from 'node:crypto'

/** What an `otpauth://` address says. */
interface Totp {
  readonly secret: Uint8Array
  readonly digits: number
  readonly period: number
  readonly algorithm: string
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ALGORITHMS: Readonly<Record<string, string>> = { SHA1: 'sha1', SHA256: 'sha256', SHA512: 'sha512' }

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
    const [name, value] = [part.slice(0, equals), decodeURIComponent(part.slice(equals + 1))]
    if (name === 'secret') {
      const secret = decodeBase32(value)
      if (secret === undefined) return 'failed to decode otp secret in otpauth url'
      found.secret = secret
    } else if (name === 'digits' || name === 'period') found[name] = Number(value)
    else if (name === 'algorithm') found.algorithm = ALGORITHMS[value] ?? 'sha1'
    else if (name !== 'issuer') return `unknown parameter: ${name}`
  }
  return found.secret.length === 0 ? 'missing secret in otpauth url' : found
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
  const step = Math.floor(nowMs / 1000 / totp.period)
  return [step - 1, step, step + 1].some((count) => codeAt(totp, count) === value)
}

/** The number of one step of time, after RFC 6238. */
export function codeAt({ secret, digits, algorithm }: Totp, count: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(count))
  const hash = createHmac(algorithm, secret).update(counter).digest()
  const at = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 10 ** digits).padStart(digits, '0')
}

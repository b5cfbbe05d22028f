import { createHmac } from 'node:crypto'
import { sameSecret, unguessable } from './unguessable.ts'

/* Codes by time (RFC 6238) as every authenticator app makes them: SHA-1, six digits, thirty seconds. */

const STEP_MS = 30_000
const DIGITS = 6
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A secret for a new device, as apps want it: base32 of 20 bytes. */
export function newTotpSecret(): string {
  return base32(Buffer.from(unguessable(20), 'base64url'))
}

/** Returns the URI for an authenticator app, as text or for a QR code. */
export function totpUri(secret: string, user: string, issuer: string): string {
  const query = new URLSearchParams({ secret, issuer })
  return `otpauth://totp/${encodeURIComponent(issuer)}:${encodeURIComponent(user)}?${query.toString()}`
}

/**
 * Returns the time step of a code; undefined if it is not valid now. One step earlier and later is accepted, for clock
 * differences. A used step, or an older one, is not.
 */
export function totpStep(secret: string, code: string, nowMs: number, usedStep: number): number | undefined {
  const key = fromBase32(secret)
  if (key === undefined || !/^\d{6}$/.test(code)) return undefined
  const now = Math.floor(nowMs / STEP_MS)
  // Compute all of them, so that timing reveals nothing.
  const fitting = [now - 1, now, now + 1].filter((step) => sameSecret(totpAt(key, step), code))
  return fitting.find((step) => step > usedStep)
}

export function totpAt(key: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', key).update(counter).digest()
  const at = (mac.at(-1) ?? 0) & 0x0f
  const number = mac.readUInt32BE(at) & 0x7fffffff
  return String(number % 10 ** digits).padStart(digits, '0')
}

export function base32(bytes: Uint8Array): string {
  let [text, held, bits] = ['', 0, 0]
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    bits += 8
    for (; bits >= 5; bits -= 5) text += ALPHABET[(held >> (bits - 5)) & 31]
  }
  return bits === 0 ? text : text + ALPHABET[(held << (5 - bits)) & 31]
}

export function fromBase32(text: string): Uint8Array | undefined {
  const bytes: number[] = []
  let [held, bits] = [0, 0]
  for (const letter of text.replaceAll(/=+$/g, '').toUpperCase()) {
    const value = ALPHABET.indexOf(letter)
    if (value < 0) return undefined
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes.push((held >> bits) & 0xff)
  }
  return Uint8Array.from(bytes)
}

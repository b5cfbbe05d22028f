import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Returns a random secret for sessions, tokens, states and salts. The seeded Random would be repeatable. */
export function unguessable(bytes = 32): string {
  return randomBytes(bytes).toString('base64url')
}

/** Returns a random secret's stored form. With full entropy a plain hash is enough, and a stolen file worthless. */
export function fingerprintOf(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

/** Compares without telling by its time where the first difference is. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return left !== undefined && right !== undefined && timingSafeEqual(left, right)
}

import { scrypt, timingSafeEqual } from 'node:crypto'
import { LIMITS } from '../../lib/limits.ts'
import { unguessable } from './unguessable.ts'

const COST = { N: 2 ** 15, r: 8, p: 1 } as const
const KEY_BYTES = 32

/** `scrypt$32768$8$1$salt$key`: everything that is needed to check it, so that the cost can be raised later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = unguessable(16)
  const key = await derive(password, salt, COST)
  return `scrypt$${COST.N}$${COST.r}$${COST.p}$${salt}$${key.toString('base64url')}`
}

/** A dummy hash for unknown users: checking it takes as long as a real one, so that timing does not reveal names. */
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

let running = 0
const waiting: (() => void)[] = []

/** Undefined: too many are being checked, try again later. */
export async function checkPassword(password: string, hash: string | undefined): Promise<boolean | undefined> {
  if (password.length > LIMITS.passwordLength) return false
  if (running >= LIMITS.passwordChecksAtOnce) {
    if (waiting.length >= LIMITS.passwordChecksWaiting) return undefined
    await new Promise<void>((go) => waiting.push(go))
  }
  running += 1
  try {
    const [name, N, r, p, salt, key] = (hash ?? NOBODY).split('$')
    if (name !== 'scrypt' || salt === undefined || key === undefined) return false
    const expected = Buffer.from(key, 'base64url')
    const given = await derive(password, salt, { N: Number(N), r: Number(r), p: Number(p) })
    return expected.length === given.length && timingSafeEqual(expected, given) && hash !== undefined
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}

function derive(password: string, salt: string, cost: { N: number; r: number; p: number }): Promise<Buffer> {
  return new Promise((done, fail) => {
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, { ...cost, maxmem: 128 * 1024 * 1024 }, (error, key) =>
      error === null ? done(key) : fail(error),
    )
  })
}

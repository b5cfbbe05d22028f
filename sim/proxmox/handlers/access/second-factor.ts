import type { World } from '../../../world/types.ts'
import { shelf, type Thing } from '../shelf.ts'
import { isCodeOf, parseTotp, stepOf } from './totp.ts'

/** What is kept of a user's second factors. Only the entries are ever shown. */
export interface Factors {
  readonly entries: Thing[]
  /** Addresses of numbers of the time, by the id of the entry. */
  readonly totp: Map<string, string>
  /** The last step of time that was used, by the id of the entry: a number is good once. */
  readonly used: Map<string, number>
  /** Recovery keys; undefined is one that was used. */
  recovery: (string | undefined)[]
  totpFailures: number
  failures: number
  totpLocked: boolean
  lockedUntil: number
}

const SHELF = 'tfa'
const TOTP_FAILURES = 8
const FAILURES = 100
const LOCK_SECONDS = 3600

/** The order in which kinds are listed. */
const KINDS = ['recovery', 'totp', 'webauthn', 'u2f', 'yubico']

export function factorsOf(world: World, userid: string): Factors | undefined {
  return shelf(world, SHELF).get(userid) as Factors | undefined
}

export function usersWithFactors(world: World): string[] {
  return [...shelf(world, SHELF).keys()]
}

export function makeFactors(world: World, userid: string): Factors {
  const made: Factors = {
    entries: [],
    totp: new Map(),
    used: new Map(),
    recovery: [],
    totpFailures: 0,
    failures: 0,
    totpLocked: false,
    lockedUntil: 0,
  }
  const factors = factorsOf(world, userid) ?? made
  shelf(world, SHELF).set(userid, factors as unknown as Thing)
  return factors
}

export function forgetFactors(world: World, userid: string): void {
  shelf(world, SHELF).delete(userid)
}

export function entriesOf(factors: Factors | undefined): Thing[] {
  const rank = (entry: Thing) => KINDS.indexOf(String(entry.type))
  return [...(factors?.entries ?? [])].sort((a, b) => rank(a) - rank(b))
}

/** Who is locked out, as lists of users show it. */
export function locksOf(world: World, userid: string): Thing {
  const factors = factorsOf(world, userid)
  const locks: Thing = {}
  if (factors?.totpLocked) locks['totp-locked'] = 1
  if (factors !== undefined && isLocked(world, factors)) locks['tfa-locked-until'] = factors.lockedUntil
  return locks
}

/** Lets a user in again. Answers whether it was locked out; undefined: it has no second factor. */
export function unlock(world: World, userid: string): boolean | undefined {
  const factors = factorsOf(world, userid)
  if (factors === undefined) return undefined
  const locked = factors.totpLocked || isLocked(world, factors)
  Object.assign(factors, { totpFailures: 0, failures: 0, totpLocked: false, lockedUntil: 0 })
  return locked
}

/** What a user can answer with at the second step; undefined: there is none, as all that it has is disabled. */
export function challengeFor(world: World, userid: string): Thing | undefined {
  const factors = factorsOf(world, userid)
  if (factors === undefined) return undefined
  const totp = factors.entries.some((entry) => entry.type === 'totp' && entry.enable !== 0)
  const recovery = factors.recovery.flatMap((key, index) => (key === undefined ? [] : [index]))
  const challenge: Thing = {}
  if (totp) challenge.totp = true
  if (factors.entries.some(({ type }) => type === 'recovery') && recovery.length > 0) challenge.recovery = recovery
  return Object.keys(challenge).length === 0 ? undefined : challenge
}

/** Whether an answer to the second step is right. It counts what goes wrong. */
export function isAnswered(world: World, userid: string, response: string): boolean {
  const factors = factorsOf(world, userid)
  if (factors === undefined || isLocked(world, factors)) return false
  const [, kind = '', value = ''] = /^(totp|u2f|webauthn|recovery):(.*)$/s.exec(response) ?? []
  if (kind === '' || (kind === 'totp' && factors.totpLocked)) return false
  const right = kind === 'totp' ? usesTotp(world, factors, value) : kind === 'recovery' && usesRecovery(factors, value)
  if (right) {
    factors.failures = 0
    return true
  }
  factors.failures += 1
  if (kind === 'totp') factors.totpFailures += 1
  if (factors.totpFailures >= TOTP_FAILURES) factors.totpLocked = true
  if (factors.failures >= FAILURES) factors.lockedUntil = seconds(world) + LOCK_SECONDS
  return false
}

function usesTotp(world: World, factors: Factors, value: string): boolean {
  for (const entry of factors.entries) {
    const id = String(entry.id)
    const totp = parseTotp(factors.totp.get(id) ?? '')
    if (entry.enable === 0 || typeof totp === 'string') continue
    if (!isCodeOf(totp, value, world.clock.now())) continue
    const step = stepOf(totp, value, world.clock.now())
    if (step <= (factors.used.get(id) ?? 0)) return false
    factors.used.set(id, step)
    factors.totpFailures = 0
    return true
  }
  return false
}

/** A recovery key is good once, and lifts every lock. */
function usesRecovery(factors: Factors, value: string): boolean {
  const at = factors.recovery.indexOf(value)
  if (value === '' || at < 0) return false
  factors.recovery[at] = undefined
  Object.assign(factors, { totpLocked: false, lockedUntil: 0, totpFailures: 0 })
  return true
}

function isLocked(world: World, factors: Factors): boolean {
  return factors.lockedUntil > seconds(world)
}

export function seconds(world: World): number {
  return Math.floor(world.clock.now() / 1000)
}

import { LIMITS } from '../../lib/limits.ts'
import type { Role } from './roles.ts'
import { fingerprintOf, unguessable } from './unguessable.ts'
import type { KeyChallenge } from './webauthn.ts'

/** A session of the page. Kept in memory: after a restart everybody signs in again. */
export interface SignedIn {
  readonly user: string
  readonly role: Role
  /** Where the right comes from: removing a local user from the file ends the session at once. */
  readonly source: 'local' | 'oidc'
  /** The identity at the provider, where a name may be given to several people. */
  readonly who?: { readonly issuer: string; readonly subject: string }
  readonly generation: string
  readonly csrf: string
  readonly expiresMs: number
  /** Where it was opened from, and when by the wall clock: for the list of sessions. */
  readonly address: string
  readonly openedMs: number
}

/** A listed session. Its id can only end it. */
export interface ListedSession extends Pick<SignedIn, 'user' | 'role' | 'source' | 'address' | 'openedMs'> {
  readonly id: string
}

/** A session's pending key challenge. */
export interface PendingKey extends KeyChallenge {
  readonly purpose: 'add' | 'show'
  /** The word with which a key is added. */
  readonly invite?: string
  readonly untilMs: number
}

/** The state of a session's second factor. */
interface Factor {
  /** Time until which it counts as shown, on the monotonic clock. */
  untilMs: number
  failures: number
  pending?: PendingKey | undefined
}

export interface Sessions {
  /** Answers the value of the cookie. */
  open(session: Omit<SignedIn, 'csrf'>): string
  find(cookie: string, nowMs: number): SignedIn | undefined
  close(cookie: string): void
  /** All, or those of the person who has this cookie. */
  list(nowMs: number, cookie?: string): readonly ListedSession[]
  /** The id under which this session is listed. */
  idOf(cookie: string): string
  /** Ends the session of that id. */
  end(id: string): void
  /** Notes a right or wrong code. Too many wrong ones end the session. */
  showFactor(cookie: string, right: boolean, nowMs: number): void
  hasFactor(cookie: string, nowMs: number): boolean
  /** Stores the key's challenge, and discards the previous one. */
  askKey(cookie: string, pending: PendingKey): void
  /** Takes a key's challenge once: an answer counts once, and only for its own purpose. */
  takeKey(cookie: string, purpose: PendingKey['purpose'], nowMs: number): PendingKey | undefined
}

export function createSessions(): Sessions {
  // Keyed by the hash of the cookie, so that a memory dump shows no usable cookie.
  const open = new Map<string, SignedIn>()
  const factors = new Map<string, Factor>()
  const remove = (key: string) => {
    open.delete(key)
    factors.delete(key)
  }
  const factorOf = (key: string): Factor | undefined => {
    if (!open.has(key)) return undefined
    const factor = factors.get(key) ?? { untilMs: 0, failures: 0 }
    factors.set(key, factor)
    return factor
  }
  return {
    open(session) {
      const cookie = unguessable()
      if (open.size >= LIMITS.sessions) {
        const [oldest] = open.keys()
        if (oldest !== undefined) remove(oldest)
      }
      open.set(fingerprintOf(cookie), { ...session, csrf: unguessable() })
      return cookie
    },
    find(cookie, nowMs) {
      const key = fingerprintOf(cookie)
      const session = open.get(key)
      if (session === undefined) return undefined
      if (session.expiresMs > nowMs) return session
      remove(key)
      return undefined
    },
    close: (cookie) => remove(fingerprintOf(cookie)),
    list(nowMs, cookie) {
      const own = cookie === undefined ? undefined : open.get(fingerprintOf(cookie))
      return [...open].flatMap(([key, session]) => {
        const { user, role, source, address, openedMs, expiresMs } = session
        if (expiresMs <= nowMs || (cookie !== undefined && !isSamePerson(own, session))) return []
        return [{ id: idOf(key), user, role, source, address, openedMs }]
      })
    },
    idOf: (cookie) => idOf(fingerprintOf(cookie)),
    end(id) {
      for (const key of open.keys()) if (idOf(key) === id) remove(key)
    },
    showFactor(cookie, right, nowMs) {
      const key = fingerprintOf(cookie)
      const factor = factorOf(key)
      if (factor === undefined) return
      if (right) Object.assign(factor, { untilMs: nowMs + LIMITS.secondFactorMs, failures: 0 })
      else if (++factor.failures >= LIMITS.secondFactorFailures) remove(key)
    },
    hasFactor: (cookie, nowMs) => (factors.get(fingerprintOf(cookie))?.untilMs ?? 0) > nowMs,
    askKey(cookie, pending) {
      const factor = factorOf(fingerprintOf(cookie))
      if (factor !== undefined) factor.pending = pending
    },
    takeKey(cookie, purpose, nowMs) {
      const factor = factors.get(fingerprintOf(cookie))
      const pending = factor?.pending
      if (factor !== undefined) factor.pending = undefined
      return pending?.purpose === purpose && pending.untilMs > nowMs ? pending : undefined
    },
  }
}

function isSamePerson(one: SignedIn | undefined, other: SignedIn): boolean {
  return (
    one?.user === other.user &&
    one.source === other.source &&
    one.who?.issuer === other.who?.issuer &&
    one.who?.subject === other.who?.subject
  )
}

/** Derives an id from the hash that stores the session; the cookie cannot be computed from it. */
function idOf(key: string): string {
  // Hex: a person types it after a command, where a leading dash would be an option.
  return Buffer.from(key, 'base64url').toString('hex').slice(0, 16)
}

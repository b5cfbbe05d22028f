import { LIMITS } from '../../lib/limits.ts'
import type { Role } from './roles.ts'
import { fingerprintOf, unguessable } from './unguessable.ts'

/** Somebody who has signed in on the page. Kept in memory: after a restart everybody signs in again. */
export interface Session {
  readonly user: string
  readonly role: Role
  /** From where the right comes: a local user can be removed from the file, which ends the session at once. */
  readonly source: 'local' | 'oidc'
  readonly generation: string
  readonly csrf: string
  readonly expiresMs: number
}

export interface Sessions {
  /** Answers the value of the cookie. */
  open(session: Omit<Session, 'csrf'>): string
  find(cookie: string, nowMs: number): Session | undefined
  close(cookie: string): void
}

export function createSessions(): Sessions {
  // By the hash of the cookie: a look into this process's memory dump by key shows no usable cookie.
  const open = new Map<string, Session>()
  return {
    open(session) {
      const cookie = unguessable()
      if (open.size >= LIMITS.sessions) {
        const [oldest] = open.keys()
        if (oldest !== undefined) open.delete(oldest)
      }
      open.set(fingerprintOf(cookie), { ...session, csrf: unguessable() })
      return cookie
    },
    find(cookie, nowMs) {
      const key = fingerprintOf(cookie)
      const session = open.get(key)
      if (session === undefined) return undefined
      if (session.expiresMs > nowMs) return session
      open.delete(key)
      return undefined
    },
    close: (cookie) => void open.delete(fingerprintOf(cookie)),
  }
}

import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { Declined } from '../api/route.ts'
import type { Actor } from '../port.ts'
import { createKeyDesk, personOf } from './key-desk.ts'
import type { KeyDesk } from './key-port.ts'
import { LoginRefused, type OidcIdentity } from './oidc.ts'
import { checkPassword } from './passwords.ts'
import { actorOf } from './provider-name.ts'
import { createRate } from './rate.ts'
import { type Role, type Scope, scopesOf } from './roles.ts'
import { createSecondFactors, type SecondFactors } from './second-factors.ts'
import { generationOf } from './security-keys.ts'
import { createSessions, type ListedSession, type SignedIn } from './sessions.ts'
import { judgeToken, type TokensFile } from './tokens.ts'
import { findAlike, findLinked, findUser, type UsersFile } from './users.ts'

/** The caller. `csrf` is set for sessions only: browsers never send a token by themselves. */
export interface Who {
  readonly actor: Actor
  readonly scopes: readonly Scope[]
  readonly role?: Role
  readonly name?: string
  readonly csrf?: string
}

export const NOBODY: Who = { actor: { name: 'nobody', from: 'page' }, scopes: ['read'] }

export interface Doorkeeper extends SecondFactors {
  /** Judged again at every request, so that a removed user loses access at once. */
  identify(authorization: string | undefined, cookie: string | undefined): Promise<Who>
  signIn(name: string, password: string, address: string): Promise<{ readonly cookie: string; readonly who: Who }>
  signInOidc(identified: OidcIdentity, address: string): Promise<string>
  readonly keys: KeyDesk
  /** All sessions, or those of this cookie's user. */
  sessions(cookie?: string): readonly ListedSession[]
  sessionId(cookie: string): string
  endSession(id: string): void
  signOut(cookie: string): void
  /** Reports whether a user can sign in with a password. */
  local(): Promise<boolean>
}

export function createDoorkeeper(
  clock: Clock,
  users: UsersFile | undefined,
  tokens: TokensFile | undefined,
  needsFactor = false,
): Doorkeeper {
  const sessions = createSessions()
  const rate = createRate(LIMITS.loginRate)
  const names = createRate(LIMITS.loginNameRate)
  const codes = createRate(LIMITS.secondFactorRate)

  async function byToken(token: string): Promise<Who> {
    const verdict = tokens === undefined ? 'unknown' : await judgeToken(tokens, token, clock.now())
    if (verdict === 'expired') throw new Declined(401, 'expired', 'This token has expired. Create another one.')
    if (verdict === 'unknown') throw new Declined(401, 'unauthorized', 'This token is not known here.')
    return { actor: { name: `token:${verdict.name}`, from: 'api' }, scopes: verdict.scopes, name: verdict.name }
  }

  const providerGeneration = async (session: SignedIn) =>
    users === undefined ? '' : generationOf(users, personOf(session))

  async function bySession(cookie: string): Promise<Who> {
    const session = sessions.find(cookie, clock.monotonicMs())
    if (session === undefined) return NOBODY
    const find = session.source === 'oidc' ? findAlike : findUser
    const user = users === undefined ? undefined : await find(users, session.user)
    const gone =
      user?.disabled === true ||
      (session.source === 'oidc' &&
        (user !== undefined || (await providerGeneration(session)) !== session.generation)) ||
      (session.source === 'local' && (user === undefined || user.generation !== session.generation))
    if (gone) {
      sessions.close(cookie)
      return NOBODY
    }
    // A local user has the file's present role, not the one at sign-in.
    const role = session.source === 'local' && user !== undefined ? user.role : session.role
    return of(session, role)
  }

  return {
    async local() {
      try {
        return (await users?.read())?.users.some(({ password }) => password !== undefined) === true
      } catch {
        return false
      }
    },
    async identify(authorization, cookie) {
      if (authorization !== undefined) {
        const [, token] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization) ?? []
        if (token === undefined) throw new Declined(401, 'unauthorized', 'Only Bearer tokens are taken.')
        return byToken(token)
      }
      return cookie === undefined ? NOBODY : bySession(cookie)
    },
    async signIn(name, password, address) {
      const nowMs = clock.monotonicMs()
      // Limits attempts by address, and loosely by name: this slows one guesser and many behind different addresses,
      // and guessing at a name all day does not lock its owner out.
      if (!rate.take(address, nowMs) || !names.take(name, nowMs))
        throw new Declined(429, 'too-many', 'Too many attempts. Wait a few seconds.')
      const user = users === undefined ? undefined : await findUser(users, name)
      const right = await checkPassword(password, user?.password)
      if (right === undefined) throw new Declined(429, 'too-many', 'Too many attempts. Wait a few seconds.')
      if (!right || user === undefined || user.disabled === true)
        throw new Declined(401, 'unauthorized', 'Name and password do not fit.')
      const { role, generation } = user
      const expiresMs = clock.monotonicMs() + LIMITS.sessionMs
      const openedMs = clock.now()
      const cookie = sessions.open({ user: name, role, source: 'local', generation, expiresMs, address, openedMs })
      return { cookie, who: await bySession(cookie) }
    },
    async signInOidc({ name, role, issuer, subject }, address) {
      const linked = users === undefined ? undefined : await findLinked(users, { issuer, subject })
      const named = users === undefined ? undefined : await findAlike(users, name)
      if (linked?.disabled === true || named?.disabled === true) throw new LoginRefused('This user is disabled here.')
      const expiresMs = clock.monotonicMs() + LIMITS.oidcSessionMs
      const openedMs = clock.now()
      if (linked !== undefined) {
        const { name: user, role: own, generation } = linked
        return sessions.open({ user, role: own, source: 'local', generation, expiresMs, address, openedMs })
      }
      // A provider may give anyone any name, so the name alone does not make its owner the local user.
      if (named !== undefined) {
        const is = named.name === name ? 'is' : `looks like ${named.name},`
        throw new LoginRefused(
          `${name} ${is} a user of this croft who is not linked with you. Whoever runs it can do so: croft user set ${named.name} --role ${named.role} --oidc-issuer ${issuer} --oidc-subject ${subject}`,
        )
      }
      // Two people may share a name there: the subject identifies them.
      const who = { issuer, subject }
      const generation = users === undefined ? '' : await generationOf(users, { ...who, name })
      return sessions.open({ user: name, role, source: 'oidc', who, generation, expiresMs, address, openedMs })
    },
    ...createSecondFactors({ clock, users, sessions, needsFactor, rate: codes }),
    keys: createKeyDesk({ clock, users, sessions, needsFactor, rate: codes }),
    sessions: (cookie) => sessions.list(clock.monotonicMs(), cookie),
    sessionId: (cookie) => sessions.idOf(cookie),
    endSession: (id) => sessions.end(id),
    signOut: (cookie) => sessions.close(cookie),
  }
}

function of({ user: name, csrf, who }: SignedIn, role: Role): Who {
  const actor = { name: who === undefined ? `page:${name}` : actorOf(name, who), from: 'page' } as const
  return { actor, scopes: scopesOf(role), role, name, csrf }
}

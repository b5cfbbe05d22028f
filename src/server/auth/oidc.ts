import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Claims, judgeIdToken, type KeySet, keySet } from './id-token.ts'
import { shownName } from './provider-name.ts'
import { isRole, ROLES, type Role } from './roles.ts'
import { createSeal } from './seal.ts'
import { sameSecret, unguessable } from './unguessable.ts'

/** How people sign in with an OpenID Connect provider: authorization code with PKCE. */
export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  /** Read when it is needed, so that it is nowhere else. Public clients have none. */
  readonly clientSecret?: () => string | Promise<string>
  /** Where the provider sends the browser back: `https://croft.example/api/login/oidc/callback`. */
  readonly redirectUrl: string
  readonly scopes?: readonly string[]
  /** Which claim is the name; `preferred_username` unless told, and `sub` where it is absent. */
  readonly nameClaim?: string
  /** Which claim holds groups or roles, and what they mean here. Who has none of them may only read. */
  readonly roleClaim?: string
  readonly roles?: Readonly<Record<string, Role>>
}

export interface OidcIdentity {
  /** Who it is, for good. A name can be changed, or given to somebody else. */
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly role: Role
}

export interface Oidc {
  /** Where the browser goes, and what must come back with it in a cookie. */
  begin(): Promise<{ readonly location: string; readonly binding: string }>
  finish(query: URLSearchParams, binding: string | undefined): Promise<OidcIdentity>
}

/** What the person sees. The reason never holds a code, a token or a secret. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
}

/** A sign-in under way. The browser keeps it, sealed: whoever begins many of them takes nothing from anybody else. */
const pending = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), untilMs: z.number() })

const discovery = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  jwks_uri: z.string(),
})
type Discovery = z.output<typeof discovery>

export function createOidc(options: OidcOptions, clock: Clock): Oidc {
  const seal = createSeal()
  /** States that came back, until they are too old anyway. */
  const used = new Map<string, number>()
  let found: { readonly it: Discovery; readonly atMs: number } | undefined
  let keys: { readonly it: KeySet; readonly atMs: number } | undefined

  async function discover(): Promise<Discovery> {
    if (found !== undefined && clock.monotonicMs() - found.atMs < LIMITS.oidcSessionMs) return found.it
    const url = `${options.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const it = discovery.parse(await askIssuer(url))
    // A document that names another issuer would let that one sign for this one.
    if (it.issuer !== options.issuer)
      throw new LoginRefused('The provider calls itself by another name than configured.')
    found = { it, atMs: clock.monotonicMs() }
    return it
  }

  async function keysOf(it: Discovery, again: boolean): Promise<KeySet> {
    const age = keys === undefined ? Number.POSITIVE_INFINITY : clock.monotonicMs() - keys.atMs
    if (keys !== undefined && (!again || age < LIMITS.oidcKeysAgainMs)) return keys.it
    keys = { it: keySet.parse(await askIssuer(it.jwks_uri)), atMs: clock.monotonicMs() }
    return keys.it
  }

  return {
    async begin() {
      const it = await discover()
      const nowMs = clock.monotonicMs()
      const [state, nonce, verifier] = [unguessable(), unguessable(), unguessable(48)]
      const binding = seal.close(JSON.stringify({ state, nonce, verifier, untilMs: nowMs + LIMITS.pendingLoginMs }))
      const location = new URL(it.authorization_endpoint)
      const query = {
        response_type: 'code',
        client_id: options.clientId,
        redirect_uri: options.redirectUrl,
        scope: (options.scopes ?? ['openid', 'profile']).join(' '),
        state,
        nonce,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value)
      return { location: location.href, binding }
    },

    async finish(query, binding) {
      const state = query.get('state') ?? ''
      const nowMs = clock.monotonicMs()
      const kept = binding === undefined ? undefined : seal.open(binding)
      const login = kept === undefined ? undefined : pending.parse(JSON.parse(kept))
      if (login === undefined)
        throw new LoginRefused('This sign-in was begun in another browser, or before a restart. Begin it again.')
      for (const [one, untilMs] of used) if (untilMs <= nowMs || used.size > LIMITS.pendingLogins) used.delete(one)
      // Once only: a code or a state that comes a second time is a replay.
      if (login.untilMs <= nowMs || !sameSecret(state, login.state) || used.has(state))
        throw new LoginRefused('This sign-in is not known here, or it took too long. Begin it again.')
      used.set(state, login.untilMs)
      const code = query.get('code')
      if (code === null) throw new LoginRefused('The provider did not agree to the sign-in.')
      const it = await discover()
      const idToken = await redeem(it, options, code, login.verifier)
      const expected = { issuer: options.issuer, clientId: options.clientId, nonce: login.nonce, nowMs: clock.now() }
      let verdict = judgeIdToken(idToken, await keysOf(it, false), expected)
      if (!verdict.ok && verdict.unknownKey === true) verdict = judgeIdToken(idToken, await keysOf(it, true), expected)
      if (!verdict.ok) throw new LoginRefused(`The provider's token is not accepted: ${verdict.reason}.`)
      return identify(verdict.claims, options)
    },
  }
}

/** The name and the strongest role that the claims give. */
export function identify(
  claims: Claims,
  options: Pick<OidcOptions, 'issuer' | 'nameClaim' | 'roleClaim' | 'roles'>,
): OidcIdentity {
  const named = claims[options.nameClaim ?? 'preferred_username']
  const shown = typeof named === 'string' ? shownName(named.slice(0, 256)) : ''
  const name = (shown === '' ? claims.sub : shown).slice(0, 64)
  const held = options.roleClaim === undefined ? undefined : claims[options.roleClaim]
  const words = (Array.isArray(held) ? held : [held]).filter((word): word is string => typeof word === 'string')
  const table = options.roles ?? {}
  const roles = words.flatMap((word) => (Object.hasOwn(table, word) && isRole(table[word]) ? [table[word]] : []))
  return {
    issuer: options.issuer,
    subject: claims.sub,
    name,
    role: ROLES.findLast((role) => roles.includes(role)) ?? 'viewer',
  }
}

async function redeem(it: Discovery, options: OidcOptions, code: string, verifier: string): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: options.redirectUrl,
    client_id: options.clientId,
    code_verifier: verifier,
  })
  const secret = await options.clientSecret?.()
  const headers: Record<string, string> = {}
  if (secret !== undefined) {
    const pair = `${encodeURIComponent(options.clientId)}:${encodeURIComponent(secret)}`
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const answer = z
    .looseObject({ id_token: z.string() })
    .safeParse(await askIssuer(it.token_endpoint, { method: 'POST', body, headers }))
  if (!answer.success) throw new LoginRefused('The provider did not give a token.')
  return answer.data.id_token
}

async function askIssuer(url: string, init: RequestInit = {}): Promise<unknown> {
  const { protocol, hostname } = new URL(url)
  // A provider over plain HTTP could be anybody, except on this very machine.
  if (protocol !== 'https:' && !['127.0.0.1', '[::1]', 'localhost'].includes(hostname))
    throw new LoginRefused('The provider is not reached over HTTPS.')
  try {
    const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(LIMITS.oidcTimeoutMs) })
    const text = await bounded(answer)
    if (!answer.ok) throw new LoginRefused(`The provider answered ${answer.status}.`)
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof LoginRefused) throw error
    throw new LoginRefused('The provider cannot be reached, or its answer cannot be read.')
  }
}

async function bounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length
    if (bytes > LIMITS.oidcAnswerBytes) throw new LoginRefused('The answer of the provider is too large.')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

import type { Configuration, IDToken } from 'openid-client'
import { z } from 'zod'
import { boundedBytes } from '../../lib/bounded-bytes.ts'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { shownName } from './provider-name.ts'
import { isRole, ROLES, type Role } from './roles.ts'
import { createSeal } from './seal.ts'
import { sameSecret, unguessable } from './unguessable.ts'

/** Settings of an OpenID Connect provider: authorization code with PKCE. */
export interface OidcOptions {
  readonly issuer: string
  readonly clientId: string
  /** Read on use, so that it is stored nowhere else. Public clients have none. */
  readonly clientSecret?: () => string | Promise<string>
  /** The callback URL: `https://croft.example/api/login/oidc/callback`. */
  readonly redirectUrl: string
  readonly scopes?: readonly string[]
  /** The claim with the name. Default: `preferred_username`, or `sub` if it is absent. */
  readonly nameClaim?: string
  /** The claim with groups or roles, and their roles here. Without one, a user may only read. */
  readonly roleClaim?: string
  readonly roles?: Readonly<Record<string, Role>>
}

export interface OidcIdentity {
  /** The permanent identity. A name can be changed, or given to another person. */
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly role: Role
}

export interface Oidc {
  /** Returns the provider's URL, and the value of a cookie that must come back with the browser. */
  begin(): Promise<{ readonly location: string; readonly binding: string }>
  finish(query: URLSearchParams, binding: string | undefined): Promise<OidcIdentity>
}

/** A refused sign-in, with the message for the person. It never contains a code, a token or a secret. */
export class LoginRefused extends Error {
  override readonly name = 'LoginRefused'
}

/** A pending sign-in, sealed in the browser's cookie: many of them cost the server nothing. */
const pending = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), untilMs: z.number() })

export function createOidc(options: OidcOptions, clock: Clock): Oidc {
  const seal = createSeal()
  /** States that came back, until they are too old anyway. */
  const used = new Map<string, number>()
  let found: { readonly it: Configuration; readonly atMs: number } | undefined

  async function configured(): Promise<Configuration> {
    if (found === undefined || clock.monotonicMs() - found.atMs >= LIMITS.oidcSessionMs)
      found = { it: await discover(options), atMs: clock.monotonicMs() }
    return found.it
  }

  return {
    async begin() {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client')
      const it = await configured().catch(refuse)
      const [state, nonce, verifier] = [unguessable(), unguessable(), unguessable(48)]
      const untilMs = clock.monotonicMs() + LIMITS.pendingLoginMs
      const location = buildAuthorizationUrl(it, {
        redirect_uri: options.redirectUrl,
        scope: (options.scopes ?? ['openid', 'profile']).join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { location: location.href, binding: seal.close(JSON.stringify({ state, nonce, verifier, untilMs })) }
    },

    async finish(query, binding) {
      const { authorizationCodeGrant } = await import('openid-client')
      const state = query.get('state') ?? ''
      const nowMs = clock.monotonicMs()
      const kept = binding === undefined ? undefined : seal.open(binding)
      const login = kept === undefined ? undefined : pending.parse(JSON.parse(kept))
      if (login === undefined)
        throw new LoginRefused('This sign-in was begun in another browser, or before a restart. Begin it again.')
      for (const [one, untilMs] of used) if (untilMs <= nowMs || used.size > LIMITS.pendingLogins) used.delete(one)
      // Each state counts once: a repeated one is a replay.
      if (login.untilMs <= nowMs || !sameSecret(state, login.state) || used.has(state))
        throw new LoginRefused('This sign-in is not known here, or it took too long. Begin it again.')
      used.set(state, login.untilMs)
      if (!query.has('code')) throw new LoginRefused('The provider did not agree to the sign-in.')
      const back = new URL(options.redirectUrl)
      back.search = query.toString()
      const checks = { expectedState: login.state, expectedNonce: login.nonce, pkceCodeVerifier: login.verifier }
      const grant = authorizationCodeGrant(await configured().catch(refuse), back, { ...checks, idTokenExpected: true })
      const claims = (await grant.catch(refuse)).claims()
      if (claims === undefined) throw new LoginRefused('The provider did not give a token.')
      if (claims.iat * 1000 - LIMITS.clockSkewMs > clock.now())
        throw new LoginRefused("The provider's token is not accepted: it is from the future.")
      return identify(claims, options)
    },
  }
}

async function discover(options: OidcOptions): Promise<Configuration> {
  const oidc = await import('openid-client')
  const { hostname } = new URL(options.issuer)
  const it = await oidc.discovery(
    new URL(options.issuer),
    options.clientId,
    { [oidc.clockTolerance]: LIMITS.clockSkewMs / 1000 },
    oidc.None(),
    {
      [oidc.customFetch]: async (url, init) =>
        askIssuer(url, init.method === 'POST' ? { ...init, headers: await withSecret(init.headers, options) } : init),
      // The library would take a token's word without its signature, because it came over TLS.
      // oxlint-disable-next-line no-deprecated -- marked so only to stand out; askIssuer allows HTTP on loopback alone.
      execute: [oidc.enableNonRepudiationChecks, ...(isLoopback(hostname) ? [oidc.allowInsecureRequests] : [])],
    },
  )
  if (it.serverMetadata().issuer !== options.issuer)
    throw new LoginRefused('The provider calls itself by another name than configured.')
  return it
}

/** Basic authentication. The library's own also escapes `-` and `_`, which not every provider undoes. */
async function withSecret(headers: Readonly<Record<string, string>>, { clientId, clientSecret }: OidcOptions) {
  const secret = await clientSecret?.()
  if (secret === undefined) return headers
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`
  return { ...headers, authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** Says why a sign-in failed. The library's sentences hold no code, no token and no secret; their causes do. */
function refuse(error: unknown): never {
  if (error instanceof LoginRefused) throw error
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof LoginRefused) throw cause
  const { message } = cause instanceof Error ? cause : (error as Error)
  throw new LoginRefused(`The provider's answer is not accepted: ${message}.`)
}

/** The name and the strongest role that the claims give. */
export function identify(
  claims: IDToken,
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

/** Fetches from the provider: over HTTPS, without redirects, bounded in time and size. */
async function askIssuer(url: string, init: object): Promise<Response> {
  const { protocol, hostname } = new URL(url)
  // A provider over plain HTTP is unverified, except on this machine.
  if (protocol !== 'https:' && !isLoopback(hostname)) throw new LoginRefused('The provider is not reached over HTTPS.')
  try {
    const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(LIMITS.oidcTimeoutMs) })
    return new Response(await bounded(answer), { status: answer.status, headers: answer.headers })
  } catch (error) {
    if (error instanceof LoginRefused) throw error
    throw new LoginRefused('The provider cannot be reached, or its answer cannot be read.')
  }
}

function isLoopback(hostname: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
}

async function bounded(answer: Response): Promise<string> {
  const whole = boundedBytes(LIMITS.oidcAnswerBytes)
  for await (const part of answer.body ?? []) whole.take(part)
  return whole.whole().toString('utf8')
}

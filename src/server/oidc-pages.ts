import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIMITS } from '../lib/limits.ts'
import { Declined } from './api/route.ts'
import { LoginRefused, type Oidc } from './auth/oidc.ts'
import { actorOf } from './auth/provider-name.ts'
import type { Doorkeeper } from './auth/who.ts'
import { type CookieNames, readCookie, setSession, writeCookie } from './cookies.ts'
import type { ServerOptions } from './options.ts'
import { sendText } from './respond.ts'

interface OidcPageParts {
  readonly options: ServerOptions
  readonly oidc: Oidc | undefined
  readonly door: Doorkeeper
  readonly cookies: CookieNames
  addressOf(request: IncomingMessage): string
}

/** The two addresses that a browser passes on its way to the provider and back. */
export function createOidcPages({ options, oidc, door, cookies, addressOf }: OidcPageParts) {
  const { clock } = options

  function provider(): Oidc {
    if (oidc === undefined) throw new Declined(404, 'not-found', 'No OpenID Connect provider is configured.')
    return oidc
  }

  function setLogin(response: ServerResponse, value: string, maxAgeMs: number): void {
    // Lax: the browser comes back from the provider by a link, and must bring this one along.
    const cookie = writeCookie(cookies.login, value, { secure: cookies.secure, sameSite: 'Lax', maxAgeMs })
    response.appendHeader('set-cookie', cookie)
  }

  function note(name: `${'page' | 'oidc'}:${string}`, result: 'done' | 'refused', message: string): void {
    const actor = { name, from: 'page' } as const
    options.audit?.({ atMs: clock.now(), actor, what: 'sign-in', about: 'oidc', result, message })
  }

  /** A person reads this, because a link led here. */
  async function refuse(error: unknown, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(error instanceof LoginRefused)) throw error
    note('page:nobody', 'refused', error.message)
    const text = `You are not signed in. ${error.message}\nGo back to croft and try again.\n`
    await sendText(request, response, 401, text)
  }

  return {
    async begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
      try {
        const { location, binding } = await provider().begin()
        setLogin(response, binding, LIMITS.pendingLoginMs)
        response.writeHead(302, { location, 'cache-control': 'no-store' }).end()
      } catch (error) {
        await refuse(error, request, response)
      }
    },

    async finish(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
      try {
        const cookie = readCookie(request.headers.cookie, cookies.login)
        const identified = await provider().finish(url.searchParams, cookie)
        setSession(response, cookies, await door.signInOidc(identified, addressOf(request)), LIMITS.oidcSessionMs)
        setLogin(response, '', 0)
        note(
          actorOf(identified.name, identified),
          'done',
          `${identified.subject} of ${identified.issuer}`.slice(0, 400),
        )
        response.writeHead(302, { location: '/', 'cache-control': 'no-store' }).end()
      } catch (error) {
        await refuse(error, request, response)
      }
    },
  }
}

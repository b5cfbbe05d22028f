import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined } from '../lib/defined.ts'
import { turnsOf } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import { checking, writing } from './answer-steps.ts'
import { refusalFor } from './api/rights.ts'
import { type Context, Declined, type Route } from './api/route.ts'
import { ROUTES } from './api/routes.ts'
import type { Me } from './api/schemas.ts'
import type { Oidc } from './auth/oidc.ts'
import { createRate } from './auth/rate.ts'
import { sameSecret } from './auth/unguessable.ts'
import { type Doorkeeper, NOBODY, type Who } from './auth/who.ts'
import { clientAddress } from './client-address.ts'
import { createConsoleDesk } from './consoles/console-desk.ts'
import type { Upgrade } from './consoles/console-port.ts'
import { type CookieNames, readCookie, setSession } from './cookies.ts'
import type { HealthStrips } from './health-strips.ts'
import { createOidcPages } from './oidc-pages.ts'
import type { ServerOptions } from './options.ts'
import { isOwnOrigin, type Names } from './origin-rules.ts'
import type { PageFile } from './page-files.ts'
import { createPodLogs } from './pod-logs.ts'
import { readBody } from './read-body.ts'
import { JSON_TYPE, sendFile, sendJson, sendText } from './respond.ts'
import { shownJson, shownText } from './shown-json.ts'
import { createStatusPage } from './status-page.ts'
import { createOpenReaders, isSameReader } from './stays-open.ts'
import type { Stream } from './stream.ts'

export interface Front {
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Takes a connection that asks to become a web socket. Declines what it does not take. */
  join(upgrade: Upgrade): Promise<void>
  /** Ends what lasts. */
  close(): void
}

interface FrontParts {
  readonly options: ServerOptions
  readonly names: Names
  readonly files: ReadonlyMap<string, PageFile>
  readonly stream: Stream
  readonly strips: HealthStrips
  readonly door: Doorkeeper
  readonly oidc: Oidc | undefined
  readonly cookies: CookieNames
}

/** Decides what a request is and who may have it. */
export function createFront(parts: FrontParts): Front {
  const { options, names, files, stream, strips, door, oidc, cookies } = parts
  const { controller, clock } = options
  const routes = new Map(ROUTES.map((route) => [`${route.method} ${route.path}`, route]))
  const hookRate = createRate(LIMITS.webhookRate)
  const strangers = createRate(LIMITS.refusedAuditRate)
  const listening = new Map<string, number>()

  const addressOf = (request: IncomingMessage) =>
    clientAddress(request.socket.remoteAddress, request.headers['x-forwarded-for'], options.trustedProxies ?? [])

  const oidcPages = createOidcPages({ options, oidc, door, cookies, addressOf })

  const consoles = createConsoleDesk(options, door)

  const readers = createOpenReaders(clock)

  const podLogs = createPodLogs(options, readers)

  const style = [...files.keys()].find((name) => /^\/status-[A-Z0-9]{8}\.css$/.test(name))
  const statusPage =
    options.status === undefined ? undefined : createStatusPage(controller, clock, options.status, style)

  const sessionOf = (request: IncomingMessage) => readCookie(request.headers.cookie, cookies.session)

  const meOf = async (who: Who): Promise<Me> => ({
    scopes: who.scopes,
    signIn: { local: await door.local(), oidc: oidc !== undefined },
    version: options.version,
    ...defined({ name: who.name, role: who.role, csrf: who.csrf }),
  })

  function checkOrigin({ headers }: IncomingMessage): void {
    const site = headers['sec-fetch-site']
    const foreign = site !== undefined && site !== 'same-origin'
    if (foreign || !isOwnOrigin(headers.origin, headers.host, names))
      throw new Declined(403, 'forged', 'This request comes from another page.')
  }

  /** Refuses a change unless it comes from our page, or from a program with a token. */
  function checkForgery(request: IncomingMessage, who: Who): void {
    const type = request.headers['content-type'] ?? ''
    if (!/^application\/json\s*(;|$)/i.test(type))
      throw new Declined(request.headers.cookie === undefined ? 415 : 403, 'wrong-type', 'Send application/json.')
    if (request.headers.authorization !== undefined) return
    checkOrigin(request)
    if (who.csrf !== undefined && !sameSecret(String(request.headers['x-croft-csrf'] ?? ''), who.csrf))
      throw new Declined(403, 'forged', 'The CSRF token is missing or wrong. Load the page again.')
  }

  async function callRoute(route: Route, url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let who = NOBODY
    let about = ''
    const audit = (result: 'done' | 'refused', message: string) => {
      if (route.audit === undefined) return
      const { actor } = who
      const stranger = who === NOBODY && result === 'refused'
      if (stranger && !strangers.take('', clock.monotonicMs())) return
      const shown = stranger ? shownText(about, LIMITS.refusedAuditLength) : about
      options.audit?.({ atMs: clock.now(), actor, what: route.path.slice(5), about: shown, result, message })
    }
    try {
      who = await door.identify(request.headers.authorization, sessionOf(request))
      const writes = route.method === 'POST'
      const signingIn = route.path.startsWith('/api/sign-')
      // Signing in ignores the session: an old one must not block it.
      if (writes) checkForgery(request, signingIn && route.path === '/api/sign-in' ? NOBODY : who)
      const body = writes
        ? parseJson(await readBody(request, LIMITS.apiBodyBytes))
        : Object.fromEntries(url.searchParams)
      about = route.audit === 'input' ? shownJson(body) : route.audit === 'name' ? nameIn(body) : ''
      const closed = options.signedInOnly === true && who === NOBODY && !signingIn && route.path !== '/api/me'
      if (closed) throw new Declined(401, 'unauthorized', 'Sign in to read this.')
      const refused = refusalFor(who, route)
      if (refused !== undefined) throw new Declined(refused.status, refused.code, refused.message)
      const input = route.input.safeParse(body)
      if (!input.success) {
        const [issue] = input.error.issues
        const at = issue?.path.join('.') ?? ''
        throw new Declined(400, 'malformed', `${at === '' ? '' : `${at}: `}${issue?.message ?? 'not well formed'}`)
      }
      for (const further of route.raises ?? []) {
        const more = further.applies(input.data as never) ? refusalFor(who, further) : undefined
        if (more !== undefined) throw new Declined(more.status, more.code, `${further.when}: ${more.message}`)
      }
      const turns = turnsOf(clock)
      const answer = await route.handle(contextFor(who, request, response), input.data)
      const output = await turns.perform(checking(route.output, answer))
      audit('done', isGranted(output) ? output.message : '')
      await sendText(request, response, 200, await turns.perform(writing(output)), JSON_TYPE)
    } catch (error) {
      audit('refused', error instanceof Declined ? error.message : 'it failed')
      throw error
    }
  }

  function contextFor(who: Who, request: IncomingMessage, response: ServerResponse): Context {
    return {
      controller,
      clock,
      stream,
      strips,
      version: options.version,
      actor: who.actor,
      known: who !== NOBODY,
      me: () => meOf(who),
      async signIn(name, password) {
        const opened = await door.signIn(name, password, addressOf(request))
        const old = sessionOf(request)
        if (old !== undefined) door.signOut(old)
        readers.judgeNow()
        setSession(response, cookies, opened.cookie, LIMITS.sessionMs)
        return meOf(opened.who)
      },
      signOut() {
        const cookie = sessionOf(request)
        if (cookie !== undefined) door.signOut(cookie)
        readers.judgeNow()
        setSession(response, cookies, '', 0)
        return meOf(NOBODY)
      },
      async secondFactor() {
        if (request.headers.authorization !== undefined) return
        const owed = await door.owesFactor(sessionOf(request))
        if (owed === 'factor') throw new Declined(403, 'second-factor', 'Show your second factor first.')
        if (owed === 'device')
          throw new Declined(
            403,
            'no-second-factor',
            `This needs a second factor. Add a security key under Sessions, or ask your croft administrator for an authenticator app: croft user totp ${who.name ?? 'NAME'}`,
          )
      },
      async showFactor(code) {
        const cookie = sessionOf(request)
        if (cookie === undefined || who === NOBODY) throw new Declined(401, 'unauthorized', 'Sign in to do this.')
        await door.showFactor(cookie, code)
      },
      keys() {
        const cookie = sessionOf(request)
        const { origin } = request.headers
        // Keys need a session and an origin: tokens have no session, and other programs no origin.
        if (cookie === undefined || who.csrf === undefined || origin === undefined)
          throw new Declined(401, 'unauthorized', 'Sign in on the page to do this.')
        return { desk: door.keys, place: { cookie, origin } }
      },
      consoles() {
        const cookie = sessionOf(request)
        if (cookie === undefined || who.csrf === undefined)
          throw new Declined(401, 'unauthorized', 'Sign in on the page to do this. In a terminal: croft console NAME.')
        return { desk: consoles, place: { cookie, actor: who.actor } }
      },
      async ownKeys() {
        const cookie = sessionOf(request)
        return cookie === undefined || who.csrf === undefined ? [] : door.keys.list(cookie)
      },
      sessions() {
        if (who === NOBODY || who.name === undefined) return []
        const all = who.scopes.includes('admin')
        const cookie = sessionOf(request)
        const own = cookie === undefined || who.csrf === undefined ? undefined : door.sessionId(cookie)
        if (!all && own === undefined) return []
        return door.sessions(all ? undefined : cookie).map((one) => ({ ...one, own: one.id === own }))
      },
      endSession(id) {
        door.endSession(id)
        readers.judgeNow()
      },
    }
  }

  const identified = (request: IncomingMessage) => door.identify(request.headers.authorization, sessionOf(request))

  /** Ends a stream with the right to it; a reader with other rights reconnects with those. */
  function watchReader(request: IncomingMessage, response: ServerResponse, was: Who): void {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    readers.watch({
      may: async () => isSameReader(was, await identified(request)),
      end: () => response.end(),
      over: response.destroyed ? AbortSignal.abort() : gone.signal,
    })
  }

  async function hook(source: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (options.webhook === undefined) throw new Declined(404, 'not-found', 'No webhook is configured.')
    // Counted before a byte of the body is read: a flood must cost nothing.
    if (!hookRate.take(addressOf(request), clock.monotonicMs()))
      throw new Declined(429, 'too-many', 'Too many notices. The source is looked at by itself as well.')
    const body = await readBody(request, LIMITS.webhookBodyBytes)
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
    )
    const verdict = await options.webhook({ source, headers, body })
    if (verdict.take === 'refuse') throw new Declined(verdict.status, 'refused', verdict.message)
    if (verdict.take === 'poke') controller.poke(source)
    await sendJson(request, response, 202, { ok: true })
  }

  async function open(path: string, url: URL, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    switch (path) {
      case '/healthz': {
        const well = options.healthy?.() ?? true
        await sendText(request, response, well ? 200 : 503, well ? 'ok\n' : 'not well\n')
        return true
      }
      case '/readyz': {
        const ready = controller.ready()
        await sendText(request, response, ready ? 200 : 503, ready ? 'ready\n' : 'no complete pass yet\n')
        return true
      }
      case '/metrics':
        if (options.metrics === undefined) throw new Declined(404, 'not-found', 'No metrics here.')
        await sendText(request, response, 200, await options.metrics(), 'text/plain; version=0.0.4; charset=utf-8')
        return true
      case '/api/events': {
        if (request.method === 'HEAD') throw new Declined(405, 'method', 'A stream has no head.')
        const last = request.headers['last-event-id']
        const after = (typeof last === 'string' ? last : undefined) ?? url.searchParams.get('after') ?? undefined
        const address = addressOf(request)
        const own = listening.get(address) ?? 0
        if (own >= LIMITS.streamsPerAddress) throw new Declined(503, 'too-many', 'Too many listeners. Try again later.')
        listening.set(address, own + 1)
        response.once('close', () => {
          const left = (listening.get(address) ?? 1) - 1
          if (left > 0) listening.set(address, left)
          else listening.delete(address)
        })
        const who = await identified(request)
        if (!(await stream.attach(response, after)))
          throw new Declined(503, 'too-many', 'Too many listeners. Try again later.')
        watchReader(request, response, who)
        return true
      }
      case '/api/logs':
        await podLogs(url, await identified(request), request, response, () => identified(request))
        return true
      case '/api/console':
        throw new Declined(426, 'upgrade', 'A console is a web socket.')
      case '/status':
        if (statusPage === undefined) return false
        sendFile(request, response, statusPage())
        return true
      case '/api/sign-in/oidc':
        await oidcPages.begin(request, response)
        return true
      case '/api/sign-in/oidc/callback':
        await oidcPages.finish(url, request, response)
        return true
      default:
        return false
    }
  }

  return {
    async answer(request, response) {
      const url = ownUrl(request.url ?? '/')
      const method = request.method === 'HEAD' ? 'GET' : request.method
      const path = url.pathname
      const route = routes.get(`${method} ${path}`)
      if (route !== undefined) return callRoute(route, url, request, response)
      const [, source] = /^\/hooks\/([A-Za-z0-9][\w.-]{0,63})$/.exec(path) ?? []
      if (source !== undefined && method === 'POST') return hook(source, request, response)
      if (method !== 'GET') throw new Declined(405, 'method', 'This cannot be asked for in that way.')
      if (options.signedInOnly === true && (path === '/metrics' || path === '/api/events'))
        if ((await door.identify(request.headers.authorization, sessionOf(request))) === NOBODY)
          throw new Declined(401, 'unauthorized', 'Sign in to read this, or show a token.')
      if (await open(path, url, request, response)) return
      const file = files.get(path)
      if (file !== undefined) return sendFile(request, response, file)
      if (path === '/') {
        await sendText(
          request,
          response,
          200,
          'croft is running; its page is not built. The API is at /api/openapi.json.\n',
        )
        return
      }
      throw new Declined(404, 'not-found', 'There is nothing at this address.')
    },
    async join(upgrade) {
      const { request } = upgrade
      const cookie = sessionOf(request)
      // A browser sends its session and never a token.
      const who = cookie === undefined ? NOBODY : await door.identify(undefined, cookie)
      try {
        checkOrigin(request)
        if (cookie === undefined || who === NOBODY) throw new Declined(401, 'unauthorized', 'Sign in to do this.')
        if (!who.scopes.includes('admin'))
          throw new Declined(403, 'forbidden', `This needs the right "admin", which ${who.name} does not have.`)
        await consoles.join({ actor: who.actor, cookie }, upgrade)
      } catch (error) {
        const message = error instanceof Declined ? error.message : 'it failed'
        const { actor } = who
        if (who !== NOBODY)
          options.audit?.({ atMs: clock.now(), actor, what: 'console', about: '', result: 'refused', message })
        throw error
      }
    },
    close: () => consoles.close(),
  }
}

/** Reports whether a request opens the web socket of a console. Other upgrades get an HTTP answer. Pure. */
export function asksForConsole({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && url === '/api/console' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Accepts only a path of ours. A URL with a host is for proxies, and its path would differ from what it looks like. */
function ownUrl(asked: string): URL {
  const url = /^\/(?!\/)/.test(asked) ? URL.parse(asked, 'http://croft') : null
  if (url === null) throw new Declined(400, 'malformed', 'This is not an address of a page.')
  // A proxy in front judges the raw path: refuse one that changes in parsing.
  if (url.pathname !== asked.replace(/[?#].*$/s, ''))
    throw new Declined(404, 'not-found', 'There is nothing at this address.')
  return url
}

function parseJson(body: Buffer): unknown {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch {
    throw new Declined(400, 'malformed', 'The body is not JSON.')
  }
  if (isDeeper(value, LIMITS.apiBodyDepth)) throw new Declined(400, 'malformed', 'The body is nested too deeply.')
  return value
}

function isDeeper(value: unknown, than: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return than === 0 || Object.values(value).some((inner) => isDeeper(inner, than - 1))
}

function nameIn(body: unknown): string {
  const name = typeof body === 'object' && body !== null && 'name' in body ? body.name : undefined
  return typeof name === 'string' ? shownJson({ name: name.slice(0, 64) }) : ''
}

function isGranted(output: unknown): output is { readonly message: string } {
  return typeof output === 'object' && output !== null && 'message' in output && typeof output.message === 'string'
}

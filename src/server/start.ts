import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LIMITS } from '../lib/limits.ts'
import { Declined } from './api/route.ts'
import { createOidc } from './auth/oidc.ts'
import { tokensFile } from './auth/tokens.ts'
import { unguessable } from './auth/unguessable.ts'
import { usersFile } from './auth/users.ts'
import { createDoorkeeper } from './auth/who.ts'
import type { Upgrade } from './consoles/console-port.ts'
import { cookieNames } from './cookies.ts'
import { asksForConsole, createFront, type Front } from './front.ts'
import { createHealthStrips } from './health-strips.ts'
import type { RunningServer, ServerOptions } from './options.ts'
import { isOwnHost, type Names } from './origin-rules.ts'
import { findPage, readPage } from './page-files.ts'
import { sendJson } from './respond.ts'
import { shownText } from './shown-json.ts'
import { createStream } from './stream.ts'

/** Serves the page and the API until it is closed. Rejects when the port is taken. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { controller, clock } = options
  const host = options.host ?? '127.0.0.1'
  const files = readPage(options.page ?? (await findPage()))
  const stream = createStream(controller, clock, unguessable(6).replace(/[.]/g, 'x'), options.warn)
  const strips = createHealthStrips()
  strips.recall(controller.past?.hours(clock.now(), 24) ?? [], clock.now())
  strips.note(controller.view(), clock.now())
  const unsubscribe = controller.subscribe((view) => strips.note(view, clock.now()))
  const server = createServer({
    maxHeaderSize: LIMITS.serverHeaderBytes,
    headersTimeout: LIMITS.serverHeadersMs,
    requestTimeout: LIMITS.serverRequestMs,
    keepAliveTimeout: LIMITS.serverIdleMs,
    connectionsCheckingInterval: LIMITS.serverHeadersMs / 2,
    requireHostHeader: true,
  })
  server.maxConnections = LIMITS.serverConnections
  const port = await listen(server, options.port, host)
  const names: Names = {
    host,
    port,
    names: options.names ?? [],
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
  }
  const front = createFront({
    options,
    names,
    files,
    stream,
    strips,
    cookies: cookieNames(options.publicUrl?.startsWith('https:') === true),
    door: createDoorkeeper(
      clock,
      options.usersFile === undefined ? undefined : usersFile(options.usersFile),
      options.tokensFile === undefined ? undefined : tokensFile(options.tokensFile),
      options.needsSecondFactor,
    ),
    oidc: options.oidc === undefined ? undefined : createOidc(options.oidc, clock),
  })
  server.on('request', (request, response) => void answer(request, response, front, names, options.warn))
  server.on('upgrade', (request, socket, head) => {
    const response = responseOn(request, socket)
    const taken = () => response.detachSocket(socket as Socket)
    const upgrade = asksForConsole(request) ? { request, socket, head, taken } : undefined
    void answer(request, response, front, names, options.warn, upgrade)
  })
  // Ignore clients that speak no HTTP, or leave early.
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
    else socket.destroy()
  })
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async close() {
      unsubscribe()
      stream.close()
      front.close()
      const closed = new Promise<void>((done) => server.close(() => done()))
      server.closeIdleConnections()
      const patience = new AbortController()
      await Promise.race([closed, clock.sleep(LIMITS.serverCloseMs, patience.signal)])
      patience.abort()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Handles one request, and all of its errors. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  front: Front,
  names: Names,
  warn: ServerOptions['warn'],
  upgrade?: Upgrade,
): Promise<void> {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value)
  if (names.publicUrl?.startsWith('https:') === true)
    response.setHeader('strict-transport-security', 'max-age=31536000')
  response.on('error', () => {})
  try {
    // Refuse two Host headers: only one is checked here, and a proxy may have used the other.
    if ((request.headersDistinct.host?.length ?? 0) > 1) throw new Declined(400, 'malformed', 'Name one host.')
    if (!isOwnHost(request.headers.host, names))
      throw new Declined(421, 'misdirected', 'This server is not known under that name. Add it with --name.')
    await (upgrade === undefined ? front.answer(request, response) : front.join(upgrade))
  } catch (error) {
    // A client that went away is no trouble of ours.
    if (!(error instanceof Declined) && !request.destroyed)
      warn?.(
        shownText(
          `${request.method} ${request.url?.split('?')[0]}: ${error instanceof Error ? error.message : 'it failed'}`,
        ).replaceAll(/[\n\t]/g, ' '),
      )
    if (response.headersSent || response.destroyed) {
      response.destroy()
      return
    }
    const declined =
      error instanceof Declined ? error : new Declined(500, 'internal', 'Something went wrong here. The log says what.')
    // Close the connection instead of reading the rest of a refused body.
    if (!request.complete) response.setHeader('connection', 'close')
    await sendJson(request, response, declined.status, { error: declined.code, message: declined.message })
    if (!request.complete) request.destroy()
  }
}

/** Node makes no response for an upgrade request: most of them are answered in HTTP all the same. */
function responseOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.once('finish', () => socket.end())
  socket.on('error', () => socket.destroy())
  return response
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, () => {
      server.off('error', fail)
      done((server.address() as AddressInfo).port)
    })
  })
}

/**
 * Allows only our own scripts, styles, pictures and connections; inline code cannot run, and text cannot become markup
 * (trusted types). The page sets styles through the DOM, which needs no exception here.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

import { isIP, type LookupFunction, Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls'
import { openTunnel, type ProxyAddress } from './tunnel.ts'
import { WireFailure } from './wire.ts'

export interface DialOptions {
  /** `https://192.168.4.175:8006`; croft uses only the origin. */
  readonly endpoint: string
  /** SHA-256 of the certificate, with or without colons. Without it the system's trust store decides. */
  readonly fingerprint?: string
  /** CA certificates (PEM): the server's certificate must be signed by one of them, for the endpoint's name or address. */
  readonly authority?: string
  /** The client certificate and its key. PEM. */
  readonly client?: { readonly certificate: string; readonly key: string }
  /** `http://proxy:3128`: an HTTP proxy that tunnels the connection. The certificate behind it is judged all the same. */
  readonly proxy?: string
  /** Finds the addresses of the endpoint's name, where croft may not connect to all of them. */
  readonly lookup?: LookupFunction
  /** Judges the proxy's address. */
  readonly proxyAddress?: ProxyAddress
}

/** Opens a connection and judges its certificate. Rejects with a WireFailure; until it resolves, no request was sent. */
export type Dial = (signal: AbortSignal) => Promise<TLSSocket>

/** Returns the way to connect to an endpoint, or why the options name none. */
export function createDial(options: DialOptions, connectMs: number): Dial | WireFailure {
  const origin = new URL(options.endpoint)
  if (origin.protocol !== 'https:') return notSent('ERR_NOT_HTTPS', `${options.endpoint} is not an https address`)
  const wanted = options.fingerprint === undefined ? undefined : normalFingerprint(options.fingerprint)
  if (options.fingerprint !== undefined && wanted === undefined) {
    const message = `${options.fingerprint} is not a SHA-256 fingerprint (32 pairs of hex digits)`
    return notSent('ERR_CERT_FINGERPRINT', message)
  }
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  const port = Number(origin.port === '' ? '443' : origin.port)
  // Shared by all connections. With a fingerprint the system's trust store has no say, so Node need not load it.
  const secureContext = createSecureContext({
    ...(wanted === undefined ? {} : { ca: [] }),
    ...(options.authority === undefined ? {} : { ca: options.authority }),
    ...(options.client === undefined ? {} : { cert: options.client.certificate, key: options.client.key }),
  })

  return async (signal) => {
    if (signal.aborted) throw abortedDial()
    return handshake(await tunnel(signal), signal)
  }

  /** Opens the way through the proxy, where the options name one. */
  async function tunnel(signal: AbortSignal): Promise<Socket | undefined> {
    if (options.proxy === undefined) return undefined
    const plain = new Socket()
    const abort = () => plain.destroy()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await openTunnel(plain, options.proxy, host, port, connectMs, options.proxyAddress)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  function handshake(tunneled: Socket | undefined, signal: AbortSignal): Promise<TLSSocket> {
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        host,
        port,
        ...(tunneled === undefined ? {} : { socket: tunneled }),
        // Node must not judge: `complaintAbout` does, and names the fingerprint that it saw.
        rejectUnauthorized: false,
        secureContext,
        ALPNProtocols: ['http/1.1'],
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
      })
      const abort = () => end(abortedDial())
      const late = setTimeout(
        () => end(notSent('ETIMEDOUT', `no connection to ${origin.host} within ${connectMs} ms`)),
        connectMs,
      )
      const end = (failure?: WireFailure) => {
        clearTimeout(late)
        signal.removeEventListener('abort', abort)
        if (failure === undefined) return resolve(socket)
        socket.destroy()
        reject(failure)
      }
      signal.addEventListener('abort', abort, { once: true })
      // The listener stays: a late error without one would end the process.
      socket.on('error', (error) => end(notSent(codeOf(error), error.message)))
      socket.once('close', () => end(notSent('ECONNRESET', `${origin.host} closed the connection`)))
      socket.once('secureConnect', () => end(complaintAbout(socket, origin, wanted, options.authority !== undefined)))
      socket.setNoDelay(true)
      if (signal.aborted) abort()
    })
  }
}

function complaintAbout(
  socket: TLSSocket,
  origin: URL,
  wanted: string | undefined,
  ownAuthority: boolean,
): WireFailure | undefined {
  const shown = socket.getPeerX509Certificate()?.fingerprint256
  if (wanted !== undefined) {
    if (shown !== undefined && normalFingerprint(shown) === wanted) return undefined
    const message = `the certificate of ${origin.host} has SHA-256 ${shown ?? 'none'}, expected ${withColons(wanted)}; no request was sent`
    return notSent('ERR_CERT_FINGERPRINT', message)
  }
  if (socket.authorized) return undefined
  const why = String(socket.authorizationError ?? 'it could not be verified')
  if (ownAuthority) {
    const message = `the certificate of ${origin.host} was not made for it by the CA that we know (${why}); no request was sent`
    return notSent('ERR_CERT_AUTHORITY', message)
  }
  const message = `the certificate of ${origin.host} is not trusted (${why}); if it is the right one, declare its fingerprint: ${shown ?? 'none shown'}`
  return notSent('ERR_CERT_UNTRUSTED', message)
}

/** Upper-case hex without colons, or undefined when it is no SHA-256. */
function normalFingerprint(text: string): string | undefined {
  const hex = text.replaceAll(':', '').trim().toUpperCase()
  return /^[0-9A-F]{64}$/.test(hex) ? hex : undefined
}

function withColons(hex: string): string {
  return hex.match(/../g)?.join(':') ?? hex
}

function abortedDial(): WireFailure {
  return notSent('ABORTED', 'given up before it was connected')
}

export function notSent(code: string, message: string): WireFailure {
  return new WireFailure('no', code, message)
}

export function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'ECONNRESET'
}

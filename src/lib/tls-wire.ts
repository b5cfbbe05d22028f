import { isIP, Socket } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import { type ConnectionOptions, connect as connectTls, createSecureContext, type TLSSocket } from 'node:tls'
import { Http1Error, type Http1Response, type ResponseReader, readResponse } from './http1-response.ts'
import { LIMITS } from './limits.ts'
import { openTunnel, type ProxyAddress } from './tunnel.ts'
import { type DialedLine, type StreamedBody, type Wire, WireFailure, type WireRequest } from './wire.ts'

export interface TlsWireOptions {
  /** `https://192.168.4.175:8006`; nothing but the origin is used. */
  readonly endpoint: string
  /** SHA-256 of the certificate, with or without colons. Without it the system's trust store decides. */
  readonly fingerprint?: string
  /** Only what these authorities have signed for the endpoint's own name or address is trusted. PEM. */
  readonly authority?: string
  /** Our own certificate and its key. PEM. */
  readonly client?: { readonly certificate: string; readonly key: string }
  /** `http://proxy:3128`: asked to pass the connection on. What it passes is judged like any other. */
  readonly proxy?: string
  /** Judges where that proxy is. */
  readonly proxyAddress?: ProxyAddress
  readonly maxSockets: number
  /** How long an unused connection stays open: less than the other side keeps it. */
  readonly idleMs?: number
  readonly timeouts: { readonly connectMs: number; readonly requestMs: number }
}

/** A request under way. `started`: a judged connection has been written to, so the other side may have seen it. */
interface PendingRequest {
  readonly request: WireRequest
  readonly text: string
  readonly body: Uint8Array | undefined
  readonly streamed: StreamedBody | undefined
  /** The whole request is on its way: from now on an answer is due. */
  readonly sent: () => void
  readonly settle: (answer: Http1Response | WireFailure) => void
  readonly onPart: ((part: Buffer) => void) | undefined
  link: Link | undefined
  started: boolean
  over: boolean
  /** Nothing of the request is still to be sent. */
  whole: boolean
}

/** One connection that has passed judgement, or is on its way there. */
interface Link {
  /** Plain only while a proxy is asked. */
  socket: Socket
  job: PendingRequest | undefined
  reader: ResponseReader | undefined
  /** Answers it has carried; a failure on a used one may only mean that it had been idle too long. */
  served: number
}

/**
 * HTTP/1.1 over TLS with connections kept alive. The certificate is judged before anything is written: not one byte of
 * a request, and no token, can reach the wrong host. Written on node:tls because it is on the hottest path there is:
 * a thousand small answers cost less than half of the processor time that undici needs for them, and the wire is so
 * small that nothing of a general client is missed. No redirects, no compression, no HTTP/2
 * (which has no status line, where Proxmox puts its error text), and no pipelining: from the second request on, Proxmox's
 * server reads a next head while it works on the one before, into the same state.
 */
export function openTlsWire(options: TlsWireOptions): Wire {
  const origin = new URL(options.endpoint)
  if (origin.protocol !== 'https:') return refusingWire('ERR_NOT_HTTPS', `${options.endpoint} is not an https address`)
  const wanted = options.fingerprint === undefined ? undefined : normalFingerprint(options.fingerprint)
  if (options.fingerprint !== undefined && wanted === undefined) {
    const message = `${options.fingerprint} is not a SHA-256 fingerprint (32 pairs of hex digits)`
    return refusingWire('ERR_CERT_FINGERPRINT', message)
  }

  // One for all connections. Where a fingerprint decides, the system's trust store has no say and need not be loaded.
  const secureContext = createSecureContext({
    ...(wanted === undefined ? {} : { ca: [] }),
    ...(options.authority === undefined ? {} : { ca: options.authority }),
    ...(options.client === undefined ? {} : { cert: options.client.certificate, key: options.client.key }),
  })
  const links = new Set<Link>()
  const idle: Link[] = []
  const waiting: PendingRequest[] = []
  const abortions = createAbortions()
  let closed = false

  function start(job: PendingRequest): void {
    const link = idle.pop()
    if (link !== undefined) write(link, job)
    else if (links.size < options.maxSockets) open(job)
    else waiting.push(job)
  }

  function open(job: PendingRequest): void {
    const host = origin.hostname.replace(/^\[|\]$/g, '')
    const port = Number(origin.port === '' ? '443' : origin.port)
    if (options.proxy === undefined) {
      const onread = intoOneBuffer((chunk) => receive(link, chunk))
      const socket = connectTls({ ...tlsOptions(host, port), ...onread })
      const link: Link = { socket, job, reader: undefined, served: 0 }
      secure(link, job)
      return
    }
    const link: Link = { socket: new Socket(), job, reader: undefined, served: 0 }
    links.add(link)
    job.link = link
    openTunnel(link.socket, options.proxy, host, port, options.timeouts.connectMs, options.proxyAddress).then(
      (plain) => {
        if (links.delete(link)) secure(link, job, connectTls({ ...tlsOptions(host, port), socket: plain }))
        else plain.destroy()
      },
      (error: unknown) => drop(link, error instanceof Error ? error : new Error(String(error))),
    )
  }

  function tlsOptions(host: string, port: number): ConnectionOptions {
    return {
      host,
      port,
      // Node must not judge: we do, and say what we saw.
      rejectUnauthorized: false,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(host) === 0 ? { servername: host } : {}),
    }
  }

  function secure(link: Link, job: PendingRequest, socket: TLSSocket = link.socket as TLSSocket): void {
    link.socket = socket
    links.add(link)
    job.link = link
    const late = setTimeout(
      () =>
        socket.destroy(failure('ETIMEDOUT', `no connection to ${origin.host} within ${options.timeouts.connectMs} ms`)),
      options.timeouts.connectMs,
    )
    socket.setNoDelay(true)
    socket.once('secureConnect', () => {
      clearTimeout(late)
      const complaint = complaintAbout(socket, origin, wanted, options.authority !== undefined)
      if (complaint !== undefined) socket.destroy(complaint)
      else if (link.job === undefined) release(link)
      else write(link, link.job)
    })
    // Through a proxy. What comes straight goes into one buffer and does not pass here.
    socket.on('data', (chunk: Buffer) => receive(link, chunk))
    // An answer without a length ends with the connection.
    socket.once('end', () => {
      const answer = link.reader?.end()
      if (answer !== undefined) finish(link, answer)
      socket.destroy()
    })
    socket.on('error', (error) => drop(link, error))
    socket.once('close', () => {
      clearTimeout(late)
      drop(link, new Error('the connection was closed'))
    })
    socket.setTimeout(options.idleMs ?? LIMITS.idleConnectionMs, () => {
      if (link.job === undefined) socket.destroy()
    })
  }

  function write(link: Link, job: PendingRequest): void {
    link.job = job
    link.reader = readResponse(LIMITS.responseBytes, job.onPart)
    job.link = link
    job.started = true
    link.socket.ref()
    if (job.streamed !== undefined) {
      void pour(link, job, job.streamed)
      return
    }
    if (job.body === undefined) {
      link.socket.write(job.text)
      return
    }
    link.socket.cork()
    link.socket.write(job.text)
    link.socket.write(job.body)
    link.socket.uncork()
  }

  /** Writes a body as fast as the other side takes it. An answer that comes before its end ends it. */
  async function pour(link: Link, job: PendingRequest, { chunks, length }: StreamedBody): Promise<void> {
    const { socket } = link
    let left = length
    const giveUp = (code: string, message: string) => socket.destroy(new WireFailure('maybe', code, message))
    try {
      socket.write(job.text)
      for await (const chunk of chunks) {
        if (job.over || socket.destroyed) return
        left -= chunk.length
        if (left < 0) break
        if (!socket.write(chunk) && !(await drained(socket, options.timeouts.requestMs)))
          return void giveUp('ETIMEDOUT', `${origin.host} takes no more bytes`)
      }
    } catch (error) {
      return void giveUp('ERR_BODY', error instanceof Error ? error.message : 'what was to be sent could not be read')
    }
    if (job.over) return
    // Less or more than was announced would be taken for part of the next request.
    if (left !== 0) giveUp('ERR_BODY', 'what was to be sent has another length than before')
    else job.sent()
  }

  function receive(link: Link, chunk: Buffer): void {
    if (link.reader === undefined) {
      // Nobody asked for anything.
      link.socket.destroy()
      return
    }
    try {
      const answer = link.reader.push(chunk)
      if (answer !== undefined) finish(link, answer)
    } catch (error) {
      const code = error instanceof Http1Error ? error.code : 'ERR_HTTP'
      link.socket.destroy(new WireFailure('maybe', code, error instanceof Error ? error.message : 'unreadable'))
    }
  }

  function finish(link: Link, answer: Http1Response): void {
    const { job } = link
    link.job = undefined
    link.reader = undefined
    link.served++
    // An answer before the end of the body leaves the rest of it unsaid: what came next would be taken for it.
    if (answer.reusable && job?.whole !== false) release(link)
    else link.socket.destroy()
    job?.settle(answer)
  }

  /** Hands a free connection to whoever has waited longest. */
  function release(link: Link): void {
    const next = waiting.shift()
    if (next !== undefined) write(link, next)
    else if (closed) link.socket.destroy()
    else {
      idle.push(link)
      // An idle connection must not keep the process from ending.
      link.socket.unref()
    }
  }

  function drop(link: Link, error: Error): void {
    if (!links.delete(link)) return
    const at = idle.indexOf(link)
    if (at !== -1) idle.splice(at, 1)
    const { job } = link
    link.job = undefined
    link.reader = undefined
    job?.settle(failureOf(error, job, link))
    const next = waiting.shift()
    if (next !== undefined) open(next)
  }

  function once(
    request: WireRequest,
    signal: AbortSignal | undefined,
    onPart?: (part: Buffer) => void,
    streamed?: StreamedBody,
  ): Promise<Http1Response> {
    return new Promise((resolve, reject) => {
      const refused = signal?.aborted ? failure('ABORTED', 'given up before it was sent') : invalid(request, closed)
      if (refused !== undefined) return reject(refused)
      const job: PendingRequest = {
        request,
        text: requestText(request, origin.host, streamed?.length),
        body: typeof request.body === 'string' ? undefined : request.body,
        streamed,
        sent: () => {
          job.whole = true
          timer ??= patience()
        },
        onPart,
        link: undefined,
        started: false,
        over: false,
        whole: streamed === undefined,
        settle(answer) {
          if (job.over) return
          job.over = true
          clearTimeout(timer)
          forget?.()
          if (answer instanceof WireFailure) reject(answer)
          else resolve(answer)
        },
      }
      const giveUp = (code: string, message: string) => {
        job.settle(new WireFailure(job.started ? 'maybe' : 'no', code, message))
        const queued = waiting.indexOf(job)
        if (queued !== -1) waiting.splice(queued, 1)
        else job.link?.socket.destroy()
      }
      const abort = () =>
        giveUp('ABORTED', job.started ? 'given up before the answer came' : 'given up before it was sent')
      let forget: (() => void) | undefined
      const { requestMs } = options.timeouts
      // What may go on for ever ends by its signal.
      const patience = () =>
        setTimeout(() => giveUp('ETIMEDOUT', `${origin.host} did not answer within ${requestMs} ms`), requestMs)
      let timer = onPart === undefined && streamed === undefined ? patience() : undefined
      forget = signal === undefined ? undefined : abortions.note(signal, abort)
      start(job)
    })
  }

  /** Not one of the pool: whoever gets it keeps it. */
  async function dial(signal: AbortSignal): Promise<DialedLine> {
    if (closed) throw failure('CLOSED', 'the wire is closed')
    const host = origin.hostname.replace(/^\[|\]$/g, '')
    const port = Number(origin.port === '' ? '443' : origin.port)
    const { connectMs } = options.timeouts
    const plain =
      options.proxy === undefined
        ? {}
        : { socket: await openTunnel(new Socket(), options.proxy, host, port, connectMs, options.proxyAddress) }
    const socket = connectTls({ ...tlsOptions(host, port), ...plain })
    return new Promise((resolve, reject) => {
      const end = (error: Error) => {
        socket.destroy()
        reject(error instanceof WireFailure ? error : failure(codeOf(error), error.message))
      }
      const abort = () => end(failure('ABORTED', 'given up before it was connected'))
      const late = setTimeout(
        () => end(failure('ETIMEDOUT', `no connection to ${origin.host} within ${connectMs} ms`)),
        connectMs,
      )
      const settled = () => {
        clearTimeout(late)
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      socket.setNoDelay(true)
      // Stays: what comes after the end is of no interest, and must not end the process.
      socket.on('error', (error) => {
        settled()
        end(error)
      })
      socket.once('secureConnect', () => {
        settled()
        const complaint = complaintAbout(socket, origin, wanted, options.authority !== undefined)
        if (complaint === undefined && !signal.aborted) resolve({ line: socket, host: origin.host })
        else end(complaint ?? failure('ABORTED', 'given up before it was connected'))
      })
      if (signal.aborted) abort()
    })
  }

  return {
    dial,
    async send(request, signal) {
      try {
        return await once(request, signal)
      } catch (error) {
        // The server may close an idle connection just as a request is put on it. A read can simply be sent again.
        if (request.method !== 'GET' || !(error instanceof WireFailure) || error.code !== 'ERR_IDLE_CLOSED') throw error
        return once(request, signal)
      }
    },
    async stream(request, onText, signal) {
      const decoder = new StringDecoder('utf8')
      const answer = await once(request, signal, (part) => onText(decoder.write(part)))
      const rest = decoder.end()
      if (rest !== '') onText(rest)
      return answer
    },
    upload: (request, body, signal) => once(request, signal, undefined, body),
    async close() {
      closed = true
      for (const job of waiting.splice(0)) job.settle(failure('CLOSED', 'the wire is closed'))
      for (const link of links) link.socket.destroy()
    },
  }
}

/** One listener for each signal, however many requests hang on it: thousands of listeners cost more than their requests. */
function createAbortions() {
  const bySignal = new WeakMap<AbortSignal, Set<() => void>>()
  return {
    note(signal: AbortSignal, abort: () => void): () => void {
      let all = bySignal.get(signal)
      if (all === undefined) {
        const noted = new Set<() => void>()
        all = noted
        bySignal.set(signal, noted)
        signal.addEventListener('abort', () => {
          for (const one of noted) one()
        })
      }
      all.add(abort)
      const noted = all
      return () => noted.delete(abort)
    },
  }
}

/** As much as TLS hands out at once. */
const RECORD_BYTES = 16 * 1024

/**
 * An option of a socket: what arrives lies in one buffer until the next comes. Without it Node makes a buffer and runs a
 * stream for each of a thousand small answers. Its types do not know that connections over TLS take it, too.
 */
function intoOneBuffer(receive: (chunk: Buffer) => void): ConnectionOptions {
  const onread = {
    buffer: Buffer.allocUnsafeSlow(RECORD_BYTES),
    callback(bytes: number, { buffer, byteOffset }: Uint8Array): true {
      receive(Buffer.from(buffer, byteOffset, bytes))
      return true
    },
  }
  return { onread } as ConnectionOptions
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
    return failure('ERR_CERT_FINGERPRINT', message)
  }
  if (socket.authorized) return undefined
  const why = String(socket.authorizationError ?? 'it could not be verified')
  if (ownAuthority) {
    const message = `the certificate of ${origin.host} was not made for it by the CA that we know (${why}); no request was sent`
    return failure('ERR_CERT_AUTHORITY', message)
  }
  const message = `the certificate of ${origin.host} is not trusted (${why}); if it is the right one, declare its fingerprint: ${shown ?? 'none shown'}`
  return failure('ERR_CERT_UNTRUSTED', message)
}

function failureOf(error: Error, job: PendingRequest, link: Link): WireFailure {
  if (error instanceof WireFailure) return error
  const code = codeOf(error)
  const message = error.message === '' ? code : error.message
  if (!job.started) return failure(code, message)
  return new WireFailure('maybe', link.served > 0 ? 'ERR_IDLE_CLOSED' : code, message)
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? 'ECONNRESET'
}

function failure(code: string, message: string): WireFailure {
  return new WireFailure('no', code, message)
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** A line break in a path or a header would begin a second request. */
function invalid(request: WireRequest, closed: boolean): WireFailure | undefined {
  if (closed) return failure('CLOSED', 'the wire is closed')
  if (!TOKEN.test(request.method) || !/^\/[\x21-\x7e]*$/.test(request.path))
    return failure('ERR_INVALID_REQUEST', 'the method or path of the request has characters that it must not have')
  const headers = headerLines(request.headers)
  return typeof headers === 'string' ? undefined : headers
}

const writtenHeaders = new WeakMap<WireRequest['headers'], string>()

/** The headers as they are sent, or what is wrong with them. Whoever sends the same object again has them ready. */
function headerLines(headers: WireRequest['headers']): string | WireFailure {
  const known = writtenHeaders.get(headers)
  if (known !== undefined) return known
  let text = ''
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name) || !/^[\x20-\x7e]*$/.test(value))
      return failure('ERR_INVALID_REQUEST', `the header ${JSON.stringify(name)} has characters that it must not have`)
    text += `${name}: ${value}\r\n`
  }
  writtenHeaders.set(headers, text)
  return text
}

/** Does a socket take more within this time? */
function drained(socket: Socket, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (taken: boolean) => {
      clearTimeout(timer)
      socket.off('drain', ready)
      socket.off('close', ready)
      resolve(taken)
    }
    const ready = () => end(true)
    const timer = setTimeout(() => end(false), ms)
    socket.once('drain', ready)
    socket.once('close', ready)
  })
}

function requestText(request: WireRequest, host: string, streamedLength?: number): string {
  const text = `${request.method} ${request.path} HTTP/1.1\r\nhost: ${host}\r\n${headerLines(request.headers)}`
  const { body } = request
  if (streamedLength !== undefined) return `${text}content-length: ${streamedLength}\r\n\r\n`
  if (body === undefined)
    return request.method === 'POST' || request.method === 'PUT' ? `${text}content-length: 0\r\n\r\n` : `${text}\r\n`
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length
  return `${text}content-length: ${length}\r\n\r\n${typeof body === 'string' ? body : ''}`
}

/** Upper-case hex without colons, or undefined when it is no SHA-256. */
function normalFingerprint(text: string): string | undefined {
  const hex = text.replaceAll(':', '').trim().toUpperCase()
  return /^[0-9A-F]{64}$/.test(hex) ? hex : undefined
}

function withColons(hex: string): string {
  return hex.match(/../g)?.join(':') ?? hex
}

function refusingWire(code: string, message: string): Wire {
  return {
    send: () => Promise.reject(failure(code, message)),
    close: () => Promise.resolve(),
  }
}

import type { ClientRequest } from 'node:http'
import type { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import { readAnswer } from './http-answer.ts'
import { LIMITS } from './limits.ts'
import { createSlots } from './slots.ts'
import { codeOf, createDial, type Dial, type DialOptions, notSent } from './tls-dial.ts'
import { type StreamedBody, type Wire, WireFailure, type WireRequest, type WireResponse } from './wire.ts'
import { createWireExchanges, type WireExchange, type WireExchangeOptions } from './wire-exchange.ts'

export interface TlsWireOptions extends DialOptions {
  readonly maxSockets: number
  /** How long an unused connection is kept: less than on the other side. */
  readonly idleMs?: number
  readonly timeouts: { readonly connectMs: number; readonly requestMs: number }
}

const HEAD_BYTES = 64 * 1024

/**
 * HTTP/1.1 over TLS on Node's own client, with connections kept alive. The agent hands a connection to a request only
 * after its certificate was judged, so no byte of a request, and no token, reaches the wrong host. Follows no redirects
 * and decodes no compression.
 */
export function openTlsWire(options: TlsWireOptions): Wire {
  const dial = createDial(options, options.timeouts.connectMs)
  if (dial instanceof WireFailure) return { send: () => Promise.reject(dial), close: () => Promise.resolve() }
  const { host, hostname, port } = new URL(options.endpoint)
  const closing = new AbortController()
  const agent = judgingAgent(() => dial(closing.signal), options.idleMs ?? LIMITS.idleConnectionMs)
  // The agent's own bound does not count connections that are still being opened.
  const slots = createSlots(options.maxSockets)
  const exchanges = createWireExchanges(host, options.timeouts.requestMs)

  function send(asked: WireRequest, given: WireExchangeOptions): Promise<WireResponse> {
    const refused = refusalOf(asked, given.signal)
    if (refused !== undefined) return Promise.reject(refused)
    return new Promise((resolve, reject) => {
      const exchange = exchanges.open(asked, given, (result) => {
        if (result instanceof WireFailure) reject(result)
        else resolve(result)
      })
      slots.take((freeSlot) => perform(exchange, freeSlot))
    })
  }

  function refusalOf(asked: WireRequest, signal: AbortSignal | undefined): WireFailure | undefined {
    if (signal?.aborted === true) return notSent('ABORTED', 'given up before it was sent')
    if (closing.signal.aborted) return notSent('CLOSED', 'the wire is closed')
    // Node's client checks the method and the headers.
    if (/^\/[\x21-\x7e]*$/.test(asked.path)) return undefined
    return notSent('ERR_INVALID_REQUEST', 'the path of the request has characters that it must not have')
  }

  function perform(exchange: WireExchange, freeSlot: () => void): void {
    const request = exchange.isOpen() ? requestOf(exchange) : undefined
    if (request === undefined) {
      process.nextTick(freeSlot)
      return
    }
    const { asked, onText, streamed } = exchange
    const fail = (error: Error) => exchange.end(failureOf(error, exchange.sent, request.reusedSocket))
    exchange.begin(request)
    request.on('error', fail)
    // The agent takes the connection back right after this event.
    request.once('close', () => process.nextTick(freeSlot))
    readAnswer(request, onText).then(exchange.end, fail)
    if (streamed === undefined) request.end(asked.body)
    else pour(request, streamed, options.timeouts.requestMs).then(exchange.startDeadline, fail)
  }

  function requestOf(exchange: WireExchange): ClientRequest | undefined {
    const { method, path, headers } = exchange.asked
    try {
      // As an import, node:https loads Node's fetch too: 40 ms and 8 MB.
      return process.getBuiltinModule('node:https').request({
        agent,
        hostname: hostname.replace(/^\[|\]$/g, ''),
        port,
        method,
        path,
        headers: { ...headers, ...lengthOf(exchange) },
        joinDuplicateHeaders: true,
        maxHeaderSize: HEAD_BYTES,
      })
    } catch (error) {
      exchange.giveUp('ERR_INVALID_REQUEST', error instanceof Error ? error.message : 'the request is invalid')
      return undefined
    }
  }

  return {
    async dial(signal) {
      if (closing.signal.aborted) throw notSent('CLOSED', 'the wire is closed')
      return { line: await dial(signal), host }
    },
    async send(request, signal) {
      try {
        return await send(request, { signal })
      } catch (error) {
        // The server may close an idle connection just as a request is put on it. A read can simply be sent again.
        if (request.method !== 'GET' || !(error instanceof WireFailure) || error.code !== 'ERR_IDLE_CLOSED') throw error
        return send(request, { signal })
      }
    },
    stream: (request, onText, signal) => send(request, { signal, onText }),
    upload: (request, streamed, signal) => send(request, { signal, streamed }),
    async close() {
      closing.abort()
      exchanges.giveUp('CLOSED', 'the wire is closed')
      agent.destroy()
    },
  }
}

/** An agent whose connections were judged. It drops an idle connection on which the server speaks unasked. */
function judgingAgent(dial: () => ReturnType<Dial>, idleMs: number): Agent {
  const https = process.getBuiltinModule('node:https')
  const spoiled = new WeakMap<Duplex, () => void>()
  class JudgingAgent extends https.Agent {
    override createConnection(_options: unknown, handOver?: (error: Error | null, socket: Duplex) => void): undefined {
      const refuse = (error: Error) => handOver?.(error, undefined as never)
      dial().then((socket) => handOver?.(null, socket), refuse)
    }
    // All connections lead to one server.
    override getName() {
      return ''
    }
    override keepSocketAlive(socket: Duplex) {
      const end = () => socket.destroy()
      spoiled.set(socket, end)
      socket.on('data', end)
      return super.keepSocketAlive(socket)
    }
    override reuseSocket(socket: Duplex, request: ClientRequest) {
      const end = spoiled.get(socket)
      if (end !== undefined) socket.off('data', end)
      super.reuseSocket(socket, request)
    }
  }
  return new JudgingAgent({ keepAlive: true, timeout: idleMs })
}

/** Writes a body as fast as the server takes it, until its end or the request's. */
async function pour(request: ClientRequest, { chunks, length }: StreamedBody, patienceMs: number): Promise<void> {
  let left = length
  for await (const chunk of readable(chunks)) {
    if (request.destroyed) return
    left -= chunk.length
    if (left < 0) break
    if (!request.write(chunk) && !(await drained(request, patienceMs)))
      throw new WireFailure('maybe', 'ETIMEDOUT', `${request.host} takes no more bytes`)
  }
  if (request.destroyed) return
  // The server would take missing or further bytes for part of the next request.
  if (left !== 0) throw new WireFailure('maybe', 'ERR_BODY', 'what was to be sent has another length than before')
  request.end()
}

async function* readable(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    const message = error instanceof Error ? error.message : 'what was to be sent could not be read'
    throw new WireFailure('maybe', 'ERR_BODY', message)
  }
}

/** Reports whether the request takes more bytes within this time, or is over. */
function drained(request: ClientRequest, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (taken: boolean) => {
      clearTimeout(timer)
      request.off('drain', ready)
      request.off('close', ready)
      resolve(taken)
    }
    const ready = () => end(true)
    const timer = setTimeout(() => end(false), ms)
    request.once('drain', ready)
    request.once('close', ready)
  })
}

function lengthOf({ asked: { body }, streamed }: WireExchange): Readonly<Record<string, number>> {
  if (streamed !== undefined) return { 'content-length': streamed.length }
  return body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
}

function failureOf(error: Error, sent: WireFailure['sent'], reused: boolean): WireFailure {
  if (error instanceof WireFailure) return error
  const code = codeOf(error)
  if (code.startsWith('HPE_')) return new WireFailure(sent, 'ERR_HTTP', `the answer is not HTTP/1.1: ${error.message}`)
  const message = code === 'ECONNRESET' ? 'the connection was closed' : error.message
  return new WireFailure(sent, reused ? 'ERR_IDLE_CLOSED' : code, message)
}

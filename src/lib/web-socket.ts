import type { Duplex } from 'node:stream'
import { createWebSocketStream, WebSocket } from 'ws'
import { LIMITS } from './limits.ts'

/** The other side answered the request for a web socket with something else. */
export class UpgradeRefused extends Error {
  override readonly name = 'UpgradeRefused'
  readonly status: number
  constructor(status: number, reason: string) {
    super(reason)
    this.status = status
  }
}

export interface WebSocketRequest {
  /** `192.168.4.175:8006` */
  readonly host: string
  /** Path with query. It may hold a ticket: it is in no message of an error. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly protocol: string
  readonly timeoutMs: number
}

/**
 * Opens a web socket over a verified connection. Without compression and fragments, which Proxmox does not support. A
 * connection that breaks without a close frame is an end, because Proxmox never sends one.
 */
export function openWebSocket(socket: Duplex, request: WebSocketRequest, signal: AbortSignal): Promise<Duplex> {
  const { host, path, headers, protocol, timeoutMs } = request
  return new Promise((resolve, reject) => {
    const web = new WebSocket(`wss://${host}${path}`, protocol, {
      createConnection: (() => socket) as never,
      headers: { ...headers },
      perMessageDeflate: false,
      handshakeTimeout: timeoutMs,
      maxPayload: LIMITS.consoleMessageBytes,
    })
    const abort = () => fail(new Error('it was called off'))
    const fail = (error: Error) => {
      signal.removeEventListener('abort', abort)
      reject(error)
      web.terminate()
      socket.destroy()
    }
    signal.addEventListener('abort', abort, { once: true })
    // Keep a listener for good: an error without one would end the process.
    web.on('error', fail)
    web.once('unexpected-response', (_request, response) => {
      fail(new UpgradeRefused(response.statusCode ?? 0, response.statusMessage ?? ''))
    })
    web.once('open', () => {
      signal.removeEventListener('abort', abort)
      resolve(createWebSocketStream(web))
    })
    if (signal.aborted) abort()
  })
}

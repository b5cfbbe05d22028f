import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

export type { WebSocket } from 'ws'

interface AcceptOptions {
  /** The protocol that is spoken, of those that were offered. */
  readonly protocol: string
  /** Limit of one message: a larger one closes the socket. */
  readonly maxBytes: number
}

/**
 * Upgrades a connection to a web socket. The caller has checked the rights. Undefined: the request was invalid, which
 * has been answered, or the client has gone.
 */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { protocol, maxBytes }: AcceptOptions,
): Promise<WebSocket | undefined> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression would leak a secret that shares a message with an attacker's guess, by its length.
    perMessageDeflate: false,
    maxPayload: maxBytes,
    handleProtocols: () => protocol,
  })
  return new Promise((resolve) => {
    socket.once('close', () => resolve(undefined))
    server.handleUpgrade(request, socket, head, (web) => resolve(web))
  })
}

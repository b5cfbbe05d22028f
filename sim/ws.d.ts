/** What croft uses of the library ws: it has no types. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events'
  import type { IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  export class WebSocket extends EventEmitter {
    constructor(address: string, protocol: string | readonly string[], options: Readonly<Record<string, unknown>>)
    readonly bufferedAmount: number
    on(event: 'message', listener: (data: Buffer, isBinary: boolean) => void): this
    on(event: 'error', listener: (error: Error) => void): this
    on(event: 'open' | 'close' | 'pong', listener: () => void): this
    on(event: 'unexpected-response', listener: (request: unknown, response: IncomingMessage) => void): this
    once(event: 'open', listener: () => void): this
    once(event: 'unexpected-response', listener: (request: unknown, response: IncomingMessage) => void): this
    send(data: string | Uint8Array): void
    ping(): void
    pause(): void
    resume(): void
    readonly isPaused: boolean
    readonly readyState: number
    close(code?: number): void
    terminate(): void
  }

  export class WebSocketServer {
    constructor(options: {
      readonly noServer: true
      readonly clientTracking?: false
      readonly perMessageDeflate: false
      readonly maxPayload: number
      handleProtocols(asked: ReadonlySet<string>): string | false
    })
    readonly clients: ReadonlySet<WebSocket>
    handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (web: WebSocket) => void): void
  }

  export function createWebSocketStream(web: WebSocket): Duplex
}

import type { Duplex } from 'node:stream'

/** One HTTP exchange as data, so that a client works over TLS and directly on the simulator. */
export interface WireRequest {
  readonly method: string
  /** Path with query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface WireResponse {
  readonly status: number
  /** The text of the status line. Proxmox puts its error text there. */
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends one request. Rejects with a WireFailure when no answer came. */
export interface Wire {
  send(request: WireRequest, signal?: AbortSignal): Promise<WireResponse>
  /** Makes a request with an endless answer. Passes the text on instead of returning it. */
  stream?(request: WireRequest, onText: (text: string) => void, signal: AbortSignal): Promise<WireResponse>
  /** Makes a request with a streamed body, which is too large for memory. */
  upload?(request: Omit<WireRequest, 'body'>, body: StreamedBody, signal: AbortSignal): Promise<WireResponse>
  /** Opens a separate connection, judged like all others, for a web socket. */
  dial?(signal: AbortSignal): Promise<DialedLine>
  close(): Promise<void>
}

export interface DialedLine {
  readonly line: Duplex
  /** `192.168.4.175:8006`, as the other side is called in requests. */
  readonly host: string
}

/** A body whose length is known before its bytes are. */
export interface StreamedBody {
  readonly length: number
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Thrown without an answer. `sent: 'no'`: the server cannot have seen the request; `'maybe'`: it may have. */
export class WireFailure extends Error {
  readonly sent: 'no' | 'maybe'
  readonly code: string
  constructor(sent: 'no' | 'maybe', code: string, message: string) {
    super(message)
    this.name = 'WireFailure'
    this.sent = sent
    this.code = code
  }
}

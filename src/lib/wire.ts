import type { Duplex } from 'node:stream'

/** One HTTP exchange as data, so that the same client speaks over TLS or straight to the simulator. */
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
  /** The same, for an answer that comes bit by bit and may not end. Its text is handed on and is not in the answer. */
  stream?(request: WireRequest, onText: (text: string) => void, signal: AbortSignal): Promise<WireResponse>
  /** The same with a body that is read while it is sent, because it is too large to be held. */
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

/** No answer. `sent: 'no'` means that the other side cannot have seen the request; `'maybe'` that it may have. */
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

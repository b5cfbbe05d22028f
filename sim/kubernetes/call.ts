import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import type { EtcdCluster, K3sProcess } from '../world/types.ts'
import type { ApiResource } from './catalogue.ts'

export interface Caller {
  readonly user: string
  readonly groups: readonly string[]
}

/** Who calls, as far as the connection shows it. */
export interface Peer {
  /** The client's certificate, with the rest of its chain behind it. */
  readonly certificatePem?: string
}

export interface ApiCall {
  readonly process: K3sProcess
  readonly cluster: EtcdCluster
  readonly request: WireRequest
  readonly query: URLSearchParams
  readonly caller: Caller
  readonly resource: ApiResource
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly sub: string | undefined
}

/** A watch that was requested and is not read yet. */
export interface Watching {
  /** Of what it answers; JSON unless said. */
  readonly type?: string
  /** How long the client wants it at most. */
  readonly timeoutMs: number
  /** Calls back with every line, those that are due first, until it is stopped. */
  start(line: (text: string) => void, ended: () => void): () => void
}

/** An answer, or a watch that goes on answering. */
export type ApiAnswer = { readonly response: WireResponse } | { readonly watch: Watching }

import type { ClientRequest } from 'node:http'
import { type StreamedBody, WireFailure, type WireRequest, type WireResponse } from './wire.ts'

export interface WireExchangeOptions {
  readonly signal?: AbortSignal | undefined
  /** Receives the text of a 200 answer as it comes. Such an exchange has no deadline: its signal ends it. */
  readonly onText?: (text: string) => void
  readonly streamed?: StreamedBody
}

/** One request and its answer. It ends once: with the answer, a failure, its deadline or its signal. */
export interface WireExchange extends WireExchangeOptions {
  readonly asked: WireRequest
  /** 'maybe' once a judged connection was handed to the request. */
  readonly sent: WireFailure['sent']
  isOpen(): boolean
  begin(request: ClientRequest): void
  /** The whole request was sent: the answer is due. */
  startDeadline(): void
  end(result: WireResponse | WireFailure): void
  giveUp(code: string, message: string): void
}

export interface WireExchanges {
  open(
    asked: WireRequest,
    options: WireExchangeOptions,
    onEnd: (result: WireResponse | WireFailure) => void,
  ): WireExchange
  /** Ends all that are open. */
  giveUp(code: string, message: string): void
}

export function createWireExchanges(host: string, requestMs: number): WireExchanges {
  const underWay = new Set<WireExchange>()
  const followed = new WeakSet<AbortSignal>()

  /** Listens once for each signal: thousands of listeners cost more than their requests. */
  function follow(signal: AbortSignal): void {
    if (followed.has(signal)) return
    followed.add(signal)
    signal.addEventListener('abort', () => {
      for (const exchange of underWay) {
        if (exchange.signal !== signal) continue
        exchange.giveUp('ABORTED', `given up before ${exchange.sent === 'no' ? 'it was sent' : 'the answer came'}`)
      }
    })
  }

  return {
    open(asked, options, onEnd) {
      let request: ClientRequest | undefined
      let sent: WireFailure['sent'] = 'no'
      let timer: NodeJS.Timeout | undefined
      const exchange: WireExchange = {
        ...options,
        asked,
        get sent() {
          return sent
        },
        isOpen: () => underWay.has(exchange),
        begin(begun) {
          request = begun
          request.once('socket', () => {
            sent = 'maybe'
          })
        },
        startDeadline() {
          if (!underWay.has(exchange)) return
          const late = () => exchange.giveUp('ETIMEDOUT', `${host} did not answer within ${requestMs} ms`)
          timer = setTimeout(late, requestMs)
        },
        end(result) {
          if (!underWay.delete(exchange)) return
          clearTimeout(timer)
          if (result instanceof WireFailure) request?.destroy()
          onEnd(result)
        },
        giveUp: (code, message) => exchange.end(new WireFailure(sent, code, message)),
      }
      underWay.add(exchange)
      if (options.signal !== undefined) follow(options.signal)
      if (options.onText === undefined && options.streamed === undefined) exchange.startDeadline()
      return exchange
    },
    giveUp(code, message) {
      for (const exchange of underWay) exchange.giveUp(code, message)
    },
  }
}

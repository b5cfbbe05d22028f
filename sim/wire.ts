import { type Wire, WireFailure, type WireResponse } from '../src/lib/wire.ts'
import type { Datacentre } from './datacentre.ts'

/** The way to a simulated datacentre without sockets: the same requests and answers, on its own clock. */
export function simWire(datacentre: Pick<Datacentre, 'handle'>): Wire {
  return {
    send(request, signal) {
      if (signal === undefined) return datacentre.handle(request)
      if (signal.aborted) return Promise.reject(new WireFailure('no', 'ABORTED', 'the request was called off'))
      return new Promise<WireResponse>((resolve, reject) => {
        const abort = () => reject(new WireFailure('maybe', 'ABORTED', 'the request was called off'))
        signal.addEventListener('abort', abort, { once: true })
        datacentre
          .handle(request)
          .then(resolve, reject)
          .finally(() => signal.removeEventListener('abort', abort))
      })
    },
    close: () => Promise.resolve(),
  }
}

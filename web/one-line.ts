/**
 * One connection to croft for all tabs. A browser opens six connections to a server over HTTP/1.1: with a stream for
 * each tab, the seventh tab gets no answer to anything. The tab that holds the lock listens, and tells the others.
 */

/** Messages of the connection, equal for all tabs. */
export type Heard =
  | { readonly is: 'open' }
  /** The browser reconnects by itself. */
  | { readonly is: 'cut' }
  /** The server answered with an error in place of the stream. */
  | { readonly is: 'closed' }
  | { readonly is: 'said'; readonly name: string; readonly data: string; readonly id: string }

export interface OneLine {
  /** Sets the position in the stream that the page shows. */
  at(cursor: string): void
  /** Listens in this tab: the tab that listens for us was silent for too long and may be asleep. */
  take(): void
  close(): void
}

const NAME = 'croft-line'
const SAID = ['delta', 'happened', 'reset', 'beat'] as const

export function openLine(hear: (heard: Heard) => void): OneLine {
  const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel(NAME)
  // Browsers offer locks only on secure pages: without them each visible tab listens itself.
  const locks = channel === undefined ? undefined : (navigator as { readonly locks?: LockManager }).locks
  let source: EventSource | undefined
  let cursor: string | undefined
  let leads = false
  let letGo: (() => void) | undefined
  let closed = false

  const take = (heard: Heard): void => {
    if (heard.is === 'said' && heard.id !== '') cursor = heard.id
    hear(heard)
  }

  const tell = (heard: Heard): void => {
    if (locks !== undefined) channel?.postMessage(heard)
    take(heard)
  }

  const listen = (): void => {
    source?.close()
    source = undefined
    if (!leads || cursor === undefined || closed) return
    const mine = new EventSource(`/api/events?after=${encodeURIComponent(cursor)}`)
    source = mine
    mine.addEventListener('open', () => tell({ is: 'open' }))
    for (const name of SAID)
      mine.addEventListener(name, (event: MessageEvent) =>
        tell({ is: 'said', name, data: String(event.data), id: event.lastEventId }),
      )
    mine.addEventListener('error', () => {
      const given = mine.readyState === EventSource.CLOSED
      if (given) source = undefined
      tell({ is: given ? 'closed' : 'cut' })
    })
  }

  const lead = (steal: boolean): void => {
    if (locks === undefined || closed) return
    const held = () =>
      new Promise<void>((done) => {
        leads = true
        letGo = done
        listen()
      })
    locks.request(NAME, steal ? { steal: true } : {}, held).catch(() => {
      // Another tab took it: it has not heard us for long.
      leads = false
      listen()
      lead(false)
    })
  }

  const onHidden = (): void => {
    leads = document.visibilityState === 'visible'
    if (leads && source === undefined) hear({ is: 'closed' })
    else if (!leads) listen()
  }

  if (channel !== undefined) channel.onmessage = (event) => take(event.data as Heard)
  if (locks === undefined) {
    leads = document.visibilityState === 'visible'
    document.addEventListener('visibilitychange', onHidden)
  } else lead(false)

  return {
    at(place) {
      cursor = place
      if (leads && (source === undefined || source.readyState === EventSource.CLOSED)) listen()
    },
    take() {
      if (leads) listen()
      else lead(true)
    },
    close() {
      closed = true
      source?.close()
      letGo?.()
      document.removeEventListener('visibilitychange', onHidden)
      channel?.close()
    },
  }
}

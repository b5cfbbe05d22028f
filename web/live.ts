import type { EventOnPage, Me, Page } from '../src/server/api/schemas.ts'
import type { Delta } from '../src/server/delta.ts'
import { api, Trouble } from './api.ts'
import { createStore } from './store.ts'

/** Everything that the views are drawn from. */
export interface Live {
  readonly page: Page | undefined
  readonly line: 'loading' | 'live' | 'lost'
  /** What happened while we listened, newest first. */
  readonly events: readonly EventOnPage[]
  readonly me: Me | undefined
  /** The server's time when the line was lost: what is shown is from then. */
  readonly lostMs: number | undefined
  /** Why nothing could be shown at all, as the server says it. */
  readonly trouble: string | undefined
  /** The server's time when the page was last told something, and ours at that moment. */
  readonly received: { readonly serverMs: number; readonly hereMs: number }
}

const EVENTS_KEPT = 200

export const live = createStore<Live>({
  page: undefined,
  line: 'loading',
  events: [],
  me: undefined,
  lostMs: undefined,
  trouble: undefined,
  received: { serverMs: Date.now(), hereMs: performance.now() },
})

/** The server's time now: ages must be right although the clock of this device is not. */
export function serverNow(): number {
  const { serverMs, hereMs } = live.get().received
  return serverMs + (performance.now() - hereMs)
}

let source: EventSource | undefined

/** Loads the page and follows it. Comes back by itself, without a gap, when the line was lost. */
export async function follow(): Promise<void> {
  try {
    const page = await api.view()
    live.set({ page, line: 'live', trouble: undefined, received: { serverMs: page.atMs, hereMs: performance.now() } })
    listen(page.cursor)
    // Who we are and what was before may come a moment later: what is now can be looked at already.
    const [me, history] = await Promise.all([api.me(), api.history(undefined)])
    const seen = new Set(history.events.map(({ seq }) => seq))
    const fresh = live.get().events.filter(({ seq }) => !seen.has(seq))
    live.set({ me, events: [...fresh, ...history.events.toReversed()].slice(0, EVENTS_KEPT) })
  } catch (error) {
    lose(error instanceof Trouble ? error.message : undefined)
    setTimeout(() => void follow(), 3000)
  }
}

export async function refreshMe(): Promise<void> {
  live.set({ me: await api.me() })
}

function lose(trouble: string | undefined): void {
  const { line, lostMs } = live.get()
  live.set({ line: 'lost', lostMs: line === 'lost' ? lostMs : serverNow(), trouble })
}

function listen(cursor: string): void {
  source?.close()
  source = new EventSource(`/api/events?after=${encodeURIComponent(cursor)}`)
  source.addEventListener('open', () => live.set({ line: 'live' }))
  source.addEventListener('delta', (event) => {
    const { page } = live.get()
    const delta = JSON.parse(String(event.data)) as Delta
    if (page !== undefined) live.set({ page: merged(page, delta), received: received(delta.atMs) })
  })
  source.addEventListener('happened', (event) => {
    const fresh = (JSON.parse(String(event.data)) as EventOnPage[]).toReversed()
    live.set({ events: [...fresh, ...live.get().events].slice(0, EVENTS_KEPT) })
  })
  // The server has forgotten where we were: begin anew.
  source.addEventListener('reset', () => void follow())
  source.addEventListener('error', () => {
    lose(undefined)
    // A browser gives up for good when the server answers with an error instead of a stream.
    if (source?.readyState === EventSource.CLOSED) setTimeout(() => void follow(), 3000)
  })
}

function merged(page: Page, { rows, gone, ...sections }: Delta): Page {
  if (rows === undefined && gone === undefined) return { ...page, ...sections }
  const changed = new Map(rows?.map((row) => [row.key, row]))
  const left = new Set(gone)
  const kept = page.rows.filter(({ key }) => !left.has(key)).map((row) => take(changed, row.key) ?? row)
  return { ...page, ...sections, rows: [...kept, ...changed.values()] }
}

function take<V>(map: Map<string, V>, key: string): V | undefined {
  const value = map.get(key)
  map.delete(key)
  return value
}

function received(serverMs: number): Live['received'] {
  // Never back: an older message must not make everything younger.
  return { serverMs: Math.max(serverMs, serverNow()), hereMs: performance.now() }
}

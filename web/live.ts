import type { EventOnPage, Me, Page } from '../src/server/api/schemas.ts'
import type { Delta } from '../src/server/delta.ts'
import { api, Trouble } from './api.ts'
import { type Heard, type OneLine, openLine } from './one-line.ts'
import { createStore } from './store.ts'

/** Everything that the views are drawn from. */
export interface Live {
  readonly page: Page | undefined
  readonly line: 'loading' | 'live' | 'lost'
  /** Events since the page was loaded, newest first. */
  readonly events: readonly EventOnPage[]
  readonly me: Me | undefined
  /** The server's time when the line was lost: what is shown is from then. */
  readonly lostMs: number | undefined
  /** The server's reason why there is no page. */
  readonly trouble: string | undefined
  /** The server's time of the last message, and ours at that moment. */
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

/** Returns the server's time: ages must be right even if this device's clock is wrong. */
export function serverNow(): number {
  const { serverMs, hereMs } = live.get().received
  return serverMs + (performance.now() - hereMs)
}

let line: OneLine | undefined
/** The place in the stream that what is shown belongs to: `boot.n`. */
let cursor: string | undefined
/** Messages that arrived before their page. */
let early: Extract<Heard, { is: 'said' }>[] | undefined
let silence: ReturnType<typeof setTimeout> | undefined
let again: ReturnType<typeof setTimeout> | undefined

/** Loads the page and follows it. Reconnects automatically and without a gap. */
export async function follow(): Promise<void> {
  clearTimeout(again)
  again = undefined
  early = []
  line ??= openLine(hear)
  expectMore()
  try {
    const page = await api.view()
    live.set({ page, line: 'live', trouble: undefined, received: { serverMs: page.atMs, hereMs: performance.now() } })
    cursor = page.cursor
    const heard = early ?? []
    early = undefined
    line.at(cursor)
    for (const one of heard) said(one)
    // Show the page before the user and the history have loaded.
    const [me, history] = await Promise.all([api.me(), api.history(undefined)])
    const seen = new Set(history.events.map(({ seq }) => seq))
    const fresh = live.get().events.filter(({ seq }) => !seen.has(seq))
    live.set({ me, events: [...fresh, ...history.events.toReversed()].slice(0, EVENTS_KEPT) })
  } catch (error) {
    lose(error instanceof Trouble ? error.message : undefined)
    comeBack()
  }
}

function comeBack(): void {
  again ??= setTimeout(() => void follow(), 3000)
}

export async function refreshMe(): Promise<void> {
  live.set({ me: await api.me() })
}

function lose(trouble: string | undefined): void {
  const { line, lostMs } = live.get()
  live.set({ line: 'lost', lostMs: line === 'lost' ? lostMs : serverNow(), trouble })
}

function hear(heard: Heard): void {
  switch (heard.is) {
    case 'open':
      if (live.get().line === 'lost') {
        live.set({ line: 'live' })
        // The server may have ended the stream because of another role.
        void refreshMe().catch(() => undefined)
      }
      return
    case 'cut':
      lose(undefined)
      return
    case 'closed':
      lose(undefined)
      comeBack()
      return
    case 'said':
      if (early === undefined) said(heard)
      else early.push(heard)
  }
}

function said({ name, data, id }: Extract<Heard, { is: 'said' }>): void {
  expectMore()
  // The server has dropped our position: start over.
  if (name === 'reset') {
    void follow()
    return
  }
  const [boot, n] = placeOf(id)
  const [ownBoot, own] = placeOf(cursor ?? '')
  if (name === 'beat') {
    const { atMs } = JSON.parse(data) as { atMs: number }
    live.set({ line: 'live', received: received(atMs) })
    // A tab that slept may have missed messages.
    if (id !== '' && (boot !== ownBoot || n > own)) void follow()
    return
  }
  if (boot !== ownBoot || n > own + 1) {
    void follow()
    return
  }
  if (n <= own) return
  cursor = id
  if (name === 'happened') {
    const fresh = (JSON.parse(data) as EventOnPage[]).toReversed()
    live.set({ events: [...fresh, ...live.get().events].slice(0, EVENTS_KEPT) })
    return
  }
  const { page } = live.get()
  const delta = JSON.parse(data) as Delta
  if (page !== undefined) live.set({ page: merged(page, delta), line: 'live', received: received(delta.atMs) })
}

function placeOf(id: string): readonly [boot: string, n: number] {
  const at = id.lastIndexOf('.')
  return [id.slice(0, at), Number(id.slice(at + 1))]
}

/** Two heartbeats of the server, and a little. */
const SILENT_MS = 25_000

/** Treats a silent connection as lost even if it is open: the server sends a sign of life. */
function expectMore(): void {
  clearTimeout(silence)
  silence = setTimeout(() => {
    lose(undefined)
    line?.take()
    comeBack()
    expectMore()
  }, SILENT_MS)
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
  // Never go back: an older message must not make everything look younger.
  return { serverMs: Math.max(serverMs, serverNow()), hereMs: performance.now() }
}

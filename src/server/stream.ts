import type { ServerResponse } from 'node:http'
import { z } from 'zod'
import type { Clock } from '../lib/clock.ts'
import { turnsOf } from '../lib/in-turns.ts'
import { LIMITS } from '../lib/limits.ts'
import type { CroftEvent } from '../model/record.ts'
import { checking, writing } from './answer-steps.ts'
import { projectPage } from './api/project.ts'
import { event, type Page, page as pageSchema } from './api/schemas.ts'
import { deltaOf, type Pictured, picture } from './delta.ts'
import type { Controller } from './port.ts'
import { shownJson } from './shown-json.ts'

/** The live stream: sends changes to all listeners, and replays them to those who reconnect. */
export interface Stream {
  /** The page as it is now, with the place in the stream that it belongs to. */
  page(): Promise<Page>
  /**
   * Starts sending. `after` is where the listener stopped; if that is unknown, it must start again. False: too many
   * listeners.
   */
  attach(response: ServerResponse, after: string | undefined): Promise<boolean>
  readonly listeners: number
  close(): void
}

interface StreamMessage {
  readonly n: number
  readonly text: string
}

const events = z.array(event).readonly()

export function createStream(
  controller: Controller,
  clock: Clock,
  boot: string,
  warn: (message: string) => void = () => undefined,
): Stream {
  const clients = new Set<ServerResponse>()
  const stop = new AbortController()
  let messages: StreamMessage[] = []
  let bytes = 0
  let n = 0
  /** The state that listeners have. Undefined after a while without listeners: then nothing is prepared. */
  let sent: Pictured | undefined
  let unsent: CroftEvent[] = []
  let dirty = false
  /** Set if a view could not be rendered: the listeners' state is older, so a delta would not fit. */
  let missed = false
  let leftMs = clock.monotonicMs()
  let wake: (() => void) | undefined

  const cursor = () => `${boot}.${n}`
  const wanted = () => clients.size > 0 || clock.monotonicMs() - leftMs < LIMITS.streamLingerMs
  const prepare = async (): Promise<Pictured> => {
    const turns = turnsOf(clock)
    const page = projectPage(controller.view(), { cursor: cursor(), ready: controller.ready() })
    return turns.perform(picture((await turns.perform(checking(pageSchema, page))) as Page))
  }
  /** Send one at a time: each message holds the changes since the one before. */
  let telling = Promise.resolve()
  const tellInTurn = (): Promise<void> => {
    telling = telling.then(tell)
    return telling
  }
  /** Prepared for the first who asks, and for all who ask meanwhile. */
  let beginning: Promise<Pictured> | undefined
  const begun = async (): Promise<Pictured> => {
    if (sent !== undefined) return sent
    beginning ??= prepare()
    try {
      sent ??= await beginning
    } finally {
      beginning = undefined
    }
    return sent
  }

  function forget(): void {
    // Continue the count, so that an old cursor is never valid by accident.
    n += 1
    messages = []
    bytes = 0
    sent = undefined
    unsent = []
  }

  const unsubscribe = controller.subscribe((_view, happened) => {
    if (sent === undefined && beginning === undefined) return
    if (!wanted()) return forget()
    unsent.push(...happened.slice(-LIMITS.historyPage))
    if (unsent.length > LIMITS.historyPage) unsent = unsent.slice(-LIMITS.historyPage)
    dirty = true
    wake?.()
  })

  async function tell(): Promise<void> {
    dirty = false
    if (sent === undefined) return
    try {
      await tellNews()
    } catch (error) {
      // A hostile system's data must not stop the server: listeners keep the old view until one can be rendered.
      if (!missed) warn(`the view cannot be shown: ${String(error).slice(0, LIMITS.pageTextLength)}`)
      missed = true
    }
  }

  async function tellNews(): Promise<void> {
    const next = await prepare()
    // The last listener has left.
    if (sent === undefined) return
    const turns = turnsOf(clock)
    const delta = deltaOf(sent, next)
    const deltaText = delta === undefined ? undefined : await turns.perform(writing(delta))
    if (sent === undefined) return
    sent = next
    if (missed) {
      missed = false
      unsent = []
      send('reset', '{}')
      return
    }
    const happened = unsent
    unsent = []
    if (deltaText !== undefined) send('delta', deltaText)
    if (happened.length > 0) send('happened', shownJson(events.parse(happened)))
  }

  function send(name: string, data: string): void {
    n += 1
    const text = `id: ${cursor()}\nevent: ${name}\ndata: ${data}\n\n`
    messages.push({ n, text })
    bytes += text.length
    while (messages.length > LIMITS.streamMessages || bytes > LIMITS.streamMessagesBytes) {
      bytes -= messages.shift()?.text.length ?? 0
    }
    for (const client of clients) write(client, text)
  }

  function write(client: ServerResponse, text: string): void {
    // A listener that does not read would fill our memory: close it; it may reconnect.
    if (client.writableLength > LIMITS.streamClientBytes) client.destroy()
    else client.write(text)
  }

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      if (!dirty)
        await new Promise<void>((go) => {
          wake = go
        })
      if (stop.signal.aborted) return
      wake = undefined
      // Changes come in bursts; a pause makes one message of them.
      await clock.sleep(LIMITS.streamPauseMs, stop.signal)
      await tellInTurn()
    }
  }
  void work()

  async function beat(): Promise<void> {
    while (!stop.signal.aborted) {
      await clock.sleep(LIMITS.streamHeartbeatMs, stop.signal)
      // Send data, not a comment, which scripts cannot see: by it the page tells a silent connection from a dead one.
      const said = JSON.stringify({ atMs: clock.now(), everyMs: LIMITS.streamHeartbeatMs })
      for (const client of clients) write(client, `event: beat\ndata: ${said}\n\n`)
      if (sent !== undefined && !wanted()) forget()
    }
  }
  void beat()

  return {
    get listeners() {
      return clients.size
    },
    async page() {
      if (sent === undefined) leftMs = clock.monotonicMs()
      else if (dirty) await tellInTurn()
      const { page } = await begun()
      return { ...page, cursor: cursor() }
    },
    async attach(response, after) {
      await begun()
      if (clients.size >= LIMITS.streamClients) return false
      if (response.destroyed) return true
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      response.write('retry: 2000\n\n')
      const [from, at] = after?.split('.') ?? []
      const seen = from === boot ? Number(at) : Number.NaN
      const oldest = messages[0]?.n ?? n + 1
      if (seen >= oldest - 1 && seen <= n) {
        for (const message of messages) if (message.n > seen) write(response, message.text)
      } else write(response, `id: ${cursor()}\nevent: reset\ndata: {}\n\n`)
      clients.add(response)
      response.on('close', () => {
        clients.delete(response)
        leftMs = clock.monotonicMs()
      })
      return true
    },
    close() {
      stop.abort()
      wake?.()
      unsubscribe()
      for (const client of clients) client.end()
      clients.clear()
    },
  }
}

import { LIMITS } from '../../lib/limits.ts'
import type { RemoteTerminal } from '../../lib/remote-terminal.ts'
import { Declined } from '../api/route.ts'
import { sameSecret, unguessable } from '../auth/unguessable.ts'
import type { Doorkeeper } from '../auth/who.ts'
import type { ServerOptions } from '../options.ts'
import type { Actor } from '../port.ts'
import { shownJson } from '../shown-json.ts'
import { carry } from './carry.ts'
import type { ConsoleDesk, ConsolePlace } from './console-port.ts'
import { type HeldConsole, judgeOpening, judgeStaying, lastingWords, nameOf } from './console-rules.ts'

/** The subprotocol of the web socket. The ticket comes beside it: an address would be in the logs of proxies. */
const CONSOLE_PROTOCOL = 'croft-console'

interface OpenConsole extends HeldConsole {
  readonly actor: Actor
  readonly session: string
  readonly openedMs: number
  readonly over: AbortController
  typedMs: number
  terminal?: RemoteTerminal
  /** Good for one web socket. */
  ticket?: string | undefined
  /** Says to the page why it ends. */
  farewell?: (why: string) => void
}

type DeskOptions = Pick<ServerOptions, 'controller' | 'clock' | 'audit'>

const STATUS_OF = { 'not-found': 404, refused: 422, away: 503 } as const
/** The page says its own when it joins. */
const FIRST_SIZE = { columns: 80, rows: 24 }

export function createConsoleDesk({ controller, clock, audit }: DeskOptions, door: Doorkeeper): ConsoleDesk {
  const open = new Set<OpenConsole>()

  function end(one: OpenConsole, why: string): void {
    if (!open.delete(one)) return
    one.over.abort()
    one.farewell?.(why)
    if (one.terminal === undefined) return
    one.terminal.stream.destroy()
    const message = `after ${lastingWords(clock.monotonicMs() - one.openedMs)}: ${why}`
    const about = shownJson({ key: one.key })
    audit?.({ atMs: clock.now(), actor: one.actor, what: 'console-end', about, result: 'done', message })
  }

  /** Ends the console when its user loses the right to it, judged as at each request. */
  async function watch(one: OpenConsole, { actor, cookie }: ConsolePlace): Promise<void> {
    for (;;) {
      await clock.sleep(LIMITS.consoleJudgeMs, one.over.signal)
      if (one.over.signal.aborted) return
      const now = await door.identify(undefined, cookie).catch(() => undefined)
      const why = judgeStaying(
        { nowMs: clock.monotonicMs(), openedMs: one.openedMs, typedMs: one.typedMs },
        now?.actor.name === actor.name && now.scopes.includes('admin'),
      )
      if (why !== undefined) end(one, why)
    }
  }

  /** A line has one reader: dial the new console after the old one has closed. */
  async function takeFrom(held: OpenConsole, by: Actor): Promise<void> {
    const stream = held.terminal?.stream
    const gone = new AbortController()
    stream?.once('close', () => gone.abort())
    end(held, `${nameOf(by.name)} took it over.`)
    if (stream !== undefined && !stream.closed) await clock.sleep(LIMITS.serverCloseMs, gone.signal)
  }

  return {
    async open(place, key, takeOver) {
      const { consoles } = controller
      const { actor, cookie } = place
      const person = actor.name
      if (consoles?.offers(key) !== true) throw new Declined(404, 'not-found', `${key} has no console.`)
      const verdict = judgeOpening([...open], { key, person, takeOver })
      if (!verdict.may) throw new Declined(verdict.code === 'too-many' ? 503 : 409, verdict.code, verdict.message)
      const openedMs = clock.monotonicMs()
      const over = new AbortController()
      const session = door.sessionId(cookie)
      const times = { sinceMs: clock.now(), openedMs, typedMs: openedMs }
      const one: OpenConsole = { key, person, actor, session, over, ...times }
      // Add it before awaiting: of two concurrent requests, one wins.
      open.add(one)
      if (verdict.ends !== undefined) await takeFrom(verdict.ends, actor)
      const patience = new AbortController()
      const called = AbortSignal.any([over.signal, patience.signal])
      void clock.sleep(LIMITS.consoleOpenMs, called).then(() => patience.abort())
      const opened = await consoles.open(key, FIRST_SIZE, called).catch((error: unknown): never => {
        patience.abort()
        open.delete(one)
        throw error
      })
      if (!opened.ok) {
        patience.abort()
        open.delete(one)
        throw new Declined(STATUS_OF[opened.reason], opened.reason, opened.message)
      }
      const { stream } = opened.terminal
      if (called.aborted) {
        stream.on('error', () => {}).destroy()
        open.delete(one)
        throw new Declined(409, 'conflict', `The console of ${key} was ended before it opened.`)
      }
      patience.abort()
      one.terminal = opened.terminal
      one.ticket = unguessable()
      for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => end(one, 'The machine ended it.'))
      void watch(one, place)
      void clock.sleep(LIMITS.consoleJoinMs, over.signal).then(() => {
        if (one.ticket !== undefined) end(one, 'The page did not join it in time.')
      })
      return one.ticket
    },

    async join({ cookie }, { request, socket, head, taken }) {
      const [, ticket = ''] = PROTOCOLS.exec(String(request.headers['sec-websocket-protocol'] ?? '')) ?? []
      const session = door.sessionId(cookie)
      const one = [...open].find(
        (each) => each.session === session && each.ticket !== undefined && sameSecret(each.ticket, ticket),
      )
      if (one?.terminal === undefined)
        throw new Declined(403, 'forbidden', 'This ticket opens no console. Open the console again.')
      one.ticket = undefined
      const { acceptWebSocket } = await import('../../lib/web-socket-server.ts')
      taken()
      const wish = { protocol: CONSOLE_PROTOCOL, maxBytes: LIMITS.consoleTypedBytes }
      const web = await acceptWebSocket(request, socket, head, wish)
      if (web === undefined) return end(one, 'The page did not join it.')
      one.farewell = carry(web, one.terminal, clock, {
        typed: () => {
          one.typedMs = clock.monotonicMs()
        },
        over: (why) => end(one, why),
      })
      // The console ended during the handshake.
      if (one.over.signal.aborted) one.farewell('The machine ended it.')
    },

    close() {
      for (const one of open) end(one, 'croft is shutting down.')
    },
  }
}

const PROTOCOLS = /^croft-console, ?([\w-]{20,100})$/

import { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import { boundedSize, type RemoteTerminal } from '../../lib/remote-terminal.ts'
import type { WebSocket } from '../../lib/web-socket-server.ts'

/** Control messages of a page: the size of its terminal, and how many more bytes it has drawn. */
const said = z.union([
  z.strictObject({ columns: z.number(), rows: z.number() }),
  z.strictObject({ drawn: z.int().min(1) }),
])

/** Longer than all control messages of a page. */
const SAID_BYTES = 100

interface CarryHooks {
  /** A person typed something. */
  typed(): void
  /** The page or the machine has ended it, and why. */
  over(why: string): void
}

/**
 * Carries bytes between a web socket and a terminal, as binary messages; text messages are JSON about it. Applies back
 * pressure both ways. Returns a function that ends it with a message for the page.
 */
export function carry(
  web: WebSocket,
  { stream, resize }: RemoteTerminal,
  clock: Clock,
  { typed, over }: CarryHooks,
): (why: string) => void {
  const ended = new AbortController()
  let undrawn = 0
  let answers = true

  const end = (why: string) => {
    if (ended.signal.aborted) return
    ended.abort()
    stream.pause()
    // Paused, it would not see the farewell of the other side.
    web.resume()
    if (web.readyState === OPEN) web.send(JSON.stringify({ ended: why }))
    web.close(1000)
    void clock.sleep(LIMITS.serverCloseMs).then(() => web.terminate())
  }
  const finish = (why: string) => {
    if (ended.signal.aborted) return
    end(why)
    over(why)
  }

  stream.on('data', (chunk: Buffer) => {
    if (ended.signal.aborted) return
    undrawn += chunk.length
    if (undrawn > LIMITS.consoleWindowBytes) stream.pause()
    web.send(chunk)
  })
  for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => finish('The machine ended it.'))

  web.on('message', (data, isBinary) => {
    if (ended.signal.aborted) return
    if (isBinary) {
      typed()
      if (stream.write(data) || web.isPaused) return
      web.pause()
      stream.once('drain', () => web.resume())
      return
    }
    const message = data.length > SAID_BYTES ? undefined : said.safeParse(jsonIn(data)).data
    if (message === undefined) finish('The page said something that croft does not know. Load the page again.')
    else if ('columns' in message) resize(boundedSize(message))
    else {
      undrawn = Math.max(0, undrawn - message.drawn)
      if (undrawn <= LIMITS.consoleWindowBytes / 2) stream.resume()
    }
  })
  web.on('pong', () => {
    answers = true
  })
  web.on('error', () => web.terminate())
  web.on('close', () => finish('The page closed it.'))

  // Proxies drop an idle connection, and a browser may vanish without closing it, so send pings.
  void (async () => {
    for (;;) {
      await clock.sleep(LIMITS.consoleBeatMs, ended.signal)
      if (ended.signal.aborted) return
      if (!answers && !web.isPaused) return finish('The browser does not answer any more.')
      answers = false
      web.ping()
    }
  })()
  return end
}

/** The numbers of web socket states in the standard. */
const OPEN = 1

function jsonIn(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return undefined
  }
}

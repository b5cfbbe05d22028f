import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Actor } from '../port.ts'

/** A session of the page. */
export interface ConsolePlace {
  readonly actor: Actor
  readonly cookie: string
}

/** Opens consoles of machines for people. */
export interface ConsoleDesk {
  /** Opens the line and answers the ticket for its web socket. Whether the person may at all has been judged before. */
  open(place: ConsolePlace, key: string, takeOver: boolean): Promise<string>
  /** Joins a web socket to a line that was opened in the same session. Declines with an unknown ticket. */
  join(place: ConsolePlace, upgrade: Upgrade): Promise<void>
  /** Ends all of them. */
  close(): void
}

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  /** Tells the server that the connection no longer speaks HTTP. */
  taken(): void
}
